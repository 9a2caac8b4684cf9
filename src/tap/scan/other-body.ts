/** HTML, plain text, no media type: only the size of such a body can be told, and whether it fell short of its Content-Length. */
import { noAnswer } from './answer.ts';
import type { Body, BodyScanOptions } from './body-scan.ts';
import type { LineFields } from './line-fields.ts';
import { plainLength } from './response.ts';
import type { ResultFacts } from './results.ts';

export class OtherBody implements Body {
  readonly #options: BodyScanOptions;
  #bytes = 0;

  constructor(options: BodyScanOptions) {
    this.#options = options;
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
  }

  close(): LineFields {
    const bytes = this.#bytes;
    const fields = noAnswer(this.#options.method);
    fields.bytes = bytes;
    fields.cut = bytes === 0 ? 'none' : bytes < (plainLength(this.#options) ?? 0) ? 'mid' : 'boundary';
    return fields;
  }

  parse(): undefined {
    return undefined;
  }

  facts(): ResultFacts {
    return {};
  }

  isOversize(): boolean {
    return false;
  }
}
