// SPDX-License-Identifier: MIT
// The picture as a file: PNG and SVG, with names, axis and title, in the colours of the page.
import type {App} from './app';
import {clockOf, windowOf} from './app';
import type {Rgb} from './colors';
import {css, mix, toHex} from './colors';
import {visible} from './dom';
import {durationExact, fitted} from './format';
import type {Meaning} from './legend';
import {entries} from './legend';
import {SvgSurface} from './paint';
import {rulerTicks} from './ruler';

import type {Row} from './rows';
import type {Scene} from './scene';
import {Painter} from './scene';
import {placeOf} from './window';

const RULER = 22, TITLE = 22, CHARACTER = 6.5, FONT = '11px "DejaVu Sans", Arial, sans-serif';

function name(row: Row): string {
  return row.type === 'group' ? `${row.isCollapsed ? '▸' : '▾'} ${row.name}` : row.type === 'pairs' ? row.name : row.track.name;
}
function middle(row: Row): number {
  return row.y + (row.type === 'track' ? row.strip : row.height) / 2;
}
function title(app: App): string {
  return `${app.model.server?.title ?? ''} · ${durationExact(windowOf(app).span)}${app.store.state.filter ? ` · ${app.store.state.filter}` : ''}`;
}
function fileName(app: App, type: string): string {
  return `${(app.model.server?.title || 'kymo').replace(/[^\w.-]+/g, '_').slice(0, 80)}.${type}`;
}

/** What the colours mean, beside the title. */
function legend(app: App, meaning: Meaning | null): {x: number; colour: Rgb | null; text: string}[] {
  let x = 26 + title(app).length * CHARACTER;
  const items: {colour: Rgb | null; text: string}[] = meaning ? [{colour: null, text: `${meaning.name}:`}, ...entries(meaning, app.palette)] : [];
  return items.map(({colour, text}) => { const place = x; x += text.length * CHARACTER + (colour ? 28 : 8); return {x: place, colour, text}; });
}

/** Draws labels, axis and the two canvases on one. */
export function pngCanvas(app: App, scene: Scene, layers: HTMLCanvasElement[], labels: number, meaning: Meaning | null): HTMLCanvasElement {
  const {scale} = scene, {palette} = app, [first] = layers, canvas = document.createElement('canvas'), context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const width = first.width / scale, height = first.height / scale;
  canvas.width = Math.round((labels + width) * scale);
  canvas.height = Math.round((TITLE + RULER + height) * scale);
  context.scale(scale, scale);
  context.fillStyle = css(palette.background);
  context.fillRect(0, 0, labels + width, TITLE + RULER + height);
  context.font = FONT;
  context.textBaseline = 'middle';
  context.fillStyle = css(palette.text);
  context.fillText(title(app), 6, TITLE / 2);
  for (const {x, colour, text} of legend(app, meaning)) {
    if (colour) {
      context.fillStyle = css(colour);
      context.fillRect(x, TITLE / 2 - 5, 10, 10);
      context.fillStyle = css(palette.text);
    }
    context.fillText(visible(text), colour ? x + 14 : x, TITLE / 2);
  }
  const {ticks, labels: texts} = rulerTicks(windowOf(app), width, app.store.state.clock, clockOf(app));
  ticks.times.forEach((time, i) => {
    const x = labels + placeOf(windowOf(app), time, width);
    context.fillRect(x, TITLE + RULER - 6, 1, 6);
    context.fillText(texts[i], x + 4, TITLE + RULER / 2);
  });
  for (const layer of layers)
    context.drawImage(layer, labels, TITLE + RULER, width, height);
  context.save();
  context.beginPath();
  context.rect(0, TITLE + RULER, labels - 6, height);
  context.clip();
  for (const row of scene.rows)
    if (row.height >= 9)
      context.fillText(name(row), 6 + row.level * 12, TITLE + RULER + middle(row) - scene.top);
  context.restore();
  return canvas;
}

