// SPDX-License-Identifier: MIT
// The state of the page, all of it in one store, and its form in the fragment of the URL.
import type {ClockMode} from './format';

export interface Interval {
  begin: bigint;
  end: bigint;
}

export interface State {
  begin: bigint; // the time window is [begin, begin + span)
  span: bigint; // 0: the whole trace, whatever is still being indexed
  scroll: number; // the first row shown, in places of the row list
  rowHeight: number; // CSS pixels of a track's event strip
  order: number[]; // tracks, first to last; empty: grouped by process and trace
  hidden: number[]; // tracks
  pinned: number[]; // tracks above all others
  selected: number[]; // tracks
  collapsed: string[]; // groups, by Row.key
  slew: Map<number, bigint>; // nanoseconds added to the times of tracks
  filter: string; // FDL
  hides: boolean; // the filter hides the others; else it dims them
  kindsOff: string[]; // names of kinds that are not shown
  colour: 'kind' | 'track' | 'field' | 'none';
  colourField: string; // of which values give the colours; without one, they are those of kinds
  shape: 'summary' | 'events'; // density, or marks with names
  field: string; // drawn as a line
  clock: ClockMode;
  markA: bigint | null;
  markB: bigint | null;
  selection: Interval | null; // the ruler
  focus: number | null; // the track that keys act on
  event: number | null; // the last selected event
  found: number | null; // the mark of the last search
  boxes: number[]; // events with a detail box
  back: boolean; // searches and chases go back
  latencyFrom: string; // names of kinds
  latencyTo: string;
  latencyKey: string; // a field, or none
  tab: string;
  tabState: Map<string, string>; // what tabs keep in the URL: "histogram.field"
  theme: 'auto' | 'light' | 'dark';
}

export const ROW_HEIGHT = {least: 1, usual: 25, most: 80};

export function initial(): State {
  return {
    begin: 0n, span: 0n, scroll: 0, rowHeight: ROW_HEIGHT.usual, order: [], hidden: [], pinned: [], selected: [], collapsed: [], slew: new Map(),
    filter: '', hides: false, kindsOff: [], colour: 'kind', colourField: '', shape: 'summary', field: '', clock: 'relative', markA: null, markB: null, selection: null,
    focus: null, event: null, found: null, boxes: [], back: false, latencyFrom: '', latencyTo: '', latencyKey: '', tab: 'events', tabState: new Map(),
    theme: 'auto',
  };
}

/** The field that gives the colours, or ''. */
export function colourField({colour, colourField: field}: Pick<State, 'colour' | 'colourField'>): string {
  return colour === 'field' ? field : '';
}

// ---- in the URL ----

interface Codec<T> {
  write(value: T): string; // '' is left out
  read(text: string): T | undefined; // undefined: not valid, the initial value stays
}

