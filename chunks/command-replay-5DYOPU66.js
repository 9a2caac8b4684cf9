import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);
import {
  FORMATS,
  replayCommand
} from "./chunk-I2UAQHRC.js";
import "./chunk-DADP7SHV.js";
import "./chunk-UAZY5HY4.js";
import "./chunk-L2O7YVJL.js";
export {
  FORMATS,
  replayCommand
};
//# sourceMappingURL=command-replay-5DYOPU66.js.map
