// SPDX-License-Identifier: MIT
// What stays of the view when the traces are opened again, and when other ones take their place.
import type {Track} from './protocol';
import type {Patch, State} from './state';
import {initial} from './state';

const TRACKS: readonly ('order' | 'hidden' | 'pinned' | 'selected')[] = ['order', 'hidden', 'pinned', 'selected'];
/** What is of one trace; settings are of the reader. */
const OF_TRACE: readonly (keyof State)[] = ['begin', 'span', 'scroll', 'order', 'hidden', 'pinned', 'selected', 'collapsed', 'slew', 'filter', 'kindsOff', 'field', 'colourField', 'markA', 'markB',
  'selection', 'focus', 'event', 'found', 'boxes', 'latencyFrom', 'latencyTo', 'latencyKey'];

/** For another trace: all of it is shown. */
export function emptied(): Patch {
  const usual = initial();
  return Object.fromEntries(OF_TRACE.map(key => [key, usual[key]])) as Patch;
}

/** For the same trace after another look: tracks are found by their names, those that are not there any more are left out. */
export function renumbered(state: Readonly<State>, before: readonly Track[], after: readonly Track[]): Patch {
  const key = (track: Track) => JSON.stringify([track.part, track.name]), places = new Map(after.map(track => [key(track), track.track]));
  const find = (track: number): number[] => {
    const was = before[track], now = was && places.get(key(was));
    return now === undefined ? [] : [now];
  };
  return {
    ...Object.fromEntries(TRACKS.map(name => [name, state[name].flatMap(find)])),
    slew: new Map([...state.slew].flatMap(([track, ns]) => find(track).map(now => [now, ns] as const))),
    focus: state.focus === null ? null : find(state.focus)[0] ?? null,
  };
}