const isWhole = /^-?\d{1,30}$/;
/** A number of 64 bits: other ones are no times. */
function readTime(text: string | undefined): bigint | undefined {
  const number = text !== undefined && isWhole.test(text) ? BigInt(text) : undefined;
  return number !== undefined && BigInt.asIntN(64, number) === number ? number : undefined;
}
const time: Codec<bigint> = {write: String, read: readTime};
const duration: Codec<bigint> = {write: String, read: text => /^\d{1,20}$/.test(text) ? BigInt(text) : undefined};
const natural = (least: number, most: number): Codec<number> => ({write: String, read: text => /^\d{1,15}$/.test(text) && +text >= least && +text <= most ? +text : undefined});
const optional = <T>(codec: Codec<T>): Codec<T | null> => ({write: value => value === null ? '' : codec.write(value), read: codec.read});
const words: Codec<string> = {write: value => value, read: text => text};
const choice = <T extends string>(...all: T[]): Codec<T> => ({write: value => value, read: text => all.find(item => item === text)});
const flag: Codec<boolean> = {write: value => value ? '1' : '0', read: text => text === '1' ? true : text === '0' ? false : undefined};
const interval: Codec<Interval> = {
  write: value => `${value.begin},${value.end}`,
  read: text => {
    const [from, to, ...rest] = text.split(','), begin = readTime(from), end = readTime(to);
    return begin !== undefined && end !== undefined && rest.length === 0 ? {begin, end} : undefined;
  },
};
const NUMBERS_MAX = 100_000;
/** "0-5,7": ascending runs are written as ranges. */
const numbers: Codec<number[]> = {
  write: value => {
    const parts: string[] = [];
    for (let i = 0; i < value.length;) {
      let last = i;
      while (last + 1 < value.length && value[last + 1] === value[last] + 1)
        last++;
      parts.push(last > i ? `${value[i]}-${value[last]}` : String(value[i]));
      i = last + 1;
    }
    return parts.join(',');
  },
  read: text => {
    const result: number[] = [];
    for (const part of text.split(',')) {
      const range = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part);
      if (!range)
        return undefined;
      const last = +(range[2] ?? range[1]);
      if (last - +range[1] + result.length > NUMBERS_MAX)
        return undefined;
      for (let i = +range[1]; i <= last; i++)
        result.push(i);
    }
    return result;
  },
};
const escape = (value: string) => value.replace(/[\\,=]/g, '\\$&');
/** Splits at a character that no backslash is before, and removes the backslashes. */
function split(text: string, at: string): string[] {
  const parts = [''];
  for (let i = 0; i < text.length; i++)
    if (text[i] === '\\' && i + 1 < text.length)
      parts[parts.length - 1] += text[i] + text[++i];
    else if (text[i] === at)
      parts.push('');
    else
      parts[parts.length - 1] += text[i];
  return parts;
}
const unescape = (value: string) => value.replace(/\\(.)/gs, '$1');
const names: Codec<string[]> = {write: value => value.map(escape).join(','), read: text => split(text, ',').map(unescape)};
const offsets: Codec<Map<number, bigint>> = {
  write: value => [...value].filter(([, ns]) => ns !== 0n).map(([track, ns]) => `${track}=${ns}`).join(','),
  read: text => {
    const result = new Map<number, bigint>();
    for (const part of text.split(',')) {
      const pair = /^(\d{1,15})=(-?\d{1,30})$/.exec(part);
      if (!pair)
        return undefined;
      result.set(+pair[1], BigInt(pair[2]));
    }
    return result;
  },
};
const texts: Codec<Map<string, string>> = {
  write: value => [...value].filter(([, text]) => text !== '').map(([name, text]) => `${escape(name)}=${escape(text)}`).join(','),
  read: text => new Map(split(text, ',').map(part => split(part, '=').map(unescape)).filter(pair => pair.length === 2) as [string, string][]),
};

type Codecs = {[K in keyof State]: [name: string, codec: Codec<State[K]>]};

const codecs: Codecs = {
  begin: ['t', time], span: ['w', duration], scroll: ['y', natural(0, 1e9)], rowHeight: ['h', natural(ROW_HEIGHT.least, ROW_HEIGHT.most)],
  order: ['order', numbers], hidden: ['hide', numbers], pinned: ['pin', numbers], selected: ['sel', numbers], collapsed: ['fold', names],
  slew: ['slew', offsets], filter: ['f', words], hides: ['only', flag], kindsOff: ['off', names], colour: ['colour', choice('kind', 'track', 'field', 'none')], colourField: ['by', words],
  shape: ['shape', choice('summary', 'events')], field: ['field', words], clock: ['clock', choice('relative', 'absolute', 'utc')], markA: ['a', optional(time)],
  markB: ['b', optional(time)], selection: ['ruler', optional(interval)], focus: ['track', optional(natural(0, 1e9))], event: ['event', optional(natural(0, 2 ** 49))],
  found: ['found', optional(natural(0, 2 ** 49))], boxes: ['box', numbers], back: ['back', flag], latencyFrom: ['from', words], latencyTo: ['to', words],
  latencyKey: ['key', words], tab: ['tab', choiceOfWord()], tabState: ['tabs', texts], theme: ['theme', choice('auto', 'light', 'dark')],
};
function choiceOfWord(): Codec<string> {
  return {write: value => value, read: text => /^[a-z-]{1,40}$/.test(text) ? text : undefined};
}

const keysOf = Object.keys(codecs) as (keyof State)[];

function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(2C|3A|3D|20|2F|3E|3C|28|29)/g, (all, code: string) => ({'2C': ',', '3A': ':', '3D': '=', '2F': '/', '28': '(', '29': ')'})[code] ?? all);
}

/** The state as a fragment without "#"; what is as in the beginning is left out. */
export function write(state: State): string {
  const usual = initial(), parts: string[] = [];
  const add = <K extends keyof State>(key: K) => {
    const [name, codec] = codecs[key], text = codec.write(state[key]);
    if (text !== codec.write(usual[key]))
      parts.push(`${name}=${encode(text)}`);
  };
  keysOf.forEach(add);
  return parts.join('&');
}

