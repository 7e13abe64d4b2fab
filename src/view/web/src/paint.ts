// SPDX-License-Identifier: MIT
// Drawing of rows on a surface: the pixels of the canvas, or an SVG file. Places and heights are device pixels.
import {LOGS, LOG_PARTS, kindOf, logOf} from './codes';
import type {ValueColumns} from './columns';
import type {Palette, Rgb} from './colors';
import {SHADES, hash, luminance, mix, pixel, shades, toHex} from './colors';

export interface Surface {
  readonly width: number;
  readonly height: number;
  /** Fills lines y … y + height - 1 of the places [from, to). */
  fill(from: number, to: number, y: number, height: number, colour: number): void;
  /** Bars that stand on line y + height, over what is there. */
  bars(y: number, height: number, heights: Uint16Array, colours: Uint32Array): void;
  /** The same colours in each line; colour 0 is none. isOpaque: there is none of that. */
  band(y: number, height: number, colours: Uint32Array, isOpaque: boolean): void;
  /** Whether nothing is drawn from line y on. */
  isPlain(y: number): boolean;
  /** From the upper to the lower line at each place; upper > lower: nothing. */
  between(upper: Int32Array, lower: Int32Array, colour: number): void;
  hatch(from: number, to: number, y: number, height: number, colour: number, background: number): void;
}

export class PixelSurface implements Surface {
  readonly data: Uint32Array;
  readonly image: ImageData;
  private background = 0;
  private drawn = 0; // lines before this one are not plain background any more
  private wiped = 0; // lines before this one do not have pixels of an earlier picture any more
  private head: Int32Array; // bars by height: the first place of each, …
  private next: Int32Array; // … and the next one of the same height

  /** A surface for the pixels of a canvas. Rows are drawn from top to bottom. */
  constructor(readonly width: number, readonly height: number) {
    this.image = new ImageData(width, height);
    this.data = new Uint32Array(this.image.data.buffer);
    this.head = new Int32Array(256);
    this.next = new Int32Array(width);
  }

  /** Begins a picture: what nothing is drawn on gets the background. */
  begin(background: number): void {
    this.background = background;
    this.drawn = this.wiped = 0;
  }
  finish(): void {
    this.wipe(this.height);
  }
  private wipe(end: number): void {
    if (end > this.wiped)
      this.data.fill(this.background, this.wiped * this.width, end * this.width);
    this.wiped = Math.max(this.wiped, end);
  }
  isPlain(y: number): boolean {
    return Math.max(0, y) >= this.drawn;
  }
  fill(from: number, to: number, y: number, height: number, colour: number): void {
    const {width, data} = this, low = Math.max(0, from), high = Math.min(width, to);
    if (low >= high)
      return;
    for (let line = Math.max(0, y), end = this.draws(y, height); line < end; line++)
      data.fill(colour, line * width + low, line * width + high);
  }
  bars(y: number, height: number, heights: Uint16Array, colours: Uint32Array): void {
    const {width, data} = this, isPlain = this.isPlain(y), top = Math.max(0, y), bottom = this.draws(y, height) - 1;
    if (isPlain && height < this.head.length && top <= bottom)
      return this.plainBars(y + height, top, bottom, heights, colours);
    const {next} = this; // the places of bars that reach the line
    let left = 0;
    for (let x = 0; x < width; x++)
      if (heights[x] >= y + height - bottom)
        next[left++] = x;
    for (let line = bottom; line >= top; line--) {
      const least = y + height - line, at = line * width, before = left;
      left = 0;
      for (let i = 0; i < before; i++) {
        const x = next[i];
        if (heights[x] >= least) {
          data[at + x] = colours[x];
          next[left++] = x;
        }
      }
    }
  }
  /** On plain background a line is the one below it without the bars that end there. */
  private plainBars(foot: number, top: number, bottom: number, heights: Uint16Array, colours: Uint32Array): void {
    const {width, data, background, head, next} = this, least = foot - bottom, most = foot - top;
    let left = 0;
    head.fill(-1, 0, most + 1);
    for (let x = 0, at = bottom * width; x < width; x++) {
      const tall = heights[x];
      if (tall < least)
        continue;
      data[at + x] = colours[x];
      left++;
      if (tall < most) {
        next[x] = head[tall];
        head[tall] = x;
      }
    }
    for (let tall = least; tall < most && left > 0; tall++) {
      const below = (foot - tall) * width, at = below - width;
      data.copyWithin(at, below, below + width);
      for (let x = head[tall]; x >= 0; x = next[x]) {
        data[at + x] = background;
        left--;
      }
    }
  }
  band(y: number, height: number, colours: Uint32Array, isOpaque: boolean): void {
    const {width, data} = this, first = Math.max(0, y);
    if (isOpaque && first < Math.min(this.height, y + height)) { // these lines need no background
      this.wipe(first);
      this.wiped = Math.max(this.wiped, Math.min(this.height, y + height));
    }
    for (let line = first, end = this.draws(y, height); line < end; line++) {
      if (isOpaque) {
        data.set(colours, line * width);
        continue;
      }
      for (let x = 0, at = line * width; x < width; x++)
        if (colours[x] !== 0)
          data[at + x] = colours[x];
    }
  }
  /** Notes that lines are drawn on. Returns the end of those that are on the surface. */
  private draws(y: number, height: number): number {
    const end = Math.max(0, Math.min(this.height, y + height));
    this.drawn = Math.max(this.drawn, end);
    this.wipe(end);
    return end;
  }
  between(upper: Int32Array, lower: Int32Array, colour: number): void {
    const {width, height, data} = this;
    this.draws(0, 1 + lower.reduce((most, line) => line > most ? line : most, -1));
    for (let x = 0; x < width; x++)
      for (let line = Math.max(0, upper[x]), end = Math.min(height - 1, lower[x]); line <= end; line++)
        data[line * width + x] = colour;
  }
  hatch(from: number, to: number, y: number, height: number, colour: number, background: number): void {
    const {width, data} = this, low = Math.max(0, from), high = Math.min(width, to);
    for (let line = Math.max(0, y), end = this.draws(y, height); line < end; line++)
      for (let x = low; x < high; x++)
        data[line * width + x] = ((x + line) & 7) < 3 || x === from || x === to - 1 ? colour : background;
  }
}

