// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import {SpanColours, isSingle, kindOf, logOf, runs, take, takeColours} from '../src/codes';
import type {Kept} from '../src/columns';
import {View, ValueColumns, accumulateValues, addCounts, choose, covered, eachCell, rank, scaleOf} from '../src/columns';
import {Levels, PixelSurface, RowBuffers, Shades, SvgSurface, paintEvents} from '../src/paint';
import type {Picture, ValuePicture} from '../src/protocol';
import {parsePicture, writePicture} from '../src/protocol';
import {PictureSum} from '../src/sums';
import type {Window} from '../src/window';

type Cells = [pixel: number, count: number, longest: number, kind: number][];
const tile = (pixels: number, ...rows: Cells[]) => parsePicture(writePicture(0, 1, pixels, rows.map(cells => cells.map(([pixel, count, longest, kind]) => ({pixel, doubles: [count, longest], words: [kind, 0, 0]}))))) as Picture;
const spanTile = (pixels: number, ...rows: Cells[]) => parsePicture(writePicture(1, 1, pixels, rows.map(cells => cells.map(([pixel, count, longest, kind]) => ({pixel, doubles: [count, longest], words: [kind, 0, 0]}))))) as Picture;
const keep = (window: Window, pixels: number, picture: Picture, version = '1', used = 1): Kept => ({window, pixels, picture, version, rows: new Map([['0', 0]]), densest: picture.count.reduce((a, b) => Math.max(a, b), 1), sums: new Float64Array(1), used, at: 0});
const pieceOf = (picture: Picture, shown: Window, pixels: number, window: Window, width: number) => {
  const scale = scaleOf(shown, pixels, window, width), [from, to] = covered(scale, pixels, width);
  return {view: new View(keep(shown, pixels, picture), scale, from, to, width, 0), row: 0, from, to};
};
const codesOf = (...args: Parameters<typeof pieceOf>) => {
  const codes = new Uint32Array(args[4]);
  return take([pieceOf(...args)], codes) ? codes : new Uint32Array(args[4]);
};
const totals = (...args: Parameters<typeof pieceOf>) => {
  const total = new Float64Array(args[4]);
  addCounts(pieceOf(...args), total);
  return total;
};
const counts = (codes: Uint32Array) => [...codes].map(code => code === 0 ? 0 : Math.round(2 ** (logOf(code) / 16) - 1));

describe('scaling of pictures', () => {
  const cells: Cells = [[0, 4, 5, 1], [3, 2, 50, 2], [9, 1, 1, 3]], window = {begin: 1000n, span: 100n};
  it('keeps an exact picture as it is', () => {
    const codes = codesOf(tile(10, cells), window, 10, window, 10);
    expect(counts(codes)).toEqual([4, 0, 0, 2, 0, 0, 0, 0, 0, 1]);
    expect(kindOf(codes[3])).toBe(2);
    expect([...totals(tile(10, cells), window, 10, window, 10)]).toEqual([4, 0, 0, 2, 0, 0, 0, 0, 0, 1]);
  });
  it('moves by whole places', () => {
    expect(counts(codesOf(tile(10, cells), window, 10, {begin: 1020n, span: 100n}, 10))).toEqual([0, 2, 0, 0, 0, 0, 0, 1, 0, 0]);
    expect(counts(codesOf(tile(10, cells), window, 10, {begin: 980n, span: 100n}, 10))).toEqual([0, 0, 4, 0, 0, 2, 0, 0, 0, 0]);
  });
  it('sums a finer picture: no event is lost, and the kind is that of the longest', () => {
    const finer = tile(10, [[0, 4, 5, 1], [1, 6, 50, 2], [2, 1, 9, 3], [9, 7, 1, 4]]), codes = codesOf(finer, window, 10, window, 5);
    expect(counts(codes)).toEqual([10, 1, 0, 0, 7]);
    expect(kindOf(codes[0])).toBe(2);
    expect([...totals(finer, window, 10, window, 5)]).toEqual([10, 1, 0, 0, 7]);
  });
  it('spreads a coarser picture: the sum stays', () => {
    expect(totals(tile(10, cells), window, 10, window, 40).reduce((a, b) => a + b)).toBeCloseTo(7);
    expect(counts(codesOf(tile(10, cells), window, 10, window, 40)).slice(0, 5)).toEqual([1, 1, 1, 1, 0]);
  });
  it('never writes outside, at any zoom', () => {
    for (const span of [1n, 3n, 7n, 99n, 1000n, 10n ** 15n])
      for (const begin of [-5000n, 990n, 1000n, 1037n, 1099n, 10n ** 16n])
        expect(totals(tile(10, cells), window, 10, {begin, span}, 17).reduce((a, b) => a + b)).toBeLessThanOrEqual(7 + 1e-9);
  });
  it('draws each pixel that the window has a part of, at any zoom and place', () => {
    for (const span of [3, 10, 17, 31, 59, 100, 170, 200, 390])
      for (let begin = -span + 1; begin < 100; begin += span < 50 ? 3 : 17)
        for (let pixel = 0; pixel < 10; pixel++) {
          const low = Math.max(begin, pixel * 10), high = Math.min(begin + span, pixel * 10 + 10); // what is seen of it
          const args = [{begin: 0n, span: 100n}, 10, {begin: BigInt(begin), span: BigInt(span)}, 17] as const;
          const [from, to] = covered(scaleOf(args[0], 10, args[2], 17), 10, 17), place = span / 17;
          if (Math.max(low, begin + from * place) < Math.min(high, begin + to * place) - 1e-3) {
            expect(codesOf(tile(10, [[pixel, 1, 1, 1]]), ...args).some(code => code !== 0), `${begin} ${span} ${pixel}`).toBe(true);
            expect(takeColours([pieceOf(spanTile(10, [[pixel, 1, 1, 1]]), ...args)], new SpanColours(0, [1, 2], [3, 4]), new Uint32Array(17))).toBe(true);
          }
        }
  });
  it('knows single events', () => {
    expect([...codesOf(tile(4, [[0, 1, 1, 0], [1, 2, 1, 0]]), window, 4, window, 4)].map(isSingle)).toEqual([true, false, false, false]);
  });
  it('visits the cells of one place', () => {
    const found: number[] = [];
    eachCell({...pieceOf(tile(10, cells), window, 10, window, 5), from: 1, to: 2}, cell => found.push(cell));
    expect(found).toEqual([1]);
  });
  it('keeps least, most and last of values', () => {
    const picture = parsePicture(writePicture(2, 1, 4, [[{pixel: 0, doubles: [1, -3, 5, 2], words: []}, {pixel: 1, doubles: [1, -4, 1, 0], words: []}]])) as ValuePicture, columns = new ValueColumns(2);
    accumulateValues(picture, 0, scaleOf(window, 4, window, 2), columns, 0, 2);
    expect([columns.least[0], columns.most[0], columns.last[0], columns.has[1]]).toEqual([-4, 5, 0, 0]);
  });
});

