/** An ESM host. */
import logic from './logic.cjs';

await logic.run((name) => import(name));
