// SPDX-License-Identifier: MIT
// The whole trace in a strip: density of all tracks, losses, and the window as a brush. It is the horizontal scroll bar.
import type {App} from './app';
import {setWindow, shownTime, windowOf} from './app';
import {addCounts, choose, rank} from './columns';
import {css, mix} from './colors';
import {element, set} from './dom';
import {durationExact} from './format';
import type {Layer, Pictures} from './pictures';
import {trackKey} from './pictures';
import type {Track} from './protocol';
import type {Window} from './window';
import {clip, pan, placeOf, timeAt, whole} from './window';

export const MINIMAP_TRACKS = 256;
const EDGE = 6, LEAST_BRUSH = 4;

const known = new WeakMap<readonly Track[], number[]>();
/** The numbers of the tracks that the strip sums up: those with most events. */
export function minimapTracks(tracks: readonly Track[]): readonly number[] {
  let numbers = known.get(tracks);
  if (!numbers)
    known.set(tracks, numbers = (tracks.length <= MINIMAP_TRACKS ? tracks : [...tracks].sort((a, b) => b.events - a.events).slice(0, MINIMAP_TRACKS)).map(track => track.track));
  return numbers;
}

export interface Minimap {
  root: HTMLElement;
  draw(width: number): void;
}

export function minimap(app: App, pictures: Pictures): Minimap {
  const canvas = element('canvas', {'aria-hidden': 'true'});
  const root = element('div', {class: 'minimap', role: 'scrollbar', 'aria-label': 'Time window', 'aria-orientation': 'horizontal', 'aria-controls': 'timeline-grid', 'aria-valuemin': 0, 'aria-valuemax': 1000, 'aria-valuenow': 0, tabindex: 0}, canvas);
  let width = 1, height = 1, densities: {key: string; all: Float64Array; hit: Float64Array | null} | null = null;

  const sum = (layer: Layer): Float64Array => {
    const total = new Float64Array(width), window = whole(app.model.bounds), {slew} = app.store.state;
    const views = rank(pictures.of(layer).filter(kept => kept.window.span * 4n >= window.span * 3n), window, width, '');
    for (const track of minimapTracks(app.model.tracks))
      for (const piece of choose(views, trackKey(track, slew.get(track) ?? 0n), width))
        addCounts(piece, total);
    return total;
  };
  const refresh = () => {
    const isFiltered = app.store.state.filter !== '' && app.model.filter?.id != null;
    const latest = (layer: Layer) => pictures.of(layer).reduce((most, kept) => kept.pixels === 1024 ? Math.max(most, kept.used) : most, 0);
    const key = [width, latest('all'), isFiltered && latest('hit'), app.model.tracks.length, app.model.bounds.end, app.store.state.slew.size, app.store.state.filter].join(' ');
    if (densities?.key !== key)
      densities = {key, all: sum('all'), hit: isFiltered ? sum('hit') : null};
  };
  const base = document.createElement('canvas'); // the densities, which change less often than the window
  let drawn = '';
  const drawBase = (scale: number) => {
    const {palette} = app, all = whole(app.model.bounds), key = `${densities?.key} ${scale} ${canvas.height} ${palette.background} ${palette.loss} ${app.model.losses.length}`;
    if (key === drawn)
      return;
    drawn = key;
    base.width = canvas.width;
    base.height = canvas.height;
    const context = base.getContext('2d') as CanvasRenderingContext2D;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const bars = (counts: Float64Array, colour: string, most: number) => {
      context.fillStyle = colour;
      for (let x = 0; x < width; x++)
        if (counts[x] > 0) {
          const tall = Math.max(1, (height - 4) * Math.log2(1 + counts[x]) / most);
          context.fillRect(x, height - tall, 1, tall);
        }
    };
    if (densities) {
      const most = Math.log2(1 + densities.all.reduce((a, b) => Math.max(a, b), 1));
      bars(densities.all, css(densities.hit ? palette.muted : mix(palette.background, palette.plain, 0.6)), most);
      if (densities.hit)
        bars(densities.hit, css(palette.hues[0]), most);
    }
    context.fillStyle = css(palette.loss);
    let last = -2;
    for (const loss of app.model.losses.slice(0, 5000)) {
      const x = Math.round(placeOf(all, loss.begin, width));
      if (x > last + 1 || x < last)
        context.fillRect(x - 1, 0, 2, 7);
      last = x;
    }
  };
  const draw = (wanted: number) => {
    const scale = devicePixelRatio, context = canvas.getContext('2d') as CanvasRenderingContext2D, {palette} = app, all = whole(app.model.bounds), window = windowOf(app);
    if (wanted !== width || canvas.height !== Math.round(root.clientHeight * scale)) {
      width = Math.max(1, wanted);
      height = root.clientHeight;
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    refresh();
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    drawBase(scale);
    context.drawImage(base, 0, 0, width, height);
    const [from, to] = brush(window, all);
    context.fillStyle = css(mix(palette.background, palette.text, 0.5));
    context.globalAlpha = 0.28;
    context.fillRect(0, 0, from, height);
    context.fillRect(to, 0, width - to, height);
    context.globalAlpha = 1;
    context.strokeStyle = css(palette.hues[0]);
    context.lineWidth = 2;
    context.strokeRect(from + 1, 1, Math.max(1, to - from - 2), height - 2);
    const range = Number(all.span - window.span), now = range > 0 ? Math.round(Number(window.begin - all.begin) / range * 1000) : 0;
    set(root, {'aria-valuenow': Math.max(0, Math.min(1000, now)), 'aria-valuetext': `${shownTime(app, window.begin)} to ${shownTime(app, window.begin + window.span)}, ${durationExact(window.span)}`});
  };
  const brush = (window: Window, all: Window): [number, number] => {
    const from = placeOf(all, window.begin, width), to = placeOf(all, window.begin + window.span, width), lack = Math.max(0, LEAST_BRUSH - (to - from)) / 2;
    return [Math.max(0, from - lack), Math.min(width, to + lack)];
  };

  root.addEventListener('keydown', event => {
    const window = windowOf(app), {bounds} = app.model;
    const moved = {
      ArrowLeft: () => pan(window, -1n, 6n, bounds), ArrowRight: () => pan(window, 1n, 6n, bounds), PageUp: () => pan(window, -1n, 3n, bounds), PageDown: () => pan(window, 1n, 3n, bounds),
    }[event.key];
    if (!moved || event.ctrlKey || event.altKey)
      return;
    event.preventDefault();
    event.stopPropagation();
    setWindow(app, moved());
  });
  root.addEventListener('pointerdown', event => {
    if (event.button !== 0)
      return;
    const left = canvas.getBoundingClientRect().left, all = whole(app.model.bounds), at = event.clientX - left, start = windowOf(app), [from, to] = brush(start, all);
    const isLeft = Math.abs(at - from) <= EDGE && from > EDGE, isRight = Math.abs(at - to) <= EDGE && to < width - EDGE;
    const isInside = at >= from && at <= to, origin = isInside ? start : clip({begin: timeAt(all, at, width) - start.span / 2n, span: start.span}, app.model.bounds);
    root.setPointerCapture(event.pointerId);
    const move = (x: number) => {
      const time = timeAt(all, x, width), end = start.begin + start.span;
      if (isLeft && !(isRight && at > (from + to) / 2))
        setWindow(app, time < end ? {begin: time, span: end - time} : start, 'brush');
      else if (isRight)
        setWindow(app, time > start.begin ? {begin: start.begin, span: time - start.begin} : start, 'brush');
      else
        setWindow(app, {begin: origin.begin + timeAt(all, x, width) - timeAt(all, at, width), span: start.span}, 'brush');
    };
    if (!isInside && !isLeft && !isRight)
      move(at);
    root.onpointermove = moved => move(moved.clientX - left);
    root.onpointerup = root.onpointercancel = () => { root.onpointermove = null; };
  });
  root.addEventListener('pointermove', event => {
    const at = event.clientX - canvas.getBoundingClientRect().left, [from, to] = brush(windowOf(app), whole(app.model.bounds));
    root.style.cursor = Math.abs(at - from) <= EDGE || Math.abs(at - to) <= EDGE ? 'ew-resize' : at > from && at < to ? 'grab' : 'pointer';
  });
  return {root, draw};
}
