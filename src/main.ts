#!/usr/bin/env node
/** The command line. Parses, dispatches, and is the only place that ends the process. */
import { main } from './app/cli.ts';
import { keepHeapSmall } from './app/memory.ts';

keepHeapSmall();

/** So long output may be on its way. */
const LINGER_MS = 1000;

process.exitCode = await main(process.argv.slice(2));
// What still waits then, such as an exporter's next try, has nobody left to tell.
setTimeout(() => {
  if (process.stdout.writableLength === 0) process.exit();
}, LINGER_MS).unref();
