// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import type {Bounds, Window} from '../src/window';
import {between, center, clip, isOfTimes, limit, pan, placeOf, scale, ticks, timeAt, toEnd, toStart, whole, zoom} from '../src/window';

const FIRST = -(2n ** 63n), LAST = 2n ** 63n - 1n;
const bounds: Bounds = {begin: 1_000_000_000n, end: 4_000_000_000n};
const EDGES: Bounds[] = [bounds, {begin: 0n, end: 0n}, {begin: -5n, end: 7n}, {begin: 5n, end: 5n}, {begin: FIRST, end: LAST - 1n}, {begin: LAST - 1n, end: LAST - 1n}, {begin: FIRST, end: FIRST}, {begin: 2n ** 62n, end: 2n ** 62n + 3n}];
const end = (window: Window) => window.begin + window.span;

describe('time windows', () => {
  it('have ends that are times, of 64 bits, whatever the times of the trace are', () => {
    for (const edge of EDGES) {
      let window = whole(edge);
      expect([isOfTimes(window), window.span > 0n]).toEqual([true, true]);
      for (let i = 0; i < 80; i++) {
        window = i % 3 ? zoom(window, 2n, 3n, 0.5, edge) : i % 2 ? toEnd(window, edge) : toStart(window, edge);
        expect([isOfTimes(window), window.span > 0n]).toEqual([true, true]);
      }
    }
    expect(limit({begin: FIRST - 5n, span: 10n})).toEqual({begin: FIRST, span: 5n});
    expect(limit({begin: LAST + 5n, span: 10n})).toEqual({begin: LAST - 1n, span: 1n});
    expect(limit({begin: -5n, span: 2n ** 70n})).toEqual({begin: -5n, span: LAST + 5n});
  });
  it('show the whole trace with a margin, also that of one event', () => {
    for (const edge of EDGES) {
      const all = whole(edge);
      expect(all.begin).toBeLessThan(edge.begin + (edge.begin === FIRST ? 1n : 0n));
      expect(end(all)).toBeGreaterThan(edge.end);
    }
    expect(whole({begin: 5n, end: 5n}).span).toBe(1_000_000n);
  });
  it('E1: zooming in leaves two thirds and keeps the centre, to one nanosecond', () => {
    const start = {begin: 2_000_000_000n, span: 600n}, next = zoom(start, 2n, 3n, 0.5, bounds);
    expect(next).toEqual({begin: 2_000_000_100n, span: 400n});
    let window = whole(bounds);
    for (let i = 0; i < 200; i++) {
      const before = window;
      window = zoom(window, 2n, 3n, 0.5, bounds);
      expect(window.span).toBeLessThanOrEqual(before.span);
      expect(window.begin).toBeGreaterThanOrEqual(before.begin);
    }
    expect(window.span).toBe(1n);
  });
  it('E2: zooming out makes four thirds, ends at the whole, and gets on from one nanosecond', () => {
    expect(zoom({begin: 2_000_000_000n, span: 600n}, 4n, 3n, 0.5, bounds)).toEqual({begin: 1_999_999_900n, span: 800n});
    for (const edge of EDGES) {
      let window: Window = {begin: edge.begin, span: 1n};
      for (let i = 0; i < 300; i++)
        window = zoom(window, 4n, 3n, 0.5, edge);
      expect(window).toEqual(whole(edge));
    }
  });
  it('zooms at a place', () => {
    const start = {begin: 2_000_000_000n, span: 1_000_000n}, next = zoom(start, 1n, 2n, 0.25, bounds);
    expect(timeAt(next, 250, 1000)).toBe(timeAt(start, 250, 1000));
  });
  it('E3, E4: moves by a sixth, reaches both ends, never moves back', () => {
    let window: Window = {begin: 2_000_000_000n, span: 600_000_000n};
    expect(pan(window, 1n, 6n, bounds).begin).toBe(2_100_000_000n);
    for (let i = 0; i < 60; i++) {
      const next = pan(window, 1n, 6n, bounds);
      expect(next.begin).toBeGreaterThanOrEqual(window.begin);
      window = next;
    }
    expect(end(window)).toBeGreaterThan(bounds.end);
    for (let i = 0; i < 60; i++) {
      const next = pan(window, -1n, 6n, bounds);
      expect(next.begin).toBeLessThanOrEqual(window.begin);
      window = next;
    }
    expect(window.begin).toBeLessThanOrEqual(bounds.begin);
    const small = {begin: 3n, span: 1n};
    expect(pan(small, 1n, 6n, {begin: -5n, end: 7n}).begin).toBe(4n);
  });
  it('E5, E6: go to the ends', () => {
    const window = {begin: 2_000_000_000n, span: 320n}, first = toStart(window, bounds), last = toEnd(window, bounds);
    expect(first.begin <= bounds.begin && end(first) > bounds.begin && first.span === 320n).toBe(true);
    expect(last.begin <= bounds.end && end(last) > bounds.end && last.span === 320n).toBe(true);
  });
  it('E7: are exact at any size', () => {
    const far: Bounds = {begin: 1_795_451_795_000_000_001n, end: 1_795_999_795_000_000_001n};
    expect(center({begin: 0n, span: 11n}, 1_795_451_999_000_000_007n, far)).toEqual({begin: 1_795_451_999_000_000_002n, span: 11n});
    expect(clip({begin: far.begin + 17n, span: 3n}, far)).toEqual({begin: far.begin + 17n, span: 3n});
  });
  it('E8: an interval is the same in either direction', () => {
    expect(between(9n, 4n)).toEqual({begin: 4n, span: 5n});
    expect(between(4n, 9n)).toEqual({begin: 4n, span: 5n});
    expect(between(4n, 4n).span).toBe(1n);
  });
  it('D3: place and time are one formula', () => {
    for (const edge of EDGES) {
      const window = whole(edge);
      expect(timeAt(window, 0, 1000)).toBe(window.begin);
      expect(timeAt(window, 1000, 1000)).toBe(end(window));
      for (const x of [1, 250, 500, 999])
        expect(Math.abs(placeOf(window, timeAt(window, x, 1000), 1000) - x)).toBeLessThanOrEqual(1 + 1000 / Number(window.span));
    }
  });
  it('scale parts of durations', () => {
    expect(scale(2n ** 64n, 0.5)).toBe(2n ** 63n);
    expect(scale(7n, 1)).toBe(7n);
    expect(scale(7n, 0)).toBe(0n);
  });
});

