// SPDX-License-Identifier: MIT
// What the server answers: the replies as they are sent, what the page makes of them, and the parsers in between.
// 64-bit values travel as decimal texts. Times become BigInt; counts and event numbers become numbers, which are
// exact up to 2^53.

import type {Range} from './steps';

export type Json = null | boolean | number | string | Json[] | {[key: string]: Json};

/** How a reply is refused: the message is for the reader. `column` is a place in a filter, from 1. */
export class ReplyError extends Error {
  constructor(message: string, readonly status: number, readonly column: number | null = null) {
    super(message);
    this.name = 'ReplyError';
  }
}

type Fields = {[key: string]: Json};

export function fields(value: Json | undefined): Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}
export function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}
export function textOrNull(value: Json | undefined): string | null {
  return value === null || value === undefined ? null : text(value);
}
/** A whole number or fraction; NaN if there is none. */
export function number(value: Json | undefined): number {
  return typeof value === 'number' ? value : typeof value === 'string' && value !== '' ? Number(value) : NaN;
}
export function numberOrNull(value: Json | undefined): number | null {
  const result = number(value);
  return Number.isNaN(result) ? null : result;
}
export function count(value: Json | undefined): number {
  const result = number(value);
  return Number.isFinite(result) ? result : 0;
}
/** A time or duration in nanoseconds; zero if the text is none. */
export function time(value: Json | undefined): bigint {
  if (typeof value === 'number')
    return BigInt(Math.trunc(value));
  return typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : 0n;
}
export function timeOrNull(value: Json | undefined): bigint | null {
  return value === null || value === undefined ? null : time(value);
}

export interface ServerState {
  version: string;
  generation: number;
  title: string;
  files: string[];
  command: string;
  events: number;
  begin: bigint;
  end: bigint;
  hasTimes: boolean;
  isEpoch: boolean;
  isComplete: boolean;
  isLive: boolean;
  overwrittenBefore: bigint | null; // the rings of a program have overwritten events before this time
  isFromCache: boolean;
  isKept: boolean; // the index, for the next start
  progress: number | null;
  tracks: number;
  kinds: number;
  spanKinds: number;
  spans: number;
  undrawnSpans: number;
  losses: number;
  lostEvents: number;
  lostPackets: number;
  unknownLosses: number;
  problems: number;
  indexBytes: number;
  error: string | null;
  trackBy: string; // 'thread', 'cpu', …, 'field NAME'
  opened: number; // how often other traces were opened, or the same ones again
  rebuilt: number; // how often the index was thrown away, since the trace had changed
  shows: string; // another text when numbers of tracks, kinds and events are of something else
  canChange: boolean; // other traces can be opened
  gistClock: string; // as --gist-clock, or ''
  cpelClock: string; // as --cpel-clock, or ''
  compare: {title: string} | null;
  /** Where the page begins unless its address says otherwise: the options of the command. */
  start: {filter: string; begin: bigint | null; end: bigint | null; slew: {track: string; ns: bigint}[]};
}

export function parseState(value: Json): ServerState {
  const from = fields(value), trackBy = [text(from.trackBy) || 'thread', text(from.field)].join(' ').trim();
  return {
    version: text(from.version), generation: count(from.generation), title: text(from.title), files: list(from.files).map(text),
    command: text(from.command), events: count(from.events), begin: time(from.begin), end: time(from.end),
    hasTimes: from.hasTimes !== false, isEpoch: from.isEpoch === true, isComplete: from.isComplete === true,
    isLive: from.isLive === true, overwrittenBefore: timeOrNull(from.overwrittenBefore), isFromCache: from.isFromCache === true, isKept: from.isKept === true, progress: numberOrNull(from.progress),
    tracks: count(from.tracks), kinds: count(from.kinds), spanKinds: count(from.spanKinds), spans: count(from.spans),
    undrawnSpans: count(from.undrawnSpans), losses: count(from.losses), lostEvents: count(from.lostEvents),
    lostPackets: count(from.lostPackets), unknownLosses: count(from.unknownLosses), problems: count(from.problems),
    indexBytes: count(from.indexBytes), error: textOrNull(from.error), trackBy,
    opened: count(from.opened), rebuilt: count(from.rebuilt), shows: `${count(from.opened)} ${count(from.rebuilt)} ${trackBy}`, canChange: from.canChange === true, gistClock: text(from.gistClock), cpelClock: text(from.cpelClock),
    compare: from.compare ? {title: text(fields(from.compare).title)} : null,
    start: {filter: text(fields(from.start).filter), begin: timeOrNull(fields(from.start).begin), end: timeOrNull(fields(from.start).end), slew: list(fields(from.start).slew).map(item => ({track: text(fields(item).track), ns: time(fields(item).ns)}))},
  };
}