describe('the choice of pictures', () => {
  const all = {begin: 0n, span: 1000n}, near = {begin: 100n, span: 100n}, window = {begin: 150n, span: 100n};
  it('prefers the one whose resolution fits, and fills the rest with others: never a gap', () => {
    const overview = keep(all, 100, tile(100, [[12, 1, 1, 1]])), exact = keep(near, 100, tile(100, [[60, 1, 1, 1]]));
    const pieces = choose(rank([overview, exact], window, 100, '1'), '0', 100);
    expect(pieces.map(piece => [piece.view.kept === exact, piece.from, piece.to])).toEqual([[true, 0, 50], [false, 50, 100]]);
    expect(choose(rank([overview], window, 100, '1'), '0', 100).map(piece => [piece.from, piece.to])).toEqual([[0, 100]]);
  });
  it('prefers the newer of two, and an old one of the right size to a coarse new one', () => {
    const old = keep(window, 100, tile(100, []), '1', 1), fresh = keep(window, 100, tile(100, []), '2', 2), coarse = keep(all, 100, tile(100, []), '2', 3);
    expect(choose(rank([old, coarse, fresh], window, 100, '2'), '0', 100)[0].view.kept).toBe(fresh);
    expect(choose(rank([old, coarse], window, 100, '2'), '0', 100)[0].view.kept).toBe(old);
  });
  it('knows no pictures of other rows', () => {
    expect(choose(rank([keep(all, 100, tile(100, []))], window, 100, '1'), '1', 100)).toEqual([]);
  });
});

describe('spans', () => {
  const cells: Cells = [[0, 1, 40, 1], [1, 0, 40, 1], [2, 0, 40, 1], [3, 1, 40, 1], [4, 0, 40, 1], [5, 1, 9, 2], [8, 1, 5, 1]], window = {begin: 0n, span: 10n};
  it('have runs that end where another span begins', () => {
    const codes = codesOf(spanTile(10, cells), window, 10, window, 10);
    expect(runs(codes, 1)).toEqual([{from: 0, to: 3, kind: 1}, {from: 3, to: 5, kind: 1}, {from: 5, to: 6, kind: 2}, {from: 8, to: 9, kind: 1}]);
    expect(runs(codes, 3)).toEqual([{from: 0, to: 3, kind: 1}]);
  });
  it('have an edge where one begins that goes on, once at each zoom', () => {
    const colours = new Uint32Array(10), from = new SpanColours(7, [10, 11, 12], [20, 21, 22]);
    expect(takeColours([pieceOf(spanTile(10, cells), window, 10, window, 10)], from, colours)).toBe(true);
    expect([...colours]).toEqual([21, 11, 11, 21, 11, 12, 7, 7, 11, 7]);
    takeColours([pieceOf(spanTile(10, cells), window, 10, {begin: 0n, span: 5n}, 10)], from, colours);
    expect([...colours]).toEqual([21, 11, 11, 11, 11, 11, 21, 11, 11, 11]);
  });
  it('of kinds that are not known yet are not drawn', () => {
    const colours = new Uint32Array(10);
    takeColours([pieceOf(spanTile(10, cells), window, 10, window, 10)], new SpanColours(0, [10], [20]), colours);
    expect([...colours]).toEqual(Array(10).fill(0));
  });
});