/** Makes the elements of an SVG picture. */
export class SvgSurface implements Surface {
  readonly parts: string[] = [];

  constructor(readonly width: number, readonly height: number) {}

  isPlain(): boolean {
    return false;
  }
  fill(from: number, to: number, y: number, height: number, colour: number): void {
    const low = Math.max(0, from), high = Math.min(this.width, to), top = Math.max(0, y), bottom = Math.min(this.height, y + height);
    if (low < high && top < bottom)
      this.parts.push(`<rect x="${low}" y="${top}" width="${high - low}" height="${bottom - top}" fill="${colourText(colour)}"/>`);
  }
  bars(y: number, height: number, heights: Uint16Array, colours: Uint32Array): void {
    this.runs(x => heights[x] === 0 ? 0 : colours[x], (a, b) => heights[a] === heights[b], (from, to, colour) => this.fill(from, to, y + height - heights[from], heights[from], colour));
  }
  band(y: number, height: number, colours: Uint32Array): void {
    this.runs(x => colours[x], () => true, (from, to, colour) => this.fill(from, to, y, height, colour));
  }
  between(upper: Int32Array, lower: Int32Array, colour: number): void {
    this.runs(x => upper[x] > lower[x] ? 0 : colour, (a, b) => upper[a] === upper[b] && lower[a] === lower[b], (from, to) => this.fill(from, to, upper[from], lower[from] - upper[from] + 1, colour));
  }
  hatch(from: number, to: number, y: number, height: number, colour: number, background: number): void {
    this.fill(from, to, y, height, background);
    for (let x = from; x < to; x += 8) {
      const end = Math.min(to, x + height);
      this.parts.push(`<path d="M${x} ${y + height}L${end} ${y + height - (end - x)}" stroke="${colourText(colour)}" stroke-width="2"/>`);
    }
    this.parts.push(`<path d="M${from} ${y}v${height}M${to} ${y}v${height}" stroke="${colourText(colour)}"/>`);
  }
  private runs(colourAt: (x: number) => number, isSame: (a: number, b: number) => boolean, emit: (from: number, to: number, colour: number) => void): void {
    for (let x = 0; x < this.width;) {
      const from = x++, colour = colourAt(from);
      while (x < this.width && colourAt(x) === colour && isSame(from, x))
        x++;
      if (colour !== 0)
        emit(from, x, colour);
    }
  }
}

function colourText(colour: number): string {
  return toHex([colour & 255, colour >> 8 & 255, colour >> 16 & 255]);
}

/** Colours of kinds and tracks as pixels, for one palette. */
export class Inks {
  readonly background: number;
  readonly line: number;
  readonly group: number;
  readonly loss: number;
  readonly lossBack: number;
  readonly muted: Uint32Array;
  readonly plain: Uint32Array;
  readonly selected: Uint32Array;
  readonly band: number;
  readonly stroke: number;
  private readonly hues: Uint32Array[];
  private readonly fills: Rgb[];
  private readonly edges: Uint32Array;
  private readonly pales: Uint32Array;
  private names = new Map<string, number>();