/** The state that a fragment describes. What is not valid is left out: links of other versions open. */
export function read(fragment: string): State {
  const state = initial(), values = new Map<string, string>();
  for (const part of fragment.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    if (at > 0)
      values.set(part.slice(0, at), decode(part.slice(at + 1)));
  }
  const take = <K extends keyof State>(key: K) => {
    const [name, codec] = codecs[key], text = values.get(name), value = text === undefined ? undefined : codec.read(text);
    if (value !== undefined)
      state[key] = value;
  };
  keysOf.forEach(take);
  if (state.span < 0n)
    state.span = 0n;
  return state;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// ---- the store ----

export type Patch = Partial<State>;
export type Listener = (state: State, changed: Set<keyof State>) => void;

/** What belongs to the view: undo goes back in it, snapshots keep it. */
const VIEW: (keyof State)[] = ['begin', 'span', 'scroll', 'rowHeight', 'order', 'hidden', 'pinned', 'selected', 'collapsed', 'slew', 'filter', 'hides', 'kindsOff',
  'colour', 'colourField', 'shape', 'field', 'boxes', 'selection', 'markA', 'markB'];
const UNDO_MAX = 200, JOIN_MS = 600;

export class Store {
  private listeners = new Set<{listener: Listener; keys: Set<keyof State> | null}>();
  private past: Patch[] = [];
  private future: Patch[] = [];
  private lastJoin = {name: '', at: 0};

  constructor(private current: State = initial(), private now: () => number = () => Date.now()) {}

  get state(): Readonly<State> {
    return this.current;
  }

  /** Calls the listener after each change of the keys (of any, without keys). Returns what ends this. */
  subscribe(listener: Listener, ...keys: (keyof State)[]): () => void {
    const entry = {listener, keys: keys.length ? new Set(keys) : null};
    this.listeners.add(entry);
    return () => this.listeners.delete(entry);
  }

  /**
   * Changes the state. A step that undo takes back; changes of the same `join` in quick succession are one step.
   * join === null: no step (a cursor, a tab).
   */
  update(patch: Patch, join: string | null = ''): void {
    const changed = difference(this.current, patch);
    if (changed.size === 0)
      return;
    if (join !== null && VIEW.some(key => changed.has(key))) {
      const now = this.now();
      if (join === '' || join !== this.lastJoin.name || now - this.lastJoin.at > JOIN_MS) {
        this.past.push(this.view());
        this.past.splice(0, this.past.length - UNDO_MAX);
      }
      this.lastJoin = {name: join, at: now};
      this.future = [];
    }
    this.set(patch, changed);
  }

  /** Changes the state for another trace: steps of before it are of no use any more. */
  restart(patch: Patch): void {
    this.past = [];
    this.future = [];
    this.update(patch, null);
  }

  undo(): boolean {
    return this.move(this.past, this.future);
  }
  redo(): boolean {
    return this.move(this.future, this.past);
  }

  /** The members that snapshots keep. */
  view(): Patch {
    return Object.fromEntries(VIEW.map(key => [key, this.current[key]])) as Patch;
  }

  private move(from: Patch[], to: Patch[]): boolean {
    const patch = from.pop();
    if (!patch)
      return false;
    to.push(this.view());
    this.lastJoin = {name: '', at: 0};
    this.set(patch, difference(this.current, patch));
    return true;
  }

  private set(patch: Patch, changed: Set<keyof State>): void {
    this.current = {...this.current, ...patch};
    for (const {listener, keys} of [...this.listeners])
      if (!keys || [...changed].some(key => keys.has(key)))
        listener(this.current, changed);
  }
}

function difference(state: State, patch: Patch): Set<keyof State> {
  const changed = new Set<keyof State>();
  for (const key of Object.keys(patch) as (keyof State)[])
    if (patch[key] !== undefined && !same(state[key], patch[key]))
      changed.add(key);
  return changed;
}

function same(a: unknown, b: unknown): boolean {
  if (a === b)
    return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => item === b[i]);
  if (a instanceof Map && b instanceof Map)
    return a.size === b.size && [...a].every(([key, item]) => b.get(key) === item);
  if (a && b && typeof a === 'object' && typeof b === 'object' && 'begin' in a && 'begin' in b)
    return (a as Interval).begin === (b as Interval).begin && (a as Interval).end === (b as Interval).end;
  return false;
}