export interface Track {
  track: number;
  name: string;
  part: string;
  partIndex: number;
  process: string | null;
  events: number;
  spans: number;
  lanes: number;
  deeperSpans: number; // that have no lane
  begin: bigint;
  end: bigint;
}

export function parseTrack(value: Json): Track {
  const from = fields(value);
  return {
    track: count(from.track), name: text(from.name), part: text(from.part), partIndex: count(from.partIndex),
    process: textOrNull(from.process), events: count(from.events), spans: count(from.spans), lanes: count(from.lanes), deeperSpans: count(from.deeperSpans),
    begin: time(from.begin), end: time(from.end),
  };
}

export interface Kind {
  kind: number;
  name: string;
  events: number;
  edge: 'plain' | 'begins' | 'ends';
}
export interface Kinds {
  kinds: Kind[];
  spanKinds: string[];
}

export function parseKinds(value: Json): Kinds {
  const from = fields(value);
  return {
    kinds: list(from.kinds).map(item => {
      const kind = fields(item), edge = text(kind.edge);
      return {kind: count(kind.kind), name: text(kind.name), events: count(kind.events), edge: edge === 'begins' || edge === 'ends' ? edge : 'plain'};
    }),
    spanKinds: list(from.spanKinds).map(text),
  };
}

export interface FieldInfo {
  name: string;
  isNumeric: boolean;
}
export function parseFields(value: Json): FieldInfo[] {
  return list(fields(value).fields).map(item => ({name: text(fields(item).name), isNumeric: fields(item).isNumeric === true}));
}

/** A clock of the traces. */
export interface ClockInfo {
  name: string;
  frequency: number; // Hz
}
/** What opening the traces says of them. */
export interface Schema {
  clocks: ClockInfo[];
  templates: Map<string, string>; // by name of kind: how its messages are made
  warnings: {path: string; offset: number | null; message: string}[];
}
export const NO_SCHEMA: Schema = {clocks: [], templates: new Map(), warnings: []};
export function parseSchema(value: Json): Schema {
  const from = fields(value);
  return {
    clocks: list(from.clocks).map(item => ({name: text(fields(item).name), frequency: count(fields(item).frequency)})),
    templates: new Map(list(from.templates).reverse().map(item => [text(fields(item).name), text(fields(item).text)])), // of several the first
    warnings: list(from.warnings).map(item => ({path: text(fields(item).path), offset: numberOrNull(fields(item).offset), message: text(fields(item).message)})),
  };
}

/** A trace that can be opened instead. */
export interface Offer {
  offer: number;
  name: string;
  isFolder: boolean;
  bytes: number;
  changed: bigint; // nanoseconds since 1970
}
export function parseOffers(value: Json): {list: number; offers: Offer[]} {
  const from = fields(value);
  return {
    list: count(from.list),
    offers: list(from.offers).map(item => {
      const offer = fields(item);
      return {offer: count(offer.offer), name: text(offer.name), isFolder: offer.isFolder === true, bytes: count(offer.bytes), changed: time(offer.changed)};
    }),
  };
}

export interface Loss {
  begin: bigint;
  end: bigint;
  count: number | null;
  track: number | null;
  part: number;
  isPackets: boolean;
}
export function parseLosses(value: Json): Loss[] {
  return list(fields(value).losses).map(item => {
    const from = fields(item);
    return {begin: time(from.begin), end: time(from.end), count: numberOrNull(from.count), track: numberOrNull(from.track), part: count(from.part), isPackets: from.isPackets === true};
  });
}

