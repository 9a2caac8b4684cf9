/** Running what is measured: a process to its end with what it used, `tailfin run` with a look into /proc. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const USAGE = fileURLToPath(new URL('usage.cjs', import.meta.url));
const START_MS = 60_000;

export const median = (values) => [...values].sort((a, b) => a - b)[(values.length - 1) >> 1];

/** Makes a folder for the length of `use`. */
export async function withFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), 'tailfin-bench-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a script to its end: {stdout, cpuSeconds (user + system, all threads), maxRssMib}. */
export function runMeasured(args) {
  return withFolder(
    (folder) =>
      new Promise((resolve, reject) => {
        const usage = join(folder, 'usage.json');
        const child = spawn(process.execPath, ['--require', USAGE, ...args], {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, BENCH_USAGE: usage },
        });
        let stdout = '';
        child.stdout.setEncoding('utf8').on('data', (text) => {
          stdout += text;
        });
        child.on('error', reject);
        child.on('close', (code) => {
          if (code !== 0) reject(new Error(`${args.join(' ')} ended with ${code}`));
          else resolve({ stdout, ...JSON.parse(readFileSync(usage, 'utf8')) });
        });
      }),
  );
}

/** CPU seconds of a living process, all threads. The kernel counts in ticks of 10 ms. */
export function cpuSecondsOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Resident memory of a living process now, in MiB. */
export function rssMibOf(pid) {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match[1]) / 1024;
}

/**
 * `tailfin run` over an empty folder, with further arguments. Calls `use({pid, url, localUrl, folder, startCpuSeconds})` after the
 * first answer of /metrics; `startCpuSeconds` is what it had used by then. Ends it afterwards.
 */
export function withSidecar(main, use, more = []) {
  return withFolder(async (folder) => {
    const args = [main, 'run', '--events', join(folder, '*.ndjson')];
    args.push('--metrics-listen', '127.0.0.1:0', '--local-listen', '127.0.0.1:0', ...more);
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = new Promise((resolve) => child.on('close', resolve));
    try {
      const { url, localUrl } = await listening(child, more.length > 0);
      // With a checkpoint it answers 503 until it has read what was there at its start.
      let status = 503;
      for (const until = performance.now() + START_MS; status === 503 && performance.now() < until; await sleep(20))
        status = (await fetch(url)).status;
      const startCpuSeconds = cpuSecondsOf(child.pid);
      if (status !== 200) throw new Error(`/metrics answered ${status}`);
      return await use({ pid: child.pid, url, localUrl, folder, startCpuSeconds });
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  });
}

function listening(child, hasLocal) {
  return new Promise((resolve, reject) => {
    let stderr = '';
    const fail = (why) => reject(new Error(`tailfin run ${why}: ${stderr}`));
    const timer = setTimeout(fail, START_MS, 'did not listen');
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
      const url = /"metrics on (http:[^"]+)"/.exec(stderr)?.[1];
      const localUrl = /"for this pod alone: (http:[^"]+)"/.exec(stderr)?.[1];
      if (url === undefined || (hasLocal && localUrl === undefined)) return;
      clearTimeout(timer);
      resolve({ url, localUrl });
    });
    child.on('close', () => {
      clearTimeout(timer);
      fail('ended');
    });
  });
}
