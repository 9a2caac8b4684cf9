/** Something that is waited for, in order: what came before the wait is not lost. */
export interface Queue<T> {
  push(value: T): void;
  next(): Promise<T>;
}

export function createQueue<T>(): Queue<T> {
  const values: T[] = [];
  const waiting: ((value: T) => void)[] = [];
  return {
    push(value) {
      const first = waiting.shift();
      if (first === undefined) values.push(value);
      else first(value);
    },
    next: () =>
      values.length > 0 ? Promise.resolve(values.shift() as T) : new Promise((resolve) => waiting.push(resolve)),
  };
}