export interface Problem {
  path: string;
  offset: number | null;
  bytesLost: number;
  message: string;
}
export function parseProblems(value: Json): Problem[] {
  return list(fields(value).problems).map(item => {
    const from = fields(item);
    return {path: text(from.path), offset: numberOrNull(from.offset), bytesLost: count(from.bytesLost), message: text(from.message)};
  });
}

/** One event of a track. */
export interface Mark {
  time: bigint;
  number: number;
  track: number;
  kind: number;
}
export function parseMark(value: Json): Mark | null {
  if (value === null || value === undefined)
    return null;
  const from = fields(value);
  return {time: time(from.time), number: count(from.number), track: count(from.track), kind: count(from.kind)};
}

export interface Span {
  begin: bigint;
  duration: bigint;
  kind: number;
  name: string;
}
export function parseSpan(value: Json): Span | null {
  if (value === null || value === undefined)
    return null;
  const from = fields(value);
  return {begin: time(from.begin), duration: time(from.duration), kind: count(from.kind), name: text(from.name)};
}

export interface EventDetail extends Mark {
  name: string;
  text: string;
  fields: {path: string; text: string}[];
  isGone: boolean; // its ring has overwritten text and fields
}
/** What is said in place of the fields. */
export const GONE = 'Its fields were overwritten in the ring.';
export function parseEvent(value: Json): EventDetail {
  const from = fields(value);
  return {
    time: time(from.time), number: count(from.number), track: count(from.track), kind: count(from.kind), name: text(from.name), text: text(from.text),
    fields: list(from.fields).map(item => ({path: text(fields(item).path), text: text(fields(item).text)})), isGone: from.isGone === true,
  };
}

export interface Row extends Mark {
  text: string | null; // null: its ring has overwritten it
}
export interface Rows {
  first: number;
  total: number;
  rows: Row[];
}
export function parseRows(value: Json): Rows {
  const from = fields(value);
  return {
    first: count(from.first), total: count(from.total),
    rows: list(from.rows).map(item => {
      const row = fields(item);
      return {time: time(row.time), number: count(row.number), track: count(row.track), kind: count(row.kind), text: row.text === null ? null : text(row.text)};
    }),
  };
}

/** What a task says each time it is asked. */
export interface Task {
  state: 'running' | 'done' | 'failed';
  indexed: number | null; // how many events there were for the result; null: all
  done: number | null;
  error: {message: string; column: number | null} | null;
  from: bigint | null; // of rings that are overwritten: the result has all events from this time on, but not all before
  renewal: string | null; // of a trace that grows: why the result is not made anew, so that it is of `indexed` events
}
export function parseTask(value: Json): Task {
  const from = fields(value), state = text(from.state), error = from.error ? fields(from.error) : null;
  return {
    state: state === 'running' || state === 'failed' ? state : 'done', indexed: numberOrNull(from.indexed), done: numberOrNull(from.done),
    error: error ? {message: text(error.message), column: numberOrNull(error.column)} : null, from: timeOrNull(from.from), renewal: textOrNull(from.renewal),
  };
}
/** What is said of a result that is not of all events; null: nothing. */
export function lateness({indexed, renewal}: Pick<Task, 'indexed' | 'renewal'>): string | null {
  return renewal === null ? null : `This result is of the first ${indexed ?? 0} events, and cannot be made anew: ${renewal}`;
}

/** What is said of a result that lacks events before a time. */
export function incompleteness(time: string, what = 'this result'): string {
  return `Events before ${time} were overwritten in the rings: ${what} does not have them all.`;
}

export interface FilterReply extends Task {
  id: string;
  count: number;
  added: number; // by activities: they are no rows, and not in pictures
}
export function parseFilter(value: Json): FilterReply {
  const from = fields(value);
  return {...parseTask(value), id: text(from.id), count: count(from.count), added: count(from.added)};
}

export interface Bucket {
  low: number;
  high: number;
  count: number;
}
/** Percentiles and histogram of durations (nanoseconds) or of a field's values; NaN: there is none. */
export interface Distribution {
  count: number;
  least: number;
  most: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  buckets: Bucket[];
}
export function parseDistribution(value: Json): Distribution {
  const from = fields(value);
  return {
    count: count(from.count), least: number(from.least), most: number(from.most), mean: number(from.mean),
    p50: number(from.p50), p90: number(from.p90), p99: number(from.p99), p999: number(from.p999),
    buckets: list(from.buckets).map(item => ({low: number(fields(item).low), high: number(fields(item).high), count: count(fields(item).count)})),
  };
}

