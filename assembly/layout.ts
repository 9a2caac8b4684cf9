/**
 * Where things lie in the memory of the scanner (addresses in bytes), all zeros at first, and the numbers that it and src/core/scan
 * speak in. The other side takes them from the exports of index.ts, so that none stands twice.
 */

/** 17 rows of 16 bytes: row n keeps the first n of 16. */
export const MASKS: usize = memory.data(17 * 16, 16);

/** What stands under a key. */
export const KIND_ID = 0;
export const KIND_TEXT = 1;
export const KIND_BOOL = 2;
export const KIND_COUNT = 3;
export const KIND_INT = 4;
/** Nothing that is scanned. */
export const KIND_NEVER = 5;

/** What stands in a slot; a text of the table is `FIRST_TEXT` and its place. */
export const IS_ABSENT = 0;
export const IS_NULL = 1;
export const IS_FALSE = 2;
export const IS_TRUE = 3;
export const IS_NUMBER = 4;
/** A text that differs from line to line. */
export const IS_ID = 5;
/** A text that is longer than the table keeps. */
export const IS_LONG = 6;
/** A text that was put into the table just now: whoever reads the changes must look whether its field takes it. */
export const IS_NEW = 7;
/** A text of the table that came so often that it should become a string of the engine's own. */
export const IS_OWN = 8;
export const FIRST_TEXT = 16;

/** There are fewer slots: those of fields, and of `v`, `type` and `ts`. How many changed is told in 8 bits. */
export const MAX_SLOTS = 128;
/** By slot: what stood there on the line before, and the number where it is one. */
export const CODES: usize = memory.data(MAX_SLOTS * 4, 16);
export const NUMBERS: usize = memory.data(MAX_SLOTS * 8, 16);
/** A bit for each slot in which more than null and '' stands. */
export const PRESENT: usize = memory.data(MAX_SLOTS / 8, 16);
/** One word: the types of line that may have all keys of the line, a bit each. */
export const TYPES: usize = memory.data(4, 16);

/** What differs from the line before, each slot in one of three lists. Texts of the table, a word each: slot << 16 | place. */
export const TEXTS: usize = memory.data(MAX_SLOTS * 4, 16);
/** Whole numbers of 32 bits: slot and value, a word each. */
export const INTS: usize = memory.data(MAX_SLOTS * 8, 16);
/** All else: slot, code, then a number of 64 bits, or start and length of a text and its place. */
export const OTHER_SIZE = 24;
export const OTHERS: usize = memory.data(MAX_SLOTS * OTHER_SIZE, 16);

/** The keys (keys.ts). Far more places than keys: a search ends soon. */
export const MAX_KEYS = 127;
export const MAX_KEY_BYTES: usize = 32;
export const KEY_SIZE = 80;
export const KEYS: usize = memory.data((MAX_KEYS + 1) * KEY_SIZE, 16);
export const KEY_PLACES = 512;
export const KEYS_BY_HASH: usize = memory.data(KEY_PLACES * 4, 16);

/** The table of texts (texts.ts). */
export const TEXT_PLACES = 4096;
export const MAX_TEXT_BYTES: usize = 64;
export const PLACE_SIZE = 80;
export const PLACES: usize = memory.data((TEXT_PLACES + 2) * PLACE_SIZE, 16);
