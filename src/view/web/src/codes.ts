// SPDX-License-Identifier: MIT
// Codes: what a row shows at each place, one number a place, so that a frame looks one number up and does not read cells.
//
// A row of a picture is decoded once, into a code for each of its pixels. A frame takes for each place of the window the pixel
// under its middle; the table of these is the same for all rows of the picture. A picture that is finer than the window is first
// made coarser by a power of two: then a pixel is at least as wide as a place, and none is left out.
//
//   events   bits 0-20 kind, 21-30 the logarithm of 1 + count in sixteenths; 0: no event
//   spans    bit 0 whether a span begins here and goes on in the next pixel, 1-29 kind + 1, 30 whether a span begins; 0: no span
import type {Kept, Piece, Scale} from './columns';
import type {Picture} from './protocol';

export const LOG_PARTS = 16, LOGS = 1 << 10; // logarithms are in sixteenths, and less than 64
const LOG_SHIFT = 21, KIND_MASK = (1 << LOG_SHIFT) - 1, BEGIN = 1 << 30, EDGE = 1, SPAN_MASK = BEGIN - 2, KINDS_MAX = (1 << 29) - 2;
const EPSILON = 1e-6; // places are computed with doubles
const SMALL = Uint16Array.from({length: 4096}, (_, count) => Math.max(1, Math.round(LOG_PARTS * Math.log2(1 + count))));

function logarithm(count: number): number {
  return count < SMALL.length ? SMALL[count] : Math.min(LOGS - 1, Math.round(LOG_PARTS * Math.log2(1 + count)));
}
/** The logarithm of 1 + a count, of an event code. */
export const logOf = (code: number): number => code >>> LOG_SHIFT;
export const kindOf = (code: number): number => code & KIND_MASK;
/** The code with another kind. */
export const withKind = (code: number, kind: number): number => (code & ~KIND_MASK | kind) >>> 0;
/** Whether a place has one event alone. */
export const isSingle = (code: number): boolean => code !== 0 && code >>> LOG_SHIFT < LOG_PARTS * 1.33;
/** For each logarithm, that of a count `share` times as high. */
function sharedLogs(share: number, densest: number): Uint16Array {
  const most = Math.min(LOGS, logarithm(densest) + 2), logs = new Uint16Array(LOGS);
  for (let log = 1; log < most; log++)
    logs[log] = Math.max(1, Math.round(LOG_PARTS * Math.log2(1 + (2 ** (log / LOG_PARTS) - 1) * share)));
  return logs;
}

/** The codes of a picture whose pixels are taken together 2^level at a time. Rows are decoded when they are first drawn. */
class Decoded {
  readonly codes: Uint32Array;
  private isDone: Uint8Array;

  constructor(private picture: Picture, private level: number, readonly pixels: number) {
    this.codes = new Uint32Array(picture.rows * pixels);
    this.isDone = new Uint8Array(picture.rows);
  }

  /** Where the codes of a row begin. */
  row(row: number): number {
    const base = row * this.pixels;
    if (!this.isDone[row]) {
      this.isDone[row] = 1;
      this.decode(row, base);
    }
    return base;
  }

  private decode(row: number, base: number): void {
    const {level, codes} = this, {start, pixel, count, longest, kind, type} = this.picture, end = start[row + 1], isSpans = type === 'spans';
    let before = -2;
    for (let cell = start[row]; cell < end;) {
      const at = pixel[cell] >>> level;
      let sum = count[cell], kindAt = kind[cell], most = longest[cell];
      for (cell++; cell < end && pixel[cell] >>> level === at; cell++) {
        sum += count[cell];
        if (longest[cell] > most) {
          most = longest[cell];
          kindAt = kind[cell];
        }
      }
      if (!isSpans) {
        codes[base + at] = logarithm(sum) << LOG_SHIFT | (kindAt < KIND_MASK ? kindAt : KIND_MASK);
        continue;
      }
      codes[base + at] = (kindAt < KINDS_MAX ? kindAt + 1 : KINDS_MAX) << 1 | (sum > 0 ? BEGIN : 0);
      if (sum === 0 && before === at - 1 && codes[base + before] & BEGIN)
        codes[base + before] |= EDGE;
      before = at;
    }
  }
}

/** What is decoded of each picture; it goes when the picture goes. */
const decoded = new WeakMap<Kept, Decoded[]>();

function decodedOf(kept: Kept, level: number): Decoded {
  let levels = decoded.get(kept);
  if (!levels)
    decoded.set(kept, levels = []);
  return levels[level] ??= new Decoded(kept.picture as Picture, level, Math.ceil(kept.pixels / 2 ** level));
}

/** Decodes all rows of a picture when it comes, so that the frame that draws it first takes no longer than others. */
export function decode(kept: Kept): void {
  const all = decodedOf(kept, 0);
  for (let row = 0; row < kept.picture.rows; row++)
    all.row(row);
}

/** How a window takes its codes from a picture. */
export class Sampling {
  private readonly from: Decoded;
  private readonly pixelAt: Int32Array; // under the middle of each place
  private readonly logs: Uint16Array | null; // null: the counts are those of a place
  private readonly masks: Uint32Array | null = null; // spans begin once, not at each place of a wide pixel
  private readonly scale: Scale; // of the coarser picture