export interface WorstPair {
  begin: bigint;
  end: bigint;
  duration: bigint;
  numberBegin: number;
  numberEnd: number;
  track: number;
}
export interface LatencyReply extends Task, Distribution {
  id: string;
  withoutBegin: number;
  withoutEnd: number;
  withoutKey: number;
  overGaps: number;
  worst: WorstPair[];
  limited: number; // how many pairs are within the limits …
  pairs: WorstPair[]; // … and the first of them, as they end
}
function parsePairs(value: Json): WorstPair[] {
  return list(value).map(item => {
    const pair = fields(item);
    return {
      begin: time(pair.begin), end: time(pair.end), duration: time(pair.duration), numberBegin: count(pair.numberBegin),
      numberEnd: count(pair.numberEnd), track: count(pair.track),
    };
  });
}
export function parseLatency(value: Json): LatencyReply {
  const from = fields(value);
  return {
    ...parseTask(value), ...parseDistribution(value), id: text(from.id), withoutBegin: count(from.withoutBegin),
    withoutEnd: count(from.withoutEnd), withoutKey: count(from.withoutKey), overGaps: count(from.overGaps),
    worst: parsePairs(from.worst), limited: count(from.limited), pairs: parsePairs(from.pairs),
  };
}

export interface HistogramReply extends Task, Distribution {
  id: string;
  values: {text: string; count: number}[]; // of texts, most first
  all: number; // how many texts there are: some may be left out
  isFloat: boolean; // floating-point numbers: without percentiles …
  notNumbers: number; // … and these are in no bar
  infinite: number;
}
export function parseHistogram(value: Json): HistogramReply {
  const from = fields(value);
  return {
    ...parseTask(value), ...parseDistribution(value), id: text(from.id),
    values: list(from.values).map(item => ({text: text(fields(item).text), count: count(fields(item).count)})), all: count(from.all),
    isFloat: from.isFloat === true, notNumbers: count(from.notNumbers), infinite: count(from.infinite),
  };
}

export interface SpanStatistic {
  name: string;
  count: number;
  total: number;
  self: number;
  least: number;
  most: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
}
export interface StatisticsReply extends Task {
  spans: SpanStatistic[];
  isOfAll: boolean; // whatever the filter selects: of pages without a server
}
export function parseStatistics(value: Json): StatisticsReply {
  return {...parseTask(value), spans: parseSpans(value), isOfAll: fields(value).isOfAll === true};
}
function parseSpans(value: Json): SpanStatistic[] {
  return list(fields(value).spans).map(item => {
    const from = fields(item);
    return {
      name: text(from.name), count: count(from.count), total: number(from.total), self: number(from.self), least: number(from.least),
      most: number(from.most), mean: number(from.mean), p50: number(from.p50), p90: number(from.p90), p99: number(from.p99), p999: number(from.p999),
    };
  });
}

export interface SelectionReply extends StatisticsReply {
  events: number;
  tracks: {track: number; events: number}[];
  kinds: {kind: number; events: number}[];
}
export function parseSelection(value: Json): SelectionReply {
  const from = fields(value);
  return {
    ...parseStatistics(value), events: count(from.events),
    tracks: list(from.tracks).map(item => ({track: count(fields(item).track), events: count(fields(item).events)})),
    kinds: list(from.kinds).map(item => ({kind: count(fields(item).kind), events: count(fields(item).events)})),
  };
}

export interface AnomalyTrack {
  track: number;
  count: number;
  least: number;
  most: number;
  mean: number;
  deviation: number;
  threshold: number;
  anomalies: number;
}
export interface AnomalyReply extends Task {
  tracks: AnomalyTrack[];
}
export function parseAnomaly(value: Json): AnomalyReply {
  return {
    ...parseTask(value),
    tracks: list(fields(value).tracks).map(item => {
      const from = fields(item);
      return {
        track: count(from.track), count: count(from.count), least: number(from.least), most: number(from.most), mean: number(from.mean),
        deviation: number(from.deviation), threshold: number(from.threshold), anomalies: count(from.anomalies),
      };
    }),
  };
}

