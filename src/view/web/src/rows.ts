// SPDX-License-Identifier: MIT
// The rows of the timeline: groups of traces and processes, and their tracks, from top to bottom.
import type {Track} from './protocol';
import type {State} from './state';

export interface GroupRow {
  type: 'group';
  key: string; // in State.collapsed
  name: string;
  level: number;
  tracks: number;
  members: readonly Track[];
  events: number;
  isCollapsed: boolean;
  y: number;
  height: number;
}
export interface TrackRow {
  type: 'track';
  key: string;
  track: Track;
  level: number;
  isPinned: boolean;
  lanes: number; // that are drawn
  y: number; // of the row, in CSS pixels from the first row
  height: number;
  strip: number; // height of the events, at the top
  lane: number; // height of a lane, after the strip
  line: number; // height of the field's line, after the lanes; 0: there is none
  note: number; // height of a line, at the bottom, that says that deeper spans are not drawn; 0: there is none
}
/** The pairs of a latency, above all tracks. */
export interface PairsRow {
  type: 'pairs';
  key: 'pairs';
  name: string;
  level: 0;
  y: number;
  height: number;
}
export type Row = GroupRow | TrackRow | PairsRow;

export interface Rows {
  rows: Row[];
  height: number;
  trackRows: Map<number, TrackRow>;
}

const GROUP_HEIGHT = 20, NOTE_HEIGHT = 15, LANE_MOST = 18, LINE_LEAST = 24, PAIRS_LEAST = 32,
  LANES_HEIGHT = 1152; // of all lanes of a track: where there are many they are lower, but not below 2

type Wanted = Pick<State, 'order' | 'hidden' | 'pinned' | 'collapsed' | 'rowHeight' | 'field'>;

export function layout(tracks: readonly Track[], state: Wanted, pairs = ''): Rows {
  const rows: Row[] = [], trackRows = new Map<number, TrackRow>(), hidden = new Set(state.hidden), pinned = new Set(state.pinned), collapsed = new Set(state.collapsed);
  let y = 0;
  if (pairs) {
    y = Math.max(PAIRS_LEAST, 2 * state.rowHeight);
    rows.push({type: 'pairs', key: 'pairs', name: pairs, level: 0, y: 0, height: y});
  }
  const addTrack = (track: Track, level: number, isPinned: boolean) => {
    const strip = state.rowHeight, {lanes} = track, lane = Math.max(2, Math.min(LANE_MOST, Math.round(strip * 0.72), Math.floor(LANES_HEIGHT / lanes)));
    const line = state.field ? Math.max(LINE_LEAST, strip) : 0, note = track.deeperSpans > 0 ? NOTE_HEIGHT : 0, height = strip + lanes * lane + line + note;
    const row: TrackRow = {type: 'track', key: `track ${track.track}`, track, level, isPinned, lanes, y, height, strip, lane, line, note};
    rows.push(row);
    trackRows.set(track.track, row);
    y += height;
  };
  const addGroup = (key: string, name: string, level: number, members: Track[]): boolean => {
    const isCollapsed = collapsed.has(key);
    rows.push({type: 'group', key, name, level, tracks: members.length, members, events: members.reduce((sum, track) => sum + track.events, 0), isCollapsed, y, height: GROUP_HEIGHT});
    y += GROUP_HEIGHT;
    return !isCollapsed;
  };
  const shown = tracks.filter(track => !hidden.has(track.track)), byNumber = new Map(shown.map(track => [track.track, track]));
  for (const number of state.pinned) {
    const track = byNumber.get(number);
    if (track)
      addTrack(track, 0, true);
  }
  const rest = shown.filter(track => !pinned.has(track.track));
  if (state.order.length > 0) {
    for (const track of inOrder(rest, state.order))
      addTrack(track, 0, false);
    return {rows, height: y, trackRows};
  }
  const parts = groupBy(rest, track => String(track.partIndex)), hasParts = parts.size > 1;
  for (const [part, members] of parts) {
    if (hasParts && !addGroup(`part ${part}`, members[0].part || `trace ${part}`, 0, members))
      continue;
    const level = hasParts ? 1 : 0, processes = groupBy(members, track => track.process ?? ''), hasProcesses = processes.size > 1 || !processes.has('');
    for (const [process, threads] of processes) {
      const isGroup = hasProcesses && process !== '';
      if (isGroup && !addGroup(`process ${part} ${process}`, `process ${process}`, level, threads))
        continue;
      for (const track of threads)
        addTrack(track, level + (isGroup ? 1 : 0), false);
    }
  }
  return {rows, height: y, trackRows};
}

/** Tracks in the order; those that it does not name follow as they are. */
export function inOrder(tracks: readonly Track[], order: readonly number[]): Track[] {
  const place = new Map(order.map((track, i) => [track, i]));
  return [...tracks].map((track, i) => ({track, key: place.get(track.track) ?? order.length + i})).sort((a, b) => a.key - b.key).map(item => item.track);
}

/** The order in which tracks are shown, with one of them moved before (or after) the others. */
export function moved(order: readonly number[], track: number, to: number): number[] {
  const rest = order.filter(item => item !== track);
  rest.splice(Math.max(0, Math.min(rest.length, to)), 0, track);
  return rest;
}

function groupBy(tracks: readonly Track[], key: (track: Track) => string): Map<string, Track[]> {
  const groups = new Map<string, Track[]>();
  for (const track of tracks) {
    const group = groups.get(key(track));
    if (group)
      group.push(track);
    else
      groups.set(key(track), [track]);
  }
  return groups;
}

/** The index of the row at a place, or of the last one before it; -1: there are no rows. */
export function rowAt(rows: readonly Row[], y: number): number {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].y <= y)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}
