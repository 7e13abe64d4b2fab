// SPDX-License-Identifier: MIT
// Arithmetic of the time window. Times are BigInt, exact at any size; only offsets inside the window become doubles.

/** [begin, begin + span), in nanoseconds; span is at least 1. */
export interface Window {
  begin: bigint;
  span: bigint;
}
/** The times of the first and of the last event. */
export interface Bounds {
  begin: bigint;
  end: bigint;
}

const LONE_EVENT_NS = 1_000_000n;
const MARGIN = 32n; // the part of a window that may lie outside of the trace
const FIRST = -(2n ** 63n), LAST = 2n ** 63n - 1n; // times are numbers of 64 bits; a corrupt trace may have any

export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** Whether both ends of a window are times. */
export function isOfTimes({begin, span}: Window): boolean {
  return begin >= FIRST && begin + span <= LAST;
}
/** The part of a window in which there can be events. */
export function limit({begin, span}: Window): Window {
  const first = max(FIRST, min(begin, LAST - 1n));
  return {begin: first, span: max(1n, min(begin + span, LAST) - first)};
}

/** The whole trace with a small margin on both sides. */
export function whole(bounds: Bounds): Window {
  const length = bounds.end - bounds.begin;
  if (length <= 0n)
    return limit({begin: bounds.begin - LONE_EVENT_NS / 2n, span: LONE_EVENT_NS});
  const margin = length / (MARGIN - 2n) + 1n;
  return limit({begin: bounds.begin - margin, span: length + 2n * margin});
}

/** The nearest window that is no longer than the whole and shows no more than a margin outside of the trace. */
export function clip(window: Window, bounds: Bounds): Window {
  const all = whole(bounds);
  if (window.span >= all.span)
    return all;
  const span = max(1n, window.span), margin = span / MARGIN + 1n;
  const first = max(all.begin, bounds.begin - margin), last = min(all.begin + all.span, bounds.end + margin + 1n) - span;
  const begin = max(min(first, last), min(window.begin, max(first, last))); // a window may be longer than the trace with its margins
  return {begin: max(all.begin, min(begin, all.begin + all.span - span)), span};
}

/** The window `numerator / denominator` times as long; what is at `part` (0 … 1) of the window stays there. */
export function zoom(window: Window, numerator: bigint, denominator: bigint, part: number, bounds: Bounds): Window {
  let span = window.span * numerator / denominator;
  if (span === window.span)
    span += numerator > denominator ? 1n : -1n;
  span = max(1n, span);
  return clip({begin: window.begin + scale(window.span - span, part), span}, bounds);
}

/** A part of a duration; exact for 0, 1/2 and 1. */
export function scale(duration: bigint, part: number): bigint {
  const steps = 1 << 20;
  return duration * BigInt(Math.round(part * steps)) / BigInt(steps);
}

/** The window moved by numerator / denominator of its length. It never moves the other way. */
export function pan(window: Window, numerator: bigint, denominator: bigint, bounds: Bounds): Window {
  const step = window.span * numerator / denominator || (numerator < 0n ? -1n : 1n);
  const moved = clip({begin: window.begin + step, span: window.span}, bounds);
  return (moved.begin - window.begin) * step > 0n ? moved : window;
}

export function toStart(window: Window, bounds: Bounds): Window {
  return clip({begin: bounds.begin - window.span, span: window.span}, bounds);
}
export function toEnd(window: Window, bounds: Bounds): Window {
  return clip({begin: bounds.end, span: window.span}, bounds);
}
/** The same length around a time. */
export function center(window: Window, time: bigint, bounds: Bounds): Window {
  return clip({begin: time - window.span / 2n, span: window.span}, bounds);
}
/** The interval between two times, in either order. */
export function between(a: bigint, b: bigint): Window {
  return {begin: min(a, b), span: max(1n, max(a, b) - min(a, b))};
}

/** The time at a place of `width` places; that of `width` is the end. */
export function timeAt(window: Window, x: number, width: number): bigint {
  return window.begin + window.span * BigInt(Math.round(x * 256)) / BigInt(Math.max(1, Math.round(width * 256)));
}
/** The place of a time: one formula for drawing, hit tests and rulers. Far outside it is only roughly right. */
export function placeOf(window: Window, time: bigint, width: number): number {
  return Number(time - window.begin) / Number(window.span) * width;
}

const STEPS = [1n, 2n, 5n];

export interface Ticks {
  step: bigint;
  times: bigint[];
  /** digits after the point of a second that tell neighbours apart */
  places: number;
}

/** Round times (1, 2, 5 · 10ⁿ ns, or of minutes, hours and days) with at least `least` places between two, counted from `origin`. */
export function ticks(window: Window, width: number, least: number, origin: bigint): Ticks {
  const wanted = Number(window.span) * least / Math.max(1, width);
  let step = 1n;
  for (let power = 1n, i = 0; Number(step) < wanted; i++) {
    if (i % 3 === 0 && i > 0)
      power *= 10n;
    step = STEPS[i % 3] * power;
    if (step >= 60_000_000_000n)
      break;
  }
  if (step >= 60_000_000_000n)
    step = longStep(wanted);
  const times: bigint[] = [], offset = window.begin - origin;
  let first = offset / step * step;
  while (first < offset)
    first += step;
  for (let time = first; time <= offset + window.span && times.length < 1000; time += step)
    times.push(origin + time);
  let places = 9;
  for (let unit = 10n; places > 0 && step % unit === 0n; unit *= 10n)
    places--;
  return {step, times, places};
}

const MINUTE = 60_000_000_000n, HOUR = 60n * MINUTE, DAY = 24n * HOUR;
const LONG = [MINUTE, 2n * MINUTE, 5n * MINUTE, 10n * MINUTE, 20n * MINUTE, 30n * MINUTE, HOUR, 2n * HOUR, 3n * HOUR, 6n * HOUR, 12n * HOUR, DAY];

function longStep(wanted: number): bigint {
  const found = LONG.find(step => Number(step) >= wanted);
  if (found)
    return found;
  let step = DAY;
  for (let i = 0; Number(step) < wanted; i++)
    step = DAY * [1n, 2n, 5n][i % 3] * 10n ** BigInt(Math.floor(i / 3));
  return step;
}
