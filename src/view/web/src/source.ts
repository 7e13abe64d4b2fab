// SPDX-License-Identifier: MIT
// Everything that the page asks for, typed. A Transport answers: http.ts asks the server, embedded.ts computes the
// same replies from the events in the page.
import * as p from './protocol';

/** Undefined values are left out of the request. */
export type Query = {[name: string]: string | number | bigint | undefined};

export interface Transport {
  readonly name: 'http' | 'embedded';
  /** A JSON value or the bytes of a picture. Rejects with a ReplyError, or with an AbortError once `signal` is aborted. */
  get(path: string, query: Query, signal?: AbortSignal): Promise<p.Json | ArrayBuffer>;
}

const TRACKS_PER_PAGE = 1000, TASK_PAUSE_MS = 100;

export interface PictureQuery {
  begin: bigint;
  end: bigint;
  pixels: number;
}

/** Which events are rows, and in which order. */
export interface RowsQuery {
  filter?: string;
  slew?: string;
}

/** Slews for a request: "3:-500,7:20", by track. */
export function slewText(slew: ReadonlyMap<number, bigint>): string | undefined {
  return [...slew].filter(([, ns]) => ns !== 0n).sort(([a], [b]) => a - b).map(([track, ns]) => `${track}:${ns}`).join(',') || undefined;
}

export class Source {
  constructor(readonly transport: Transport) {}

  private async json(path: string, query: Query = {}, signal?: AbortSignal): Promise<p.Json> {
    const reply = await this.transport.get(path, query, signal);
    if (reply instanceof ArrayBuffer)
      throw new p.ReplyError(`${path} answers with bytes, not with JSON.`, 0);
    return reply;
  }
  private async picture(path: string, query: Query, signal?: AbortSignal): Promise<p.Picture> {
    const reply = await this.transport.get(path, query, signal);
    const picture = reply instanceof ArrayBuffer ? p.parsePicture(reply) : null;
    if (!picture || picture.type === 'values')
      throw new p.ReplyError(`${path} does not answer with a picture.`, 0);
    return picture;
  }

  async state(signal?: AbortSignal): Promise<p.ServerState> {
    return p.parseState(await this.json('/api/state', {}, signal));
  }
  /** All tracks, read by pages. */
  async tracks(signal?: AbortSignal): Promise<p.Track[]> {
    const tracks: p.Track[] = [];
    for (;;) {
      const reply = p.fields(await this.json('/api/tracks', {first: tracks.length, count: TRACKS_PER_PAGE}, signal));
      const page = p.list(reply.tracks).map(p.parseTrack);
      tracks.push(...page);
      if (page.length === 0 || tracks.length >= p.count(reply.total))
        return tracks;
    }
  }
  async kinds(signal?: AbortSignal): Promise<p.Kinds> {
    return p.parseKinds(await this.json('/api/kinds', {}, signal));
  }
  async fields(signal?: AbortSignal): Promise<p.FieldInfo[]> {
    return p.parseFields(await this.json('/api/fields', {}, signal));
  }
  async schema(signal?: AbortSignal): Promise<p.Schema> {
    return p.parseSchema(await this.json('/api/schema', {}, signal));
  }
  /** The traces that can be opened instead; a newer list makes the numbers of this one invalid. */
  async offers(signal?: AbortSignal): Promise<{list: number; offers: p.Offer[]}> {
    return p.parseOffers(await this.json('/api/offers', {}, signal));
  }
  async open(list: number, offer: number, signal?: AbortSignal): Promise<void> {
    await this.json('/api/open', {list, offer}, signal);
  }
  /** Reads the same files again; clocks that are given change, "0" and "none" take them back. */
  async reload(clocks: {gistclock?: string; cpelclock?: string} = {}, signal?: AbortSignal): Promise<void> {
    await this.json('/api/reload', clocks, signal);
  }
  async losses(signal?: AbortSignal): Promise<p.Loss[]> {
    return p.parseLosses(await this.json('/api/losses', {}, signal));
  }
  async problems(signal?: AbortSignal): Promise<p.Problem[]> {
    return p.parseProblems(await this.json('/api/problems', {}, signal));
  }

  /** Rows of the picture are the tracks, in this order. */
  tile(query: PictureQuery & {tracks: number[]; filter?: string; latency?: string}, signal?: AbortSignal): Promise<p.Picture> {
    return this.picture('/api/tile', {...query, tracks: query.tracks.join(',')}, signal);
  }
  /** Rows of the picture are lanes of tracks, in this order. */
  spans(query: PictureQuery & {rows: {track: number; lane: number}[]}, signal?: AbortSignal): Promise<p.Picture> {
    return this.picture('/api/spans', {...query, rows: query.rows.map(row => `${row.track}:${row.lane}`).join(',')}, signal);
  }
  /** Null: the values are still being read. */
  async values(query: PictureQuery & {tracks: number[]; field: string; filter?: string; texts?: 1}, signal?: AbortSignal): Promise<p.ValuePicture | null> {
    const reply = await this.transport.get('/api/values', {...query, tracks: query.tracks.join(',')}, signal);
    const picture = reply instanceof ArrayBuffer ? p.parsePicture(reply) : null;
    return picture?.type === 'values' ? picture : null;
  }