export interface Difference {
  name: string;
  isSpan: boolean;
  counts: [number, number];
  rates: [number, number];
  p50: [number, number];
  p99: [number, number];
}
export interface CompareReply {
  state: 'running' | 'done';
  differences: Difference[];
}
export function parseCompare(value: Json): CompareReply {
  const pair = (item: Json | undefined): [number, number] => [number(list(item)[0]), number(list(item)[1])];
  const differences = list(fields(value).differences).map(item => {
    const from = fields(item);
    return {name: text(from.name), isSpan: from.isSpan === true, counts: pair(from.counts), rates: pair(from.rates), p50: pair(from.p50), p99: pair(from.p99)};
  });
  return {state: fields(value).state === 'running' ? 'running' : 'done', differences};
}

// ---- pictures ----

const MAGIC = 0x31564b59;
const HEADER_BYTES = 24, VALUES = 2, TEXTS = 3;

/** Cells of rows, as arrays that lie on the reply: the cells of row r are start[r] … start[r + 1] - 1. */
export interface Picture {
  type: 'tile' | 'spans';
  generation: number;
  rows: number;
  pixels: number;
  start: Uint32Array;
  count: Float64Array;
  longest: Float64Array;
  pixel: Uint32Array;
  kind: Uint32Array;
  kindsLow: Uint32Array;
  kindsHigh: Uint32Array;
}
export interface ValuePicture {
  type: 'values';
  generation: number;
  rows: number;
  pixels: number;
  start: Uint32Array;
  count: Float64Array;
  least: Float64Array;
  most: Float64Array;
  last: Float64Array;
  pixel: Uint32Array;
  range: Range | null; // of all tracks and times; null: there is no value
  texts: ValueText[] | null; // whose numbers the values are: their places here, or the number after the last for all further ones; null: they are numbers
}
/** A text of a field; `text` is its begin. */
export interface ValueText {
  text: string;
  isCut: boolean;
  events: number;
}

/** Parses a binary reply. Throws a ReplyError if it is not one: sizes and places are checked before they are used. */
export function parsePicture(bytes: ArrayBuffer): Picture | ValuePicture {
  if (bytes.byteLength < HEADER_BYTES)
    throw new ReplyError(`The picture has ${bytes.byteLength} bytes; its header has ${HEADER_BYTES}.`, 0);
  const [magic, generation, rows, cells, pixels, type] = new Uint32Array(bytes, 0, 6);
  if (magic !== MAGIC)
    throw new ReplyError(`The picture begins with ${magic.toString(16)}, not with ${MAGIC.toString(16)}.`, 0);
  if (type > TEXTS)
    throw new ReplyError(`The picture has type ${type}; 0 to ${TEXTS} are known.`, 0);
  const tail = type === TEXTS ? jsonAfter(bytes) : null, length = bytes.byteLength - (tail?.size ?? 0);
  const startWords = rows + 1 + ((rows + 1) & 1);
  let place = HEADER_BYTES + 4 * startWords;
  const isValues = type >= VALUES, bytesPerCell = isValues ? 4 * 8 + 4 : 2 * 8 + 4 * 4, size = place + cells * bytesPerCell + (isValues ? (cells & 1) * 4 + 16 : 0);
  if (length < size || length > size + 4)
    throw new ReplyError(`The picture has ${length} bytes; ${rows} rows of ${cells} cells have ${size}.`, 0);
  const start = new Uint32Array(bytes, HEADER_BYTES, rows + 1);
  for (let row = 0; row < rows; row++)
    if (start[row] > start[row + 1])
      throw new ReplyError(`Row ${row} of the picture ends before it begins.`, 0);
  if (start[0] !== 0 || start[rows] !== cells)
    throw new ReplyError('The rows of the picture do not have its cells.', 0);
  const doubles = () => { const array = new Float64Array(bytes, place, cells); place += 8 * cells; return array; };
  const words = () => { const array = new Uint32Array(bytes, place, cells); place += 4 * cells; return array; };
  const picture: Picture | ValuePicture = isValues
    ? {type: 'values', generation, rows, pixels, start, count: doubles(), least: doubles(), most: doubles(), last: doubles(), pixel: words(), range: rangeAt(bytes, size - 16), texts: tail && textsOf(tail.json)}
    : {
      type: type === 0 ? 'tile' : 'spans', generation, rows, pixels, start, count: doubles(), longest: doubles(), pixel: words(), kind: words(),
      kindsLow: words(), kindsHigh: words(),
    };
  for (let i = 0; i < cells; i++)
    if (picture.pixel[i] >= pixels)
      throw new ReplyError(`Cell ${i} of the picture is at pixel ${picture.pixel[i]} of ${pixels}.`, 0);
  return picture;
}

