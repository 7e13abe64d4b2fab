// SPDX-License-Identifier: MIT
// Snapshots of views: a ring that one goes around in. Files of them name tracks, so they open on other traces.
import type {Track} from './protocol';
import type {Patch, State} from './state';
import {initial, read, write} from './state';

export interface Snapshot {
  name: string;
  /** As in the URL. */
  view: string;
}

export const SNAPSHOTS_MAX = 200;
const KEYS: (keyof State)[] = ['order', 'hidden', 'pinned', 'selected'];

const IN_URL_MAX = 4000;
/** The snapshots for the URL: names and views; as many of the newest as a link may be long. */
export function writeFragment(list: readonly Snapshot[]): string {
  const parts: string[] = [];
  for (let i = 0, length = 0; i < list.length; i++) {
    const part = `${encodeURIComponent(list[i].name)}:${encodeURIComponent(list[i].view)}`;
    length += part.length + 1;
    if (length > IN_URL_MAX)
      break;
    parts.push(part);
  }
  return parts.length ? `snaps=${parts.join(',')}` : '';
}
/** Those of a fragment; what is not valid is left out. */
export function readFragment(fragment: string): Snapshot[] {
  const found = /(?:^|[#&])snaps=([^&]*)/.exec(fragment);
  return (found?.[1] ?? '').split(',').slice(0, SNAPSHOTS_MAX).flatMap(part => {
    const [name, view, ...rest] = part.split(':');
    try {
      return view && rest.length === 0 ? [{name: decodeURIComponent(name), view: write(read(decodeURIComponent(view)))}] : [];
    } catch {
      return [];
    }
  });
}

/** The newest is the first, as in g2. */
export class Snapshots {
  list: Snapshot[] = [];
  current = -1;
  /** Called when the list has changed. */
  changed: () => void = () => {};

  add(view: Patch, name: string): void {
    this.list.unshift({name, view: write({...initial(), ...view})});
    this.list.length = Math.min(this.list.length, SNAPSHOTS_MAX);
    this.current = 0;
    this.changed();
  }
  /** Takes others in place of these; the next one is the first. */
  replace(list: Snapshot[]): void {
    this.list = list;
    this.current = list.length - 1;
    this.changed();
  }
  rename(name: string): void {
    if (this.current >= 0)
      this.list[this.current] = {...this.list[this.current], name};
    this.changed();
  }
  /** The next older one; after the oldest the newest. */
  next(): Snapshot | null {
    if (this.list.length === 0)
      return null;
    this.current = (this.current + 1) % this.list.length;
    return this.list[this.current];
  }
  /** Other traces are open: their tracks are those of the same names. */
  renumber(before: readonly Track[], after: readonly Track[]): void {
    if (this.list.length > 0)
      this.list = readFile(writeFile(this.list, before), after).list;
  }
  /** Removes the current one; its successor is the current one then, else the first. */
  remove(): Snapshot | null {
    const [removed] = this.current >= 0 ? this.list.splice(this.current, 1) : [];
    if (this.current >= this.list.length)
      this.current = this.list.length > 0 ? 0 : -1;
    this.changed();
    return removed ?? null;
  }
}

/** What a snapshot sets. */
export function patchOf(snapshot: Snapshot, keys: (keyof State)[]): Patch {
  const state = read(snapshot.view);
  return Object.fromEntries(keys.map(key => [key, state[key]])) as Patch;
}

/** A file of snapshots: JSON, with the names of tracks. */
export function writeFile(list: readonly Snapshot[], tracks: readonly Track[]): string {
  const name = (track: number) => tracks[track]?.name ?? String(track);
  const views = list.map(snapshot => {
    const state = read(snapshot.view);
    return {
      name: snapshot.name, view: write({...state, order: [], hidden: [], pinned: [], selected: [], slew: new Map()}),
      ...Object.fromEntries(KEYS.map(key => [key, (state[key] as number[]).map(name)])),
      slew: [...state.slew].map(([track, ns]) => ({track: name(track), ns: String(ns)})),
    };
  });
  return JSON.stringify({kymo: 'snapshots', version: 1, snapshots: views}, null, 1) + '\n';
}

/** Reads such a file. Tracks that are not there are left out. Throws an Error that says what is wrong. */
export function readFile(text: string, tracks: readonly Track[]): {list: Snapshot[]; unknown: number} {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new Error(`The file is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  const content = file as {kymo?: unknown; version?: unknown; snapshots?: unknown};
  if (content?.kymo !== 'snapshots' || content.version !== 1 || !Array.isArray(content.snapshots))
    throw new Error('The file has no snapshots of kymo view, version 1.');
  const numbers = new Map(tracks.map(track => [track.name, track.track]));
  let unknown = 0;
  const find = (name: unknown): number[] => {
    const track = numbers.get(String(name));
    if (track === undefined)
      unknown++;
    return track === undefined ? [] : [track];
  };
  const list = (content.snapshots as Record<string, unknown>[]).slice(0, SNAPSHOTS_MAX).map((item, i) => {
    const state = read(typeof item.view === 'string' ? item.view : '');
    for (const key of KEYS)
      (state[key] as number[]) = Array.isArray(item[key]) ? (item[key] as unknown[]).flatMap(find) : [];
    for (const pair of Array.isArray(item.slew) ? item.slew as Record<string, unknown>[] : [])
      for (const track of find(pair.track))
        if (/^-?\d{1,30}$/.test(String(pair.ns)))
          state.slew.set(track, BigInt(String(pair.ns)));
    return {name: typeof item.name === 'string' ? item.name : `snapshot ${i + 1}`, view: write(state)};
  });
  return {list, unknown};
}