  async nearest(track: number, time: bigint, filter?: string, signal?: AbortSignal): Promise<p.Mark | null> {
    return p.parseMark(p.fields(await this.json('/api/nearest', {track, time, filter}, signal)).mark);
  }
  async spanAt(track: number, lane: number, time: bigint, signal?: AbortSignal): Promise<p.Span | null> {
    return p.parseSpan(p.fields(await this.json('/api/spanat', {track, lane, time}, signal)).span);
  }
  async event(number: number, signal?: AbortSignal): Promise<p.EventDetail> {
    return p.parseEvent(await this.json('/api/event', {number}, signal));
  }
  /** Rows are in the order of the times that are shown: `slew` is as slewText makes it. */
  async rows(first: number, count: number, {filter, slew}: RowsQuery = {}, signal?: AbortSignal): Promise<p.Rows> {
    return p.parseRows(await this.json('/api/rows', {first, count, filter, slew}, signal));
  }
  async rowOf(number: number, {filter, slew}: RowsQuery = {}, signal?: AbortSignal): Promise<number> {
    return p.count(p.fields(await this.json('/api/rowof', {number, filter, slew}, signal)).row);
  }
  async rowAt(time: bigint, {filter, slew}: RowsQuery = {}, signal?: AbortSignal): Promise<number> {
    return p.count(p.fields(await this.json('/api/rowat', {time, filter, slew}, signal)).row);
  }
  /** The next event after (before) `number`, cyclic, by the times that are shown. */
  async search(query: {number: number; back: boolean; kind?: number; track?: number; filter?: string; slew?: string}, signal?: AbortSignal): Promise<{mark: p.Mark | null; isWrapped: boolean}> {
    const reply = p.fields(await this.json('/api/search', {...query, back: query.back ? 1 : 0}, signal));
    return {mark: p.parseMark(reply.mark), isWrapped: reply.isWrapped === true};
  }

  /** One look at a filter's pass: the same text has the same id. */
  async filter(text: string, signal?: AbortSignal): Promise<p.FilterReply> {
    return p.parseFilter(await this.json('/api/filter', {text}, signal));
  }
  async latency(query: LatencyQuery, signal?: AbortSignal): Promise<p.LatencyReply> {
    return p.parseLatency(await this.json('/api/latency', {...query}, signal));
  }
  async histogram(query: {field: string; filter?: string}, signal?: AbortSignal): Promise<p.HistogramReply> {
    return p.parseHistogram(await this.json('/api/histogram', query, signal));
  }
  async statistics(filter?: string, signal?: AbortSignal): Promise<p.StatisticsReply> {
    return p.parseStatistics(await this.json('/api/statistics', {filter}, signal));
  }
  /** `slew` of tracks, "3:-500,7:20": how much later they are shown, and in the interval. */
  async selection(query: {begin: bigint; end: bigint; filter?: string; slew?: string}, signal?: AbortSignal): Promise<p.SelectionReply> {
    return p.parseSelection(await this.json('/api/selection', query, signal));
  }
  async anomaly(query: AnomalyQuery, signal?: AbortSignal): Promise<p.AnomalyReply> {
    return p.parseAnomaly(await this.json('/api/anomaly', {...query}, signal));
  }
  async anomalyNext(query: AnomalyQuery & {number: number; back: boolean; slew?: string}, signal?: AbortSignal): Promise<p.Mark | null> {
    return p.parseMark(p.fields(await this.json('/api/anomaly/next', {...query, back: query.back ? 1 : 0}, signal)).mark);
  }
  /** Tracks by their first match from this event on, then the others. */
  async chase(query: {filter: string; number: number; back: boolean; slew?: string}, signal?: AbortSignal): Promise<number[]> {
    return p.list(p.fields(await this.json('/api/chase', {...query, back: query.back ? 1 : 0}, signal)).tracks).map(p.count);
  }
  /** Tracks by the number of their events in the window, most first. */
  async activity(begin: bigint, end: bigint, signal?: AbortSignal): Promise<number[]> {
    return p.list(p.fields(await this.json('/api/activity', {begin, end}, signal)).tracks).map(p.count);
  }
  async compare(signal?: AbortSignal): Promise<p.CompareReply> {
    return p.parseCompare(await this.json('/api/compare', {}, signal));
  }
  async trackBy(by: string, field?: string, signal?: AbortSignal): Promise<void> {
    await this.json('/api/trackby', {by, field}, signal);
  }
}

export interface LatencyQuery {
  from: string;
  to: string;
  key?: string;
  filter?: string;
  slew?: string;
  low?: bigint; // lists the pairs from this time …
  high?: bigint; // … to this one, which is in it, and draws only them
}

export interface AnomalyQuery {
  kind?: number; // any, without it
  field: string;
  filter?: string;
  threshold: number;
  sides?: 'high' | 'low' | 'both';
}

/** Asks a task again until it is done or failed; `report` sees each reply. */
export async function finish<T extends p.Task>(ask: () => Promise<T>, signal: AbortSignal, report?: (reply: T) => void): Promise<T> {
  for (;;) {
    const reply = await ask();
    report?.(reply);
    if (reply.state !== 'running')
      return reply;
    await pause(TASK_PAUSE_MS, signal);
  }
}

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => { clearTimeout(timer); reject(new DOMException('aborted', 'AbortError')); };
    const timer = setTimeout(() => { signal?.removeEventListener('abort', abort); resolve(); }, ms);
    signal?.addEventListener('abort', abort, {once: true});
  });
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
