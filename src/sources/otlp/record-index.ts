/**
 * Where the records (spans or log records) of one request stand in its bytes, and of which resource each is. A request is looked
 * through whole before its first record is delivered; what it may hold is bounded here. What is inside a record it must not ask.
 */

/** Records, and resources, of one request. An SDK sends 512 at a time, a Collector 8,192. */
export const MAX_RECORDS = 65_536;
/** Of all that a walk steps over: many empty parts cost as much as a few full ones. */
const MAX_STEPS = 4 * MAX_RECORDS;

/** The request cannot be taken as a whole. */
export class RequestFault extends Error {
  constructor(
    readonly why: 'broken' | 'too_many',
    /** Byte at which it was seen. */
    readonly at: number,
  ) {
    super(why);
  }
}

export class RecordIndex {
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  /** Number of the resource of each record. */
  readonly resources: number[] = [];
  /** Bytes of each resource; empty where a group of records names none. */
  readonly resourceStarts: number[] = [];
  readonly resourceEnds: number[] = [];
  #steps = 0;

  /** Counts one part of the request. @throws RequestFault */
  step(at: number): void {
    if (++this.#steps > MAX_STEPS) throw new RequestFault('too_many', at);
  }

  /** The records that follow belong to a resource of their own. */
  openResource(at: number): void {
    if (this.resourceStarts.length === MAX_RECORDS) throw new RequestFault('too_many', at);
    this.resourceStarts.push(0);
    this.resourceEnds.push(0);
  }

  /** It may come after its records. */
  setResource(start: number, end: number): void {
    this.resourceStarts[this.resourceStarts.length - 1] = start;
    this.resourceEnds[this.resourceEnds.length - 1] = end;
  }

  addRecord(start: number, end: number): void {
    if (this.starts.length === MAX_RECORDS) throw new RequestFault('too_many', start);
    this.starts.push(start);
    this.ends.push(end);
    this.resources.push(this.resourceStarts.length - 1);
  }
}
