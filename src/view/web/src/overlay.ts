// SPDX-License-Identifier: MIT
// What lies over the picture, on a canvas of its own: names, the ruler, marks, lines to the boxes, frames around events.
import type {App} from './app';
import {shownAt, windowOf} from './app';
import type {Anchor} from './boxes';
import {css, mix} from './colors';
import {visible} from './dom';
import {durationExact, fitted} from './format';
import type {Gestures} from './gestures';
import type {Inks} from './paint';
import type {EventDetail} from './protocol';
import type {TrackRow} from './rows';
import type {Text} from './scene';
import {placeOf} from './window';

const FONT = '11px system-ui, "DejaVu Sans", sans-serif';

/** The timeline, as the overlay sees it. Places and sizes are CSS pixels of the picture. */
export interface OverlayScene {
  app: App;
  inks: Inks;
  width: number;
  height: number;
  top: number; // place of the list at the upper edge
  pointer: {x: number; y: number} | null;
  fence: Gestures['fence'];
  trackRows: ReadonlyMap<number, TrackRow>;
  detail(number: number): EventDetail | null;
  /** The middle of a track's events; null: they are not seen. */
  middleOf(track: number): number | null;
}

export function drawOverlay(canvas: HTMLCanvasElement, scene: OverlayScene, texts: readonly Text[], anchors: readonly Anchor[]): void {
  const {app, height} = scene, {state} = app.store, scale = devicePixelRatio, context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = FONT;
  context.textBaseline = 'middle';
  drawTexts(context, app, texts, scale);
  drawSelection(context, scene);
  const ink = css(app.palette.text);
  if (state.markA !== null) timeLine(context, scene, state.markA, ink, [6, 3]);
  if (state.markB !== null) timeLine(context, scene, state.markB, ink, [2, 3]);
  drawOverwritten(context, scene);
  drawFence(context, scene);
  if (scene.pointer && !scene.fence) {
    context.strokeStyle = css(mix(app.palette.text, app.palette.background, 0.6));
    stroke(context, Math.round(scene.pointer.x) + 0.5, 0, Math.round(scene.pointer.x) + 0.5, height);
  }
  drawAnchors(context, anchors, ink);
  drawMarker(context, scene, state.event, ink, '');
  if (state.found !== null && !state.boxes.includes(state.found))
    drawMarker(context, scene, state.found, css(app.palette.selected), 'SEARCH RESULT');
  const row = state.focus === null ? undefined : scene.trackRows.get(state.focus);
  if (row) {
    context.fillStyle = css(scene.inks.palette.hues[0]);
    context.fillRect(0, row.y - scene.top, 2, row.height);
  }
}

function drawTexts(context: CanvasRenderingContext2D, {palette}: App, texts: readonly Text[], scale: number): void {
  const ink = css(palette.text), widthOf = (text: string) => context.measureText(text).width;
  for (const text of texts) {
    const fits = fitted(visible(text.text), text.width / scale, widthOf);
    if (!fits)
      continue;
    context.fillStyle = text.colour ? css(text.colour) : ink;
    context.fillText(fits, text.x / scale, text.y / scale);
  }
}

function stroke(context: CanvasRenderingContext2D, fromX: number, fromY: number, toX: number, toY: number): void {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}

/** A line through all rows. */
function timeLine(context: CanvasRenderingContext2D, {app, width, height}: OverlayScene, time: bigint, colour: string, dash: number[]): void {
  const x = Math.round(placeOf(windowOf(app), time, width)) + 0.5;
  if (x < 0 || x > width)
    return;
  context.strokeStyle = colour;
  context.setLineDash(dash);
  stroke(context, x, 0, x, height);
  context.setLineDash([]);
}