/** The JSON after a picture: its bytes, up to 3 zeros, and its size. */
function jsonAfter(bytes: ArrayBuffer): {json: Json; size: number} {
  const end = bytes.byteLength - 4, length = new DataView(bytes).getUint32(end, true), size = (length + 3 & ~3) + 4;
  if (length > end - HEADER_BYTES || size > bytes.byteLength - HEADER_BYTES)
    throw new ReplyError(`The picture has ${bytes.byteLength} bytes, and ${length} of JSON.`, 0);
  try {
    return {json: JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, bytes.byteLength - size, length))) as Json, size};
  } catch {
    throw new ReplyError('What is after the picture is no JSON.', 0);
  }
}
function textsOf(json: Json): ValueText[] {
  return list(fields(json).texts).map(item => {
    const from = fields(item), shown = text(from.text);
    return {text: shown, isCut: count(from.length) > new TextEncoder().encode(shown).length, events: count(from.events)};
  });
}

function rangeAt(bytes: ArrayBuffer, place: number): Range | null {
  const [least, most] = new Float64Array(bytes, place, 2);
  return least <= most ? {least, most} : null;
}

/** Writes a picture: the reverse of parsePicture, for pages without a server and for tests. `range` and `texts` are of values. */
export function writePicture(type: 0 | 1 | 2, generation: number, pixels: number, rows: {pixel: number; doubles: number[]; words: number[]}[][], range: Range | null = null, texts: ValueText[] | null = null): ArrayBuffer {
  const cells = rows.reduce((sum, row) => sum + row.length, 0), startWords = rows.length + 1 + ((rows.length + 1) & 1);
  const doubleCount = type === 2 ? 4 : 2, wordCount = type === 2 ? 1 : 4;
  const size = HEADER_BYTES + 4 * startWords + cells * (8 * doubleCount + 4 * wordCount) + (type === 2 ? 16 : 0), bytes = new ArrayBuffer((size + 7) & ~7);
  if (type === 2)
    new Float64Array(bytes, bytes.byteLength - 16, 2).set([range?.least ?? NaN, range?.most ?? NaN]);
  new Uint32Array(bytes, 0, 6).set([MAGIC, generation, rows.length, cells, pixels, type]);
  const start = new Uint32Array(bytes, HEADER_BYTES, startWords);
  const place = HEADER_BYTES + 4 * startWords, wordPlace = place + 8 * doubleCount * cells;
  const doubles = new Float64Array(bytes, place, doubleCount * cells), words = new Uint32Array(bytes, wordPlace, wordCount * cells);
  let cell = 0;
  rows.forEach((row, index) => {
    for (const {pixel, doubles: values, words: rest} of row) {
      values.forEach((value, i) => { doubles[i * cells + cell] = value; });
      [pixel, ...rest].forEach((value, i) => { words[i * cells + cell] = value; });
      cell++;
    }
    start[index + 1] = cell;
  });
  return texts ? withTexts(bytes, texts) : bytes;
}
function withTexts(picture: ArrayBuffer, texts: ValueText[]): ArrayBuffer {
  const length = (text: ValueText) => new TextEncoder().encode(text.text).length + (text.isCut ? 1 : 0);
  const json = new TextEncoder().encode(JSON.stringify({texts: texts.map(text => ({text: text.text, length: String(length(text)), events: String(text.events)}))}));
  const size = picture.byteLength + (json.length + 3 & ~3) + 4, bytes = new Uint8Array(size);
  bytes.set(new Uint8Array(picture));
  bytes.set(json, picture.byteLength);
  new DataView(bytes.buffer).setUint32(size - 4, json.length, true);
  new Uint32Array(bytes.buffer, 0, 6)[5] = TEXTS;
  return bytes.buffer;
}