  constructor(kept: Kept, scale: Scale, width: number) {
    const level = scale.ratio < 1 - EPSILON ? Math.ceil(Math.log2(1 / scale.ratio) - EPSILON) : 0, ratio = scale.ratio * 2 ** level;
    this.scale = {ratio, offset: scale.offset};
    this.from = decodedOf(kept, level);
    this.logs = Math.abs(scale.ratio - 1) < EPSILON || (kept.picture as Picture).type === 'spans' ? null : sharedLogs(1 / ratio, kept.densest * 2 ** level);
    this.pixelAt = new Int32Array(width);
    for (let x = 0; x < width; x++)
      this.pixelAt[x] = Math.floor((x + 0.5 - scale.offset) / ratio);
    if ((kept.picture as Picture).type !== 'spans' || ratio < 1 + EPSILON)
      return;
    this.masks = new Uint32Array(width);
    for (let x = 0; x < width; x++)
      this.masks[x] = x > 0 && this.pixelAt[x] === this.pixelAt[x - 1] ? SPAN_MASK : SPAN_MASK | BEGIN | EDGE;
  }

  /** Takes the codes of the places [from, to). */
  take(row: number, from: number, to: number, codes: Uint32Array): void {
    const {pixelAt, logs, masks} = this, all = this.from.codes, base = this.from.row(row);
    if (masks !== null)
      for (let x = from; x < to; x++)
        codes[x] = all[base + pixelAt[x]] & masks[x];
    else if (logs === null)
      for (let x = from; x < to; x++)
        codes[x] = all[base + pixelAt[x]];
    else
      for (let x = from; x < to; x++) {
        const code = all[base + pixelAt[x]];
        codes[x] = code === 0 ? 0 : logs[code >>> LOG_SHIFT] << LOG_SHIFT | code & KIND_MASK;
      }
    this.side(base, from, from, codes);
    this.side(base, to, to - 1, codes);
  }

  /** Takes the colours of the places [from, to) of spans. */
  paint(row: number, from: number, to: number, {table, size}: SpanColours, colours: Uint32Array): void {
    const {pixelAt, masks} = this, all = this.from.codes, base = this.from.row(row), most = ~BEGIN;
    if (masks !== null)
      for (let x = from; x < to; x++) {
        const index = all[base + pixelAt[x]] & masks[x] & most;
        colours[x] = table[index < size ? index : 0];
      }
    else
      for (let x = from; x < to; x++) {
        const index = all[base + pixelAt[x]] & most;
        colours[x] = table[index < size ? index : 0];
      }
    for (const [edge, place] of [[from, from], [to, to - 1]]) {
      const index = this.under(base, edge, place) & SPAN_MASK;
      if (all[base + pixelAt[place]] === 0 && index !== 0)
        colours[place] = table[index < size ? index : 0];
    }
  }

  private side(base: number, edge: number, place: number, codes: Uint32Array): void {
    if (codes[place] === 0)
      codes[place] = this.under(base, edge, place);
  }
  /** The code of a pixel that is seen by less than half a place, at a side: it is drawn there if nothing else is. */
  private under(base: number, edge: number, place: number): number {
    const {ratio, offset} = this.scale, pixel = edge === place ? Math.floor((edge - offset) / ratio + EPSILON) : Math.ceil((edge - offset) / ratio - EPSILON) - 1;
    return pixel >= 0 && pixel < this.from.pixels ? this.from.codes[base + pixel] : 0;
  }
}

/** Colours of spans: a solid one for each kind, and one for the edge where a span begins. */
export class SpanColours {
  readonly table: Uint32Array;
  readonly size: number;

  constructor(none: number, solids: ArrayLike<number>, edges: ArrayLike<number>) {
    this.size = 2 * solids.length + 2;
    this.table = new Uint32Array(this.size).fill(none, 0, 2);
    for (let i = 0; i < solids.length; i++) {
      this.table[2 * i + 2] = solids[i];
      this.table[2 * i + 3] = edges[i];
    }
  }
}

/** Takes the colours of a row of spans from the pieces by which it is drawn. False: it is empty. */
export function takeColours(pieces: readonly Piece[], from: SpanColours, colours: Uint32Array): boolean {
  let isAny = false;
  for (const {view: {kept, sampling}, row, from: begin, to} of pieces) {
    const {start} = kept.picture as Picture;
    if (start[row] === start[row + 1])
      continue;
    if (!isAny && to - begin < colours.length)
      colours.fill(from.table[0]);
    isAny = true;
    sampling.paint(row, begin, to, from, colours);
  }
  return isAny;
}

/** Takes the codes of a row from the pieces by which it is drawn. False: it is empty. */
export function take(pieces: readonly Piece[], codes: Uint32Array): boolean {
  let isAny = false;
  for (const {view: {kept, sampling}, row, from, to} of pieces) {
    const {start} = kept.picture as Picture;
    if (start[row] === start[row + 1])
      continue;
    if (!isAny && to - from < codes.length)
      codes.fill(0);
    isAny = true;
    sampling.take(row, from, to, codes);
  }
  return isAny;
}

/** Neighbouring places that show the same span. */
export interface Run {
  from: number;
  to: number;
  kind: number;
}

/** Runs of at least `least` places: a span begins where one is counted, or where another kind is. */
export function runs(codes: Uint32Array, least: number): Run[] {
  const found: Run[] = [], width = codes.length;
  for (let x = 0; x < width;) {
    const from = x++, shown = codes[from] & SPAN_MASK;
    if (shown === 0)
      continue;
    while (x < width && codes[x] === shown)
      x++;
    if (x - from >= least)
      found.push({from, to: x, kind: (shown >> 1) - 1});
  }
  return found;
}