const ESCAPES: {[character: string]: string} = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'};
/** Text of a trace inside of XML: control characters, which XML forbids, become U+FFFD. */
export function xml(text: string): string {
  return text.replace(/[&<>"]/g, character => ESCAPES[character]).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}

/** The ruler, the marks A and B: as the page draws them over the picture. */
function overlay(app: App, width: number, height: number): string[] {
  const {selection, markA, markB} = app.store.state, {palette} = app, window = windowOf(app), place = (time: bigint) => Math.max(0, Math.min(width, placeOf(window, time, width)));
  const isSeen = (time: bigint) => time >= window.begin && time <= window.begin + window.span, blue = toHex(palette.hues[0]), ink = toHex(palette.text);
  const line = (time: bigint, colour: string, dash: string) => isSeen(time) ? `<path d="M${place(time).toFixed(1)} 0V${height}" stroke="${colour}"${dash && ` stroke-dasharray="${dash}"`}/>` : '';
  const text = (x: number, y: number, content: string) => `<text x="${x.toFixed(1)}" y="${y}" fill="${ink}">${xml(content)}</text>`;
  const parts: string[] = [];
  if (selection && selection.end > window.begin && selection.begin < window.begin + window.span) {
    const from = place(selection.begin), to = place(selection.end);
    parts.push(`<rect x="${from.toFixed(1)}" y="0" width="${Math.max(1, to - from).toFixed(1)}" height="${height}" fill="${blue}" fill-opacity="0.12"/>`, line(selection.begin, blue, ''), line(selection.end, blue, ''),
      text((from + to) / 2, 14, durationExact(selection.end - selection.begin)));
  }
  for (const [name, mark, dash] of [['A', markA, '6 3'], ['B', markB, '2 3']] as const)
    if (mark !== null && isSeen(mark))
      parts.push(line(mark, ink, dash), text(place(mark) + 3, 26, name));
  return parts;
}

export function svgText(app: App, scene: Scene, width: number, height: number, labels: number): string {
  const {palette} = app, surface = new SvgSurface(Math.round(width), Math.round(height)), flat = {...scene, scale: 1}, painter = new Painter(surface.width), {texts} = painter.paint(surface, flat);
  const {ticks, labels: times} = rulerTicks(windowOf(app), width, app.store.state.clock, clockOf(app)), top = TITLE + RULER;
  const text = (x: number, y: number, content: string, fill: string, clip = '') => `<text x="${x.toFixed(1)}" y="${(y + 4).toFixed(1)}" fill="${fill}"${clip}>${xml(content)}</text>`;
  const soft = toHex(mix(palette.text, palette.background, 0.25)), ink = toHex(palette.text);
  const fit = (content: string, room: number) => fitted(content, room, part => part.length * CHARACTER);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${labels + width}" height="${top + height}" viewBox="0 0 ${labels + width} ${top + height}" font-family="DejaVu Sans, Arial, sans-serif" font-size="11">`,
    `<title>${xml(title(app))}</title>`,
    `<rect width="100%" height="100%" fill="${toHex(palette.background)}"/>`,
    text(6, TITLE / 2, title(app), ink),
    ...legend(app, painter.legend).map(({x, colour, text: words}) => `${colour ? `<rect x="${x}" y="${TITLE / 2 - 5}" width="10" height="10" fill="${toHex(colour)}"/>` : ''}${text(colour ? x + 14 : x, TITLE / 2, words, ink)}`),
    ...ticks.times.map((time, i) => { const x = labels + placeOf(windowOf(app), time, width); return `<path d="M${x.toFixed(1)} ${top - 6}v6" stroke="${soft}"/>${text(x + 4, TITLE + RULER / 2, times[i], soft)}`; }),
    `<g transform="translate(${labels} ${top})">`, ...surface.parts,
    ...texts.map(item => text(item.x, item.y, fit(item.text, item.width), item.colour ? toHex(item.colour) : ink)),
    ...overlay(app, width, height),
    '</g>',
    ...scene.rows.filter(row => row.height >= 9).map(row => text(6 + row.level * 12, top + middle(row) - scene.top, fit(name(row), labels - 10 - row.level * 12), ink)),
    '</svg>', '',
  ].join('\n');
}
export {fileName};