  constructor(readonly palette: Palette) {
    const {background, text} = palette;
    this.background = pixel(background);
    this.line = pixel(mix(background, text, 0.11));
    this.group = pixel(mix(background, text, 0.05));
    this.loss = pixel(palette.loss);
    this.lossBack = pixel(mix(background, palette.loss, 0.16));
    this.muted = shades(palette.muted, background);
    this.plain = shades(palette.plain, background);
    this.selected = shades(palette.selected, background);
    this.band = pixel(mix(background, palette.hues[0], 0.35));
    this.stroke = pixel(palette.hues[0]);
    this.hues = palette.hues.map(hue => shades(hue, background));
    this.fills = palette.hues.map(hue => mix(background, hue, luminance(background) < 0.5 ? 0.72 : 0.88));
    this.pales = Uint32Array.from(palette.hues, hue => pixel(mix(background, hue, 0.3)));
    this.edges = Uint32Array.from(palette.hues, hue => pixel(mix(hue, luminance(background) < 0.5 ? background : text, 0.5)));
  }
  private hue(name: string): number {
    let at = this.names.get(name);
    if (at === undefined)
      this.names.set(name, at = hash(name) % this.hues.length);
    return at;
  }
  shadesOf(name: string): Uint32Array {
    return this.hues[this.hue(name)];
  }
  solid(name: string): number {
    return pixel(this.rgb(name));
  }
  /** Of spans while a filter is at work on the events. */
  pale(name: string): number {
    return this.pales[this.hue(name)];
  }
  edge(name: string): number {
    return this.edges[this.hue(name)];
  }
  /** The colour of a span: large areas are softer than lines. */
  rgb(name: string): Rgb {
    return this.fills[this.hue(name)];
  }
}

/** Buffers of one row, used again and again. */
export class RowBuffers {
  readonly heights: Uint16Array;
  readonly colours: Uint32Array;
  readonly upper: Int32Array;
  readonly lower: Int32Array;

  constructor(readonly width: number) {
    this.heights = new Uint16Array(width);
    this.colours = new Uint32Array(width);
    this.upper = new Int32Array(width);
    this.lower = new Int32Array(width);
  }
}

const LEAST_PART = 0.38; // of the strip: the height of a single event

/** Shades by kind, one after the other, so that a picture element is one look-up; then those of other kinds. */
export class Shades {
  readonly all: Uint32Array;

  constructor(kinds: readonly Uint32Array[], other: Uint32Array) {
    this.all = new Uint32Array((kinds.length + 1) * SHADES);
    kinds.forEach((shades, kind) => this.all.set(shades, kind * SHADES));
    this.all.set(other, kinds.length * SHADES);
  }
}

/** Height and shade of a bar by the logarithm of its count. `densest` is the count of a full bar. */
export class Levels {
  readonly tall = new Uint16Array(LOGS);
  readonly shade = new Uint8Array(LOGS);

  constructor(readonly height: number, readonly densest: number) {
    const full = LOG_PARTS * Math.log2(1 + Math.max(1, densest)), least = height * LEAST_PART;
    for (let log = 0; log < this.tall.length; log++) {
      const level = Math.min(1, log / full);
      this.tall[log] = Math.max(1, Math.round(least + (height - least) * level));
      this.shade[log] = Math.min(SHADES - 1, Math.floor(level * SHADES));
    }
  }
}

/** Density: height and shade grow with the logarithm of the count. */
export function paintEvents(surface: Surface, y: number, codes: Uint32Array, {tall, shade, height}: Levels, {all}: Shades, {heights, colours}: RowBuffers): void {
  const other = all.length / SHADES - 1;
  for (let x = 0; x < codes.length; x++) {
    const code = codes[x];
    if (code === 0) {
      heights[x] = 0;
      continue;
    }
    const log = logOf(code), kind = kindOf(code);
    heights[x] = tall[log];
    colours[x] = all[(kind < other ? kind : other) * SHADES + shade[log]];
  }
  surface.bars(y, height, heights, colours);
}

/** A field: a band from the least to the most value, and a line through the last values. */
export function paintValues(surface: Surface, y: number, height: number, columns: ValueColumns, least: number, most: number, band: number, stroke: number, buffers: RowBuffers): void {
  const {upper, lower} = buffers, {has, width} = columns, range = most > least ? most - least : 1;
  const lineOf = (value: number) => y + height - 2 - Math.round((value - least) / range * (height - 4));
  for (let x = 0; x < width; x++) {
    upper[x] = has[x] ? lineOf(columns.most[x]) : 1;
    lower[x] = has[x] ? lineOf(columns.least[x]) : 0;
  }
  surface.between(upper, lower, band);
  let before = -1;
  for (let x = 0; x < width; x++) {
    if (!has[x]) {
      upper[x] = lower[x] = before < 0 ? -1 : before; // a value holds until the next
      continue;
    }
    const now = lineOf(columns.last[x]);
    upper[x] = before < 0 ? now : Math.min(now, before);
    lower[x] = before < 0 ? now : Math.max(now, before);
    before = now;
  }
  for (let x = 0; x < width && upper[x] < 0; x++) {
    upper[x] = 1;
    lower[x] = 0;
  }
  surface.between(upper, lower, stroke);
}
