// SPDX-License-Identifier: MIT
// Scaling: what a row of a picture, of any window, says about each place of the window to be drawn.
import {Sampling} from './codes';
import type {Picture, ValuePicture} from './protocol';
import type {Window} from './window';

export const NO_KIND = 0xffffffff;

export class ValueColumns {
  readonly has: Uint8Array;
  readonly least: Float64Array;
  readonly most: Float64Array;
  readonly last: Float64Array;

  constructor(readonly width: number) {
    this.has = new Uint8Array(width);
    this.least = new Float64Array(width);
    this.most = new Float64Array(width);
    this.last = new Float64Array(width);
  }
  clear(): void {
    this.has.fill(0);
  }
}

/** Where the pixels of a picture lie in a window that has `width` places: pixel p begins at p * ratio + offset. */
export interface Scale {
  ratio: number;
  offset: number;
}

export function scaleOf(picture: Window, pixels: number, window: Window, width: number): Scale {
  const perPlace = Number(window.span) / width;
  return {ratio: Number(picture.span) / pixels / perPlace, offset: Number(picture.begin - window.begin) / perPlace};
}

/** The places that a picture covers, as [from, to). */
export function covered(scale: Scale, pixels: number, width: number): [number, number] {
  const from = Math.max(0, Math.ceil(scale.offset - 1e-6)), to = Math.min(width, Math.floor(scale.offset + pixels * scale.ratio + 1e-6));
  return [from, Math.max(from, to)];
}

const EPSILON = 1e-6; // edges are computed with doubles

/**
 * Calls `visit` with the cells of a piece, the places that each has something of, and the part of its count that a place has
 * which it has all of. Of a coarser picture the first and the last place may be shared with the neighbours.
 */
export function eachCell({view: {kept, scale: {ratio, offset}}, row, from, to}: Piece, visit: (cell: number, from: number, to: number, share: (place: number) => number) => void): void {
  const {start, pixel} = kept.picture as Picture, end = start[row + 1];
  for (let cell = lowerBound(pixel, start[row], end, Math.floor((from - offset) / ratio) - 1); cell < end; cell++) {
    const x = pixel[cell] * ratio + offset, first = Math.floor(x + EPSILON), last = ratio > 1 ? Math.ceil(x + ratio - EPSILON) : first + 1;
    if (first >= to)
      break;
    if (last > from)
      visit(cell, Math.max(first, from), Math.min(last, to), place => ratio > 1 ? (Math.min(place + 1, x + ratio) - Math.max(place, x)) / ratio : 1);
  }
}

/** Adds the counts of a piece to those of its places. */
export function addCounts(piece: Piece, total: Float64Array): void {
  const {count} = piece.view.kept.picture as Picture;
  eachCell(piece, (cell, from, to, share) => {
    for (let x = from; x < to; x++)
      total[x] += count[cell] * share(x);
  });
}

export function accumulateValues(picture: ValuePicture, row: number, {ratio, offset}: Scale, columns: ValueColumns, from: number, to: number): void {
  const {start, pixel, least, most, last} = picture, end = start[row + 1];
  for (let cell = lowerBound(pixel, start[row], end, Math.floor((from - offset) / ratio) - 1); cell < end; cell++) {
    const x = pixel[cell] * ratio + offset, first = Math.floor(x + EPSILON);
    if (first >= to)
      break;
    const stop = Math.min(to, ratio > 1 ? Math.ceil(x + ratio - EPSILON) : first + 1);
    for (let at = Math.max(from, first); at < stop; at++) {
      columns.least[at] = columns.has[at] ? Math.min(columns.least[at], least[cell]) : least[cell];
      columns.most[at] = columns.has[at] ? Math.max(columns.most[at], most[cell]) : most[cell];
      columns.last[at] = last[cell];
      columns.has[at] = 1;
    }
  }
}

function lowerBound(pixel: Uint32Array, low: number, high: number, wanted: number): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (pixel[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/** A picture that is kept, and what it shows. */
export interface Kept {
  window: Window;
  pixels: number;
  version: string; // of data and filter
  picture: Picture | ValuePicture;
  rows: Map<string, number>;
  densest: number; // the highest count of a cell
  sums: Float64Array; // counts of rows
  used: number; // when it came, as a number
  at: number; // … and in milliseconds
}

/** A picture as a window sees it. */
export class View {
  private found: Sampling | null = null;

  constructor(readonly kept: Kept, readonly scale: Scale, readonly from: number, readonly to: number, readonly width: number, readonly rank: number) {}

  /** How its codes are taken: the same for all rows. */
  get sampling(): Sampling {
    return this.found ??= new Sampling(this.kept, this.scale, this.width);
  }
}

/** A row of a picture that draws the places [from, to). */
export interface Piece {
  view: View;
  row: number;
  from: number;
  to: number;
}

/** The pictures that show something of a window, the best first: that whose resolution is nearest to the wanted one; of two the newer one. */
export function rank(list: readonly Kept[], window: Window, width: number, version: string): View[] {
  const views: View[] = [];
  for (const kept of list) {
    const scale = scaleOf(kept.window, kept.pixels, window, width), [from, to] = covered(scale, kept.pixels, width);
    if (from < to)
      views.push(new View(kept, scale, from, to, width, Math.abs(Math.log2(scale.ratio)) + (kept.version === version ? 0 : 0.5) + exactness(scale)));
  }
  return views.sort((a, b) => a.rank - b.rank || b.kept.used - a.kept.used);
}

/** The pieces by which a row is drawn, from left to right: for each place the best picture that has the row. They do not overlap. */
export function choose(views: readonly View[], rowKey: string, width: number): Piece[] {
  const pieces: Piece[] = [];
  let open: [number, number][] | null = null; // null: all
  for (const view of views) {
    const row = view.kept.rows.get(rowKey);
    if (row === undefined)
      continue;
    if (open === null) {
      pieces.push({view, row, from: view.from, to: view.to});
      if (view.from === 0 && view.to === width)
        return pieces;
      open = [[0, view.from], [view.to, width]].filter(([from, to]) => from < to) as [number, number][];
      continue;
    }
    const rest: [number, number][] = [];
    for (const [a, b] of open) {
      const low = Math.max(a, view.from), high = Math.min(b, view.to);
      if (low >= high) {
        rest.push([a, b]);
        continue;
      }
      pieces.push({view, row, from: low, to: high});
      if (a < low)
        rest.push([a, low]);
      if (high < b)
        rest.push([high, b]);
    }
    open = rest;
    if (open.length === 0)
      break;
  }
  return pieces.sort((a, b) => a.from - b.from);
}
/** A picture whose edges are those of the places is better than one that is moved by parts of a place. */
function exactness({ratio, offset}: Scale): number {
  return Math.abs(ratio - 1) < 1e-9 && Math.abs(offset - Math.round(offset)) < 1e-3 ? 0 : 0.01;
}