describe('ticks', () => {
  it('are round, inside, and as far from each other as asked', () => {
    for (const edge of EDGES)
      for (let window = whole(edge), i = 0; i < 50; i++, window = zoom(window, 2n, 5n, 0.3, edge)) {
        const {times, step} = ticks(window, 1200, 80, edge.begin);
        expect(times.length).toBeLessThanOrEqual(17);
        for (const time of times) {
          expect((time - edge.begin) % step).toBe(0n);
          expect(time >= window.begin && time <= end(window)).toBe(true);
        }
        expect(Number(step) / Number(window.span) * 1200).toBeGreaterThanOrEqual(79);
      }
  });
  it('are minutes, hours and days where seconds are too many', () => {
    const hour = 3_600_000_000_000n;
    expect(ticks({begin: 0n, span: 10n * hour}, 1000, 90, 0n).step).toBe(hour);
    expect(ticks({begin: 0n, span: 240n * hour}, 1000, 90, 0n).step).toBe(24n * hour);
  });
  it('say how many places tell them apart', () => {
    expect(ticks({begin: 0n, span: 10n}, 1000, 90, 0n)).toMatchObject({step: 1n, places: 9});
    expect(ticks({begin: 0n, span: 10_000_000_000n}, 1000, 90, 0n)).toMatchObject({step: 1_000_000_000n, places: 0});
    expect(ticks({begin: 0n, span: 20_000n}, 1000, 90, 0n)).toMatchObject({step: 2_000n, places: 6});
  });
});
