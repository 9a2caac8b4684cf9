/**
 * The fact of an operation that delivered at once and that nothing changed since: what `summarise` would state, read from its row.
 * The operation itself is built only for who asks, which must be while the fact is delivered; then the row goes.
 */
import type { Attempt, ErrorType, Hint, Operation, OperationFact } from '../model/operation.ts';
import type { Version } from '../protocol/revisions.ts';
import { operationOf } from './attempt.ts';
import type { Rows } from './rows.ts';

export class FirstTry implements OperationFact {
  readonly is = 'operation';
  readonly result = 'first_try';
  readonly edges = [];
  readonly nextAction = null;
  readonly server: string;
  readonly version: Version;
  readonly method: string | null;
  readonly hint: Hint;
  readonly ts: number;
  readonly durationMs: number | null;
  readonly errorType: ErrorType;
  readonly trace: string | null;
  readonly #rows: Rows;
  readonly #row: number;
  #operation: Operation | null = null;

  constructor(rows: Rows, row: number) {
    this.server = rows.server(row);
    this.version = rows.version(row);
    this.method = rows.method(row);
    this.hint = rows.isDeclaredSafe(row) ? 'declared' : 'none';
    this.ts = rows.judgedTs(row);
    this.durationMs = rows.isOpenKnown(row) ? Math.max(0, this.ts - rows.openTs(row)) : null;
    this.errorType =
      rows.terminalKind(row) === 'error' || rows.errorCode(row) !== null
        ? 'rpc_error'
        : rows.isError(row)
          ? 'tool_error'
          : '';
    this.trace = rows.trace(row);
    this.#rows = rows;
    this.#row = row;
  }

  get operation(): Operation {
    if (this.#operation === null) {
      const attempt: Attempt = this.#rows.read(this.#row);
      attempt.counted = true;
      this.#operation = operationOf(attempt);
    }
    return this.#operation;
  }
}
