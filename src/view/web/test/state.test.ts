// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import type {State} from '../src/state';
import {Store, initial, read, write} from '../src/state';

const full: State = {
  begin: -9_223_372_036_854_775_808n, span: 18_446_744_073_709_551_615n, scroll: 1200, rowHeight: 1, order: [3, 4, 5, 9, 1, 0], hidden: [7], pinned: [2, 1], selected: [0, 1, 2, 3],
  collapsed: ['process 0 12', 'part 1'], slew: new Map([[3, -1500n], [4, 2n]]), filter: 'EVENT = "a,b\\=c&d#e%" AND x <> 3 -- ü ‮', hides: true, kindsOff: ['a,b', 'c\\', 'd=e', ''],
  colour: 'track', colourField: 'a&b', shape: 'events', field: 'where.x', clock: 'utc', markA: 0n, markB: -5n, selection: {begin: -3n, end: 8n}, focus: 0, event: 281474976710656, found: 12, boxes: [1, 5, 6, 7],
  back: true, latencyFrom: 'net:rx', latencyTo: '<script>alert(1)</script>', latencyKey: 'id', tab: 'latency', tabState: new Map([['a.b', 'c=d,e\\'], ['x', 'y']]), theme: 'dark',
};

describe('the state in the URL', () => {
  it('is nothing at the beginning', () => {
    expect(write(initial())).toBe('');
    expect(read('')).toEqual(initial());
  });
  it('comes back as it was', () => {
    expect(read(write(full))).toEqual(full);
    expect(read('#' + write(full))).toEqual(full);
  });
  it('is read from an address as browsers write it', () => {
    const url = new URL('http://127.0.0.1:1/#' + write(full));
    expect(read(url.hash)).toEqual(full);
  });
  it('comes back member by member', () => {
    for (const key of Object.keys(full) as (keyof State)[]) {
      const state = {...initial(), [key]: full[key]};
      expect(read(write(state)), key).toEqual(state);
    }
  });
  it('leaves out what is not valid, and keeps the rest', () => {
    expect(read('t=12x&w=5&h=0&colour=red&order=1-&hide=a&slew=1&ruler=1&off&theme=&tab=../x&%=%&f=%zz&nothing=1')).toEqual({...initial(), span: 5n, filter: '%zz'});
    expect(read('order=0-99999999999').order).toEqual([]);
    expect(read('w=-5').span).toBe(0n);
    expect(read(`t=${'9'.repeat(31)}`).begin).toBe(0n);
  });
  it('writes runs of numbers as ranges', () => {
    expect(write({...initial(), hidden: [0, 1, 2, 3, 9, 8, 7]})).toBe('hide=0-3,9,8,7');
  });
});

describe('the store', () => {
  const store = (now = () => 0) => new Store(initial(), now);
  it('reports changes to those who want them, and nothing that is as before', () => {
    const s = store(), seen: string[] = [];
    s.subscribe((_, changed) => seen.push(`all ${[...changed]}`));
    const end = s.subscribe(() => seen.push('height'), 'rowHeight');
    s.update({rowHeight: 30});
    s.update({rowHeight: 30, hidden: [], slew: new Map(), selection: null});
    s.update({tab: 'x'});
    end();
    s.update({rowHeight: 31});
    expect(seen).toEqual(['all rowHeight', 'height', 'all tab', 'all rowHeight']);
  });
  it('undoes and redoes steps; quick changes of one sort are one step', () => {
    let now = 0;
    const s = store(() => now);
    s.update({begin: 1n}, 'pan');
    now = 100;
    s.update({begin: 2n}, 'pan');
    now = 2000;
    s.update({begin: 3n}, 'pan');
    s.update({filter: 'x'});
    s.update({tab: 'other'}, null);
    expect(s.undo()).toBe(true);
    expect(s.state).toMatchObject({begin: 3n, filter: '', tab: 'other'});
    s.undo();
    expect(s.state.begin).toBe(2n);
    s.undo();
    expect(s.state.begin).toBe(0n);
    expect(s.undo()).toBe(false);
    s.redo();
    s.redo();
    expect(s.state.begin).toBe(3n);
    s.update({begin: 9n});
    expect(s.redo()).toBe(false);
  });
  it('keeps cursors and tabs out of undo', () => {
    const s = store();
    s.update({focus: 3, event: 4, back: true});
    expect(s.undo()).toBe(false);
  });
});