describe('pixels', () => {
  const WIDTH = 23;
  globalThis.ImageData ??= class { data: Uint8ClampedArray; constructor(width: number, height: number) { this.data = new Uint8ClampedArray(4 * width * height); } } as unknown as typeof ImageData;
  const heights = Uint16Array.from({length: WIDTH}, (_, x) => x * 7 % 12), colours = Uint32Array.from({length: WIDTH}, (_, x) => 100 + x);
  /** What bars are to look like. */
  const expected = (below: (x: number, line: number) => number, y: number, height: number) => Array.from({length: WIDTH * 20}, (_, i) => {
    const x = i % WIDTH, line = Math.floor(i / WIDTH);
    return line >= y && line < y + height && y + height - line <= heights[x] ? colours[x] : below(x, line);
  });
  it('bars on plain background and over others, also in part above and below the picture', () => {
    for (const y of [-4, 0, 3, 12, 16]) {
      const surface = new PixelSurface(WIDTH, 20);
      surface.data.fill(999); // of an earlier picture
      surface.begin(5);
      surface.bars(y, 10, heights, colours);
      surface.finish();
      expect([...surface.data]).toEqual(expected(() => 5, y, 10));
      surface.begin(5);
      surface.hatch(0, WIDTH, y, 10, 8, 9);
      surface.bars(y, 10, heights, colours);
      surface.finish();
      expect([...surface.data]).toEqual(expected((x, line) => line < y || line >= y + 10 ? 5 : ((x + line) & 7) < 3 || x === 0 || x === WIDTH - 1 ? 8 : 9, y, 10));
    }
  });
  it('bands with and without gaps', () => {
    const surface = new PixelSurface(WIDTH, 6), band = Uint32Array.from({length: WIDTH}, (_, x) => x % 3 ? 70 : 0);
    surface.data.fill(999);
    surface.begin(5);
    expect(surface.isPlain(-1)).toBe(true);
    surface.band(-1, 3, colours, true);
    expect(surface.isPlain(1)).toBe(false);
    surface.band(1, 2, band, false);
    surface.finish();
    const line = (at: number) => [...surface.data.slice(at * WIDTH, (at + 1) * WIDTH)];
    expect(line(0)).toEqual([...colours]);
    expect(line(1)).toEqual([...colours].map((colour, x) => band[x] || colour));
    expect(line(2)).toEqual([...band].map(colour => colour || 5));
    expect(line(5)).toEqual(Array(WIDTH).fill(5));
  });
  it('density: the densest is as high as the strip, a single event is seen, and nothing else', () => {
    const window = {begin: 0n, span: 4n}, codes = codesOf(tile(4, [[0, 1000, 1, 0], [1, 1, 1, 5]]), window, 4, window, 4), surface = new PixelSurface(4, 10);
    const shades = (colour: number) => new Uint32Array(16).fill(colour);
    surface.begin(1);
    paintEvents(surface, 0, codes, new Levels(10, 1000), new Shades([shades(50)], shades(60)), new RowBuffers(4));
    surface.finish();
    const column = (x: number) => Array.from({length: 10}, (_, line) => surface.data[line * 4 + x]);
    expect(column(0)).toEqual(Array(10).fill(50));
    expect(column(1).filter(colour => colour === 60).length).toBeGreaterThanOrEqual(4);
    expect(column(1)[0]).toBe(1);
    expect(column(2)).toEqual(Array(10).fill(1));
    const svg = new SvgSurface(4, 10);
    paintEvents(svg, 0, codes, new Levels(10, 1000), new Shades([shades(50)], shades(60)), new RowBuffers(4));
    expect(svg.parts.length).toBe(2);
  });
});

describe('the sum of tracks', () => {
  it('has the counts of all, and the kind of the longest', () => {
    const sum = new PictureSum(6);
    sum.add(tile(6, [[0, 4, 5, 1], [3, 2, 50, 2]], [[3, 1, 60, 3], [5, 7, 1, 4]]));
    sum.add(tile(6, [[0, 1, 9, 5]]));
    const {start, pixel, count, kind, rows} = sum.picture();
    expect([rows, [...start], [...pixel], [...count], [...kind]]).toEqual([1, [0, 3], [0, 3, 5], [5, 3, 7], [5, 3, 4]]);
  });
});
