/** A CommonJS host. */
const { run } = require('./logic.cjs');

run(async (name) => require(name));
