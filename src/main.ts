#!/usr/bin/env node
/** The command line. Parses, dispatches, and is the only place that ends the process. */
import { main } from './app/cli.ts';
import { keepHeapSmall } from './app/memory.ts';

keepHeapSmall();

process.exitCode = await main(process.argv.slice(2));
