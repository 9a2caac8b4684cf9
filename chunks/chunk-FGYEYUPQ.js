import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/app/version.ts
var VERSION = true ? "0.1.0" : "0.0.0-source";

export {
  VERSION
};
//# sourceMappingURL=chunk-FGYEYUPQ.js.map