/** The ruler. */
function drawSelection(context: CanvasRenderingContext2D, scene: OverlayScene): void {
  const {app, width, height} = scene, {selection} = app.store.state, window = windowOf(app), colour = css(app.palette.hues[0]);
  if (!selection)
    return;
  const from = placeOf(window, selection.begin, width), to = placeOf(window, selection.end, width);
  context.fillStyle = colour;
  context.globalAlpha = 0.12;
  context.fillRect(from, 0, Math.max(1, to - from), height);
  context.globalAlpha = 1;
  timeLine(context, scene, selection.begin, colour, []);
  timeLine(context, scene, selection.end, colour, []);
  drawTag(context, scene, durationExact(selection.end - selection.begin), (Math.max(0, from) + Math.min(width, to)) / 2, 12);
}

/** Before this line the rings of a program have overwritten the fields of events, at least those of some threads. */
function drawOverwritten(context: CanvasRenderingContext2D, scene: OverlayScene): void {
  const {app, width, height} = scene, before = app.model.server?.overwrittenBefore ?? null, text = 'overwritten before';
  if (before === null)
    return;
  const x = placeOf(windowOf(app), before, width);
  if (x < 0 || x > width)
    return;
  timeLine(context, scene, before, css(mix(app.palette.text, app.palette.background, 0.4)), [3, 3]);
  drawTag(context, scene, text, x - context.measureText(text).width / 2 - 8, height - 12);
}

/** The window that a drag zooms to. */
function drawFence(context: CanvasRenderingContext2D, scene: OverlayScene): void {
  const {app, width, height, fence} = scene, {palette} = app, window = windowOf(app);
  if (fence?.mode !== 'zoom')
    return;
  const [a, b] = [placeOf(window, fence.from, width), placeOf(window, fence.to, width)].sort((x, y) => x - y);
  context.fillStyle = css(mix(palette.background, palette.text, 0.5));
  context.globalAlpha = 0.35;
  context.fillRect(0, 0, a, height);
  context.fillRect(b, 0, width - b, height);
  context.globalAlpha = 1;
  drawTag(context, scene, `Zoom to ${durationExact(fence.to > fence.from ? fence.to - fence.from : fence.from - fence.to)} · Esc cancels`, (a + b) / 2, app.store.state.selection ? 34 : 12);
}

/** Lines from events and spans to their boxes. */
function drawAnchors(context: CanvasRenderingContext2D, anchors: readonly Anchor[], ink: string): void {
  context.strokeStyle = ink;
  for (const anchor of anchors) {
    stroke(context, anchor.x, anchor.y, anchor.boxX, anchor.boxY);
    context.beginPath();
    context.arc(anchor.x, anchor.y, 3, 0, 7);
    context.fillStyle = ink;
    context.fill();
  }
}

/** A frame around an event. */
function drawMarker(context: CanvasRenderingContext2D, scene: OverlayScene, number: number | null, colour: string, text: string): void {
  const {app, width} = scene, detail = number === null ? null : scene.detail(number);
  if (!detail || app.store.state.kindsOff.includes(detail.name))
    return;
  const x = placeOf(windowOf(app), shownAt(app, detail), width), y = scene.middleOf(detail.track), row = scene.trackRows.get(detail.track);
  if (y === null || !row || x < -1 || x > width + 1)
    return;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(x - 3, y - row.strip / 2, 7, row.strip);
  context.lineWidth = 1;
  if (text)
    drawTag(context, scene, text, x, y - row.strip / 2 - 9 < 6 ? y + row.strip / 2 + 9 : y - row.strip / 2 - 9);
}

/** A text on a ground of its own, around a place. */
function drawTag(context: CanvasRenderingContext2D, {app: {palette}, width}: OverlayScene, text: string, x: number, y: number): void {
  const size = context.measureText(text).width + 10, left = Math.max(1, Math.min(width - size - 1, x - size / 2));
  context.fillStyle = css(palette.text);
  context.fillRect(left, y - 9, size, 18);
  context.fillStyle = css(palette.background);
  context.fillText(text, left + 5, y);
}
