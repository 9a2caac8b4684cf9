/**
 * Child processes of the demo. Every child hangs on an IPC channel, so that it ends when this process ends in whatever way, and
 * is stopped by its own process id.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

const STOP_MS = 5000;
const MAX_TAIL = 2000;
/** For a child that knows nothing of the demo: ends it like a SIGTERM when the channel to its parent closes. */
const LEASH = `data:text/javascript,${encodeURIComponent(
  "process.once('disconnect', () => process.kill(process.pid, 'SIGTERM')); process.channel?.unref();",
)}`;

/** A child ended that should not have; the message is one clear line. */
export class ChildFailure extends Error {}

export class Child {
  readonly name: string;
  /** Resolves when the child ended with exit code 0, and rejects otherwise. */
  readonly ended: Promise<void>;
  readonly #process: ChildProcess;
  #tail = '';

  constructor(name: string, process: ChildProcess) {
    this.name = name;
    this.#process = process;
    const keep = (chunk: Buffer): void => {
      this.#tail = (this.#tail + chunk).slice(-MAX_TAIL);
    };
    process.stdout?.on('data', keep);
    process.stderr?.on('data', keep);
    this.ended = new Promise((resolve, reject) => {
      process.once('exit', (code, signal) => {
        if (code === 0) resolve();
        else reject(new ChildFailure(`${name} ended early (${signal ?? `exit code ${code}`}): ${this.#lastWords()}`));
      });
    });
    // Whoever waits for it gets the rejection; nobody has to.
    this.ended.catch(() => {});
  }

  /** The last line that is no part of a stack trace. */
  #lastWords(): string {
    return this.#tail.split('\n').findLast((line) => /^(?!Node\.js v)\S/.test(line)) ?? 'without a word';
  }

  /** The first thing that `read` finds in what the child says: its messages, and its output so far. */
  says<T>(read: (said: unknown) => T | undefined): Promise<T> {
    const found = new Promise<T>((resolve) => {
      const look = (said: unknown): void => {
        const value = read(said);
        if (value !== undefined) resolve(value);
      };
      this.#process.on('message', look);
      this.#process.stdout?.on('data', () => look(this.#tail));
      this.#process.stderr?.on('data', () => look(this.#tail));
    });
    const tooSoon = this.ended.then(() => {
      throw new ChildFailure(`${this.name} ended early: ${this.#lastWords()}`);
    });
    return Promise.race([found, tooSoon]);
  }

  /** Asks a script of the demo to finish what it has begun. */
  finish(): void {
    if (this.#process.connected) this.#process.send('stop');
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    const timer = setTimeout(() => this.kill(), STOP_MS);
    this.#process.kill('SIGTERM');
    await exited;
    clearTimeout(timer);
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

export class Processes {
  readonly #children: Child[] = [];
  readonly #killAll = (): void => {
    for (const child of this.#children) child.kill();
  };

  constructor() {
    process.on('exit', this.#killAll);
  }

  /** Starts a script of the demo, which follows its parent by itself. */
  start(name: string, script: string, argument?: object, env: NodeJS.ProcessEnv = process.env): Child {
    const args = argument === undefined ? [] : [JSON.stringify(argument)];
    return this.#add(name, fork(script, args, { silent: true, env }));
  }

  /** Starts any other program of this package. */
  startLeashed(name: string, script: string, args: readonly string[], env: NodeJS.ProcessEnv): Child {
    return this.#add(name, fork(script, args, { silent: true, execArgv: ['--import', LEASH], env }));
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.stop()));
    process.off('exit', this.#killAll);
  }

  #add(name: string, process: ChildProcess): Child {
    const child = new Child(name, process);
    this.#children.push(child);
    return child;
  }
}
