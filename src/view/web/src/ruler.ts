// SPDX-License-Identifier: MIT
// The time axis: ticks with the form that the window asks for.
import type {App} from './app';
import {clockOf, windowOf} from './app';
import {css, mix} from './colors';
import type {Clock, ClockMode} from './format';
import {seconds, timeText, utcDate} from './format';
import type {Ticks, Window} from './window';
import {placeOf, ticks} from './window';

const UNITS = [{name: 's', ns: 1_000_000_000n, places: 9}, {name: 'ms', ns: 1_000_000n, places: 6}, {name: 'us', ns: 1_000n, places: 3}, {name: 'ns', ns: 1n, places: 0}];
const CHARACTER = 6.7, SPACE = 22;

/** Labels of ticks: neighbours always differ. Relative times have the unit of the largest one that is seen. */
export function tickLabels({times, step, places}: Ticks, mode: ClockMode, clock: Clock): string[] {
  if (!clock.hasTimes)
    return times.map(time => `#${time}`);
  if (mode !== 'relative')
    return times.map(time => timeText(time, mode, clock, places));
  const most = times.reduce((largest, time) => { const size = time < clock.begin ? clock.begin - time : time - clock.begin; return size > largest ? size : largest; }, 0n);
  const unit = UNITS.find(({ns}) => most >= ns) ?? UNITS[UNITS.length - 1];
  let digits = unit.places;
  for (let size = 10n; digits > 0 && step % size === 0n; size *= 10n)
    digits--;
  return times.map(time => {
    const ns = time - clock.begin;
    return `${ns < 0n ? '' : '+'}${seconds(ns * (1_000_000_000n / unit.ns), digits)} ${unit.name}`;
  });
}

/** Ticks as near to each other as their labels allow. */
export function rulerTicks(window: Window, width: number, mode: ClockMode, clock: Clock): {ticks: Ticks; labels: string[]} {
  const origin = mode === 'relative' ? clock.begin : 0n;
  let found = ticks(window, width, 70, origin), labels = tickLabels(found, mode, clock);
  for (let i = 0; i < 2; i++) {
    const longest = labels.reduce((most, label) => Math.max(most, label.length), 4);
    found = ticks(window, width, longest * CHARACTER + SPACE, origin);
    labels = tickLabels(found, mode, clock);
  }
  return {ticks: found, labels};
}

export function cornerText(app: App): string {
  const clock = clockOf(app), mode = app.store.state.clock;
  if (!clock.hasTimes)
    return 'events by number';
  return mode === 'utc' && clock.isEpoch ? `UTC ${utcDate(windowOf(app).begin)}` : mode === 'relative' ? 'from the begin' : 'clock, seconds';
}

/** Draws the axis in CSS pixels: the context is scaled. */
export function drawRuler(context: CanvasRenderingContext2D, app: App, width: number, height: number): void {
  const {palette} = app, window = windowOf(app), clock = clockOf(app), {selection, markA, markB} = app.store.state;
  const {ticks: {times}, labels} = rulerTicks(window, width, app.store.state.clock, clock);
  context.clearRect(0, 0, width, height);
  if (selection) {
    const from = placeOf(window, selection.begin, width), to = placeOf(window, selection.end, width);
    context.fillStyle = css(mix(palette.background, palette.hues[0], 0.25));
    context.fillRect(from, 0, Math.max(1, to - from), height);
  }
  context.font = '11px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = 'middle';
  context.fillStyle = css(mix(palette.text, palette.background, 0.2));
  context.strokeStyle = css(mix(palette.text, palette.background, 0.55));
  context.beginPath();
  times.forEach((time, i) => {
    const x = Math.round(placeOf(window, time, width)) + 0.5;
    context.moveTo(x, height - 7);
    context.lineTo(x, height);
    if (x + 4 + labels[i].length * 2 * CHARACTER < width || x + 4 + context.measureText(labels[i]).width < width)
      context.fillText(labels[i], x + 4, height / 2);
  });
  context.stroke();
  for (const [name, time] of [['A', markA], ['B', markB]] as const)
    if (time !== null) {
      const x = placeOf(window, time, width) + (name === 'A' ? -14 : 0); // A left of its line, B right of it
      context.fillStyle = css(palette.text);
      context.fillRect(x, 1, 14, 13);
      context.fillStyle = css(palette.background);
      context.fillText(name, x + 3.5, 8);
    }
}
