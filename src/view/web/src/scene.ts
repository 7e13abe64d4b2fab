// SPDX-License-Identifier: MIT
// One picture of the timeline: the visible rows on a surface, and the texts over them.
import type {App} from './app';
import {windowOf} from './app';
import type {Piece, View} from './columns';
import {SpanColours, isSingle, kindOf, runs, take, takeColours, withKind} from './codes';
import {ValueColumns, accumulateValues, choose, eachCell, rank} from './columns';
import type {Rgb} from './colors';
import {SHADES, pixel, rampOf, textOn} from './colors';
import {duration, plural, value} from './format';
import type {LossIndex} from './losses';
import type {Inks, Surface} from './paint';
import {Levels, RowBuffers, Shades, paintEvents, paintValues} from './paint';
import type {Layer, Pictures} from './pictures';
import {PAIRS_KEY, groupKey, keysOf} from './pictures';
import type {Kind, Picture, Track, ValuePicture, ValueText} from './protocol';
import type {GroupRow, Row, TrackRow} from './rows';
import {colourField} from './state';
import type {Meaning} from './legend';
import {stepOf, stepsOf} from './steps';
import {areSame, coloursOf, wordsOf} from './texts';
import type {Window} from './window';

export interface Text {
  x: number;
  y: number; // of its middle
  width: number; // that it may take
  text: string;
  colour: Rgb | null; // null: that of texts
}

export interface Scene {
  app: App;
  rows: readonly Row[]; // that are visible
  top: number; // place of the list at the upper edge, CSS pixels
  scale: number; // device pixels per CSS pixel
  pictures: Pictures;
  inks: Inks;
  losses: LossIndex;
}

const SPAN_TEXT_LEAST = 28, EVENT_TEXT_LEAST = 26, TEXTS_MAX = 4000, LOSS_LEAST = 3;

/** Colours of all kinds, so that no picture element looks a name up. */
class KindInks {
  readonly events: Shades;
  readonly muted: Shades;
  readonly plain: Shades;
  readonly selected: Shades;
  /** By the steps of a field, instead of by kinds: the density shows in the height alone. */
  readonly ramps: readonly Shades[];
  private texts: {list: readonly ValueText[]; shades: Shades} | null = null;
  private tracks = new Map<string, Shades>();
  private spans = new Map<string, SpanColours>();

  constructor(readonly inks: Inks, readonly kinds: readonly Kind[], readonly spanKinds: readonly string[]) {
    this.events = new Shades(kinds.map(kind => inks.shadesOf(kind.name)), inks.plain);
    [this.muted, this.plain, this.selected] = [inks.muted, inks.plain, inks.selected].map(shades => new Shades([], shades));
    const solid = (colour: Rgb) => new Uint32Array(SHADES).fill(pixel(colour)), {ramp, unvalued} = inks.palette;
    this.ramps = ramp.map((_, i) => new Shades(rampOf(ramp, i + 1).map(solid), solid(unvalued)));
  }
  /** By the texts of a field; after them further ones, then events without the field. */
  textsOf(list: readonly ValueText[]): Shades {
    const {palette} = this.inks, solid = (colour: Rgb) => new Uint32Array(SHADES).fill(pixel(colour));
    if (this.texts?.list !== list)
      this.texts = {list, shades: new Shades([...coloursOf(list, palette), palette.plain].map(solid), solid(palette.unvalued))};
    return this.texts.shades;
  }
  track(name: string): Shades {
    let shades = this.tracks.get(name);
    if (!shades)
      this.tracks.set(name, shades = new Shades([], this.inks.shadesOf(name)));
    return shades;
  }
  /** Colours of spans: by kind, or of one track. `none` is the colour where there is none. */
  spansOf(by: 'kind' | 'none' | 'selected' | 'track', name: string, isPale: boolean, none: number): SpanColours {
    const {inks, spanKinds} = this, key = `${by} ${isPale} ${none} ${name}`, last = inks.plain.length - 1;
    let colours = this.spans.get(key);
    if (!colours) {
      const all = (colour: number) => spanKinds.map(() => colour), solid = (of: string) => isPale ? inks.pale(of) : inks.solid(of), edge = (of: string) => isPale ? inks.background : inks.edge(of);
      this.spans.set(key, colours = by === 'selected' ? new SpanColours(none, all(inks.selected[last]), all(inks.background))
        : by === 'none' ? new SpanColours(none, all(inks.plain[isPale ? 0 : last]), all(inks.background))
          : by === 'track' ? new SpanColours(none, all(solid(name)), all(edge(name))) : new SpanColours(none, spanKinds.map(solid), spanKinds.map(edge)));
    }
    return colours;
  }
}

/** What the pictures of each layer are for one window: found once for all rows. */
class Views {
  private found = new Map<Layer, View[]>();

  constructor(private pictures: Pictures, private window: Window, private width: number) {}

  pieces(layer: Layer, key: string): Piece[] {
    let views = this.found.get(layer);
    if (!views)
      this.found.set(layer, views = rank(this.pictures.of(layer), this.window, this.width, this.pictures.version(layer)));
    return choose(views, key, this.width);
  }
}

/** Buffers of one width, used again for each row. */
export class Painter {
  private kinds: KindInks | null = null;
  private views: Views | null = null;
  private levels = new Levels(1, 1);
  private readonly codes: Uint32Array;
  private values: ValueColumns;
  private field: Meaning | null = null; // of the colours
  private buffers: RowBuffers;

  constructor(readonly width: number) {
    this.codes = new Uint32Array(width);
    this.values = new ValueColumns(width);
    this.buffers = new RowBuffers(width);
  }

  /** Paints all rows. Returns the texts, and whether some row has nothing to be drawn from yet. */
  paint(surface: Surface, scene: Scene): {texts: Text[]; isBlank: boolean} {
    const texts: Text[] = [], window = windowOf(scene.app), {kinds, spanKinds} = scene.app.model;
    if (this.kinds?.inks !== scene.inks || this.kinds.kinds !== kinds || this.kinds.spanKinds !== spanKinds)
      this.kinds = new KindInks(scene.inks, kinds, spanKinds);
    this.views = new Views(scene.pictures, window, this.width);
    this.chooseField(scene);
    let isBlank = false;
    for (const row of scene.rows) {
      const y = Math.round((row.y - scene.top) * scene.scale), height = Math.round((row.y + row.height - scene.top) * scene.scale) - y;
      if (row.type === 'group') {
        surface.fill(0, this.width, y, height, scene.inks.group);
        if (row.isCollapsed)
          this.group(surface, scene, row, y, height);
        continue;
      }
      if (row.type === 'pairs') {
        this.pairs(surface, scene, y, height, texts);
        continue;
      }
      if (!this.track(surface, scene, row, y, window, texts))
        isBlank = true;
      if (height > 4 * scene.scale)
        surface.fill(0, this.width, y + height - 1, 1, scene.inks.line);
    }
    return {texts, isBlank};
  }

  private chooseField({app, pictures}: Scene): void {
    const name = colourField(app.store.state), found = name ? pictures.colours() : null, {field} = this;
    if (!found)
      this.field = null;
    else if (field?.name !== name || field.range.least !== found.range.least || field.range.most !== found.range.most || !areSame(field.texts, found.texts))
      this.field = {name, ...found, steps: stepsOf(found.range)};
  }
  /** What the colours mean; null: they are not those of a field, or it is not read yet. */
  get legend(): Meaning | null {
    return this.field;
  }

  private pieces(layer: Layer, key: string): Piece[] {
    return this.views?.pieces(layer, key) ?? [];
  }

  /** What was painted last at a place of a row: how many events, and of what kind. */
  at(layer: Layer, key: string, place: number): {count: number; kind: number} | null {
    const piece = this.pieces(layer, key).find(({from, to}) => from <= place && place < to);
    if (!piece)
      return null;
    const {count, kind, longest} = piece.view.kept.picture as Picture;
    let sum = 0, most = -1;
    eachCell({...piece, from: place, to: place + 1}, (cell, _from, _to, share) => {
      sum += count[cell] * share(place);
      if (most < 0 || longest[cell] > longest[most])
        most = cell;
    });
    return most < 0 ? null : {count: sum, kind: kind[most]};
  }

  /** The values at a place of a track by which it is coloured, as words. */
  valuesAt(key: string, place: number): string | null {
    const {field, values} = this;
    if (!field)
      return null;
    this.takeValues('colours', key);
    if (!values.has[place])
      return null;
    const {least, most} = {least: values.least[place], most: values.most[place]};
    return field.texts ? `${wordsOf(field.texts, most)}${most > least ? ' …' : ''}` : `${value(least)}${most > least ? ` to ${value(most)}` : ''}`;
  }

  private track(surface: Surface, scene: Scene, row: TrackRow, y: number, window: Window, texts: Text[]): boolean {
    const {app, scale} = scene, {state} = app.store, {model} = app, track = row.track.track, {key} = keysOf(row, state.slew);
    const strip = Math.round(row.strip * scale), gap = strip > 6 * scale ? Math.round(2 * scale) : 0, isFiltered = state.filter.trim() !== '' && !model.filter?.error;
    const kinds = this.kinds as KindInks, isSelected = state.selected.includes(track);
    const ink = isSelected ? kinds.selected : state.colour === 'track' ? kinds.track(row.track.name) : state.colour === 'none' ? kinds.plain : kinds.events, isByField = !isSelected && this.field !== null;
    let full = true, shown: Piece[] = [];
    this.losses(surface, scene, row, y, window);
    if (!(isFiltered && state.hides)) {
      shown = this.pieces('all', key);
      full = isFull(shown, this.width);
      this.events(surface, y + gap, strip - 2 * gap, shown, isFiltered ? kinds.muted : ink, !isFiltered && isByField ? key : null);
    }
    if (isFiltered) {
      shown = this.pieces('hit', key);
      full = isFull(shown, this.width) || !state.hides && full;
      this.events(surface, y + gap, strip - 2 * gap, shown, ink, isByField ? key : null);
    }
    if (state.shape === 'events' && strip >= 12 * scale && take(shown, this.codes))
      this.names(scene, key, y, strip, texts);
    for (let lane = 0; lane < row.lanes; lane++)
      this.lane(surface, scene, row, lane, y + strip, texts);
    if (row.line > 0)
      this.line(surface, scene, key, y + Math.round((row.strip + row.lanes * row.lane) * scale), Math.round(row.line * scale), texts);
    if (row.note > 0)
      texts.push({x: 3 * scale, y: y + Math.round((row.height - row.note / 2) * scale), width: this.width - 6 * scale, text: deeperText(row.track), colour: null});
    return full;
  }

  /** A folded group: the sum of its tracks. */
  private group(surface: Surface, scene: Scene, row: GroupRow, y: number, height: number): void {
    const {state} = scene.app.store, {model} = scene.app, isFiltered = state.filter.trim() !== '' && !model.filter?.error, key = groupKey(row, state.slew), gap = Math.round(2 * scene.scale);
    const kinds = this.kinds as KindInks, ink = state.colour === 'kind' || state.colour === 'field' && !this.field ? kinds.events : kinds.plain;
    if (!(isFiltered && state.hides))
      this.events(surface, y + gap, height - 2 * gap, this.pieces('all', key), isFiltered ? kinds.muted : ink);
    if (isFiltered)
      this.events(surface, y + gap, height - 2 * gap, this.pieces('hit', key), ink);
  }

  /** The values of a track at each place. */
  private takeValues(layer: 'values' | 'colours', key: string): void {
    this.values.clear();
    for (const {view, row, from, to} of this.pieces(layer, key))
      accumulateValues(view.kept.picture as ValuePicture, row, view.scale, this.values, from, to);
  }

  /** `byField`: the key of the track whose values give the colours. */
  private events(surface: Surface, y: number, height: number, pieces: readonly Piece[], shades: Shades, byField: string | null = null): void {
    if (!take(pieces, this.codes))
      return;
    if (byField !== null && this.field) {
      const {steps, texts} = this.field, {codes, values} = this, none = texts ? texts.length + 1 : steps.length;
      this.takeValues('colours', byField);
      for (let x = 0; x < this.width; x++)
        if (codes[x] !== 0)
          codes[x] = withKind(codes[x], !values.has[x] ? none : texts ? Math.min(texts.length, values.most[x]) : stepOf(steps, values.most[x]));
      shades = texts ? (this.kinds as KindInks).textsOf(texts) : (this.kinds as KindInks).ramps[steps.length - 1];
    }
    let densest = 1;
    for (const {view: {kept, scale}} of pieces)
      densest = Math.max(densest, kept.densest / scale.ratio);
    if (this.levels.height !== height || this.levels.densest !== densest)
      this.levels = new Levels(height, densest);
    paintEvents(surface, y, this.codes, this.levels, shades, this.buffers);
  }

  /** Pairs stand where they end; they are as high as the longest of a place is long. */
  private pairs(surface: Surface, scene: Scene, y: number, height: number, texts: Text[]): void {
    const {app, inks, scale} = scene, most = app.model.pairs.current?.reply.most ?? 0, {heights, colours} = this.buffers, full = height - Math.round(3 * scale);
    heights.fill(0);
    colours.fill(inks.stroke);
    for (const piece of this.pieces('pairs', PAIRS_KEY)) {
      const {longest} = piece.view.kept.picture as Picture;
      eachCell(piece, (cell, from, to) => {
        for (let x = from; x < to; x++)
          heights[x] = Math.max(heights[x], 1, Math.round(full * Math.min(1, longest[cell] / Math.max(1, most))));
      });
    }
    surface.bars(y, height - 1, heights, colours);
    surface.fill(0, this.width, y + height - 1, 1, inks.line);
    if (most > 0)
      texts.push({x: 3 * scale, y: y + 7 * scale, width: 200 * scale, text: `max ${duration(most, 4)}`, colour: null});
  }

  private lane(surface: Surface, scene: Scene, row: TrackRow, lane: number, y: number, texts: Text[]): void {
    const {app, inks, scale} = scene, {state} = app.store, kinds = app.model.spanKinds, height = Math.round(row.lane * scale), at = y + Math.round(lane * row.lane * scale);
    if (at + height <= 0 || at >= surface.height)
      return;
    const pieces = this.pieces('spans', keysOf(row, state.slew).lanes[lane]), isSelected = state.selected.includes(row.track.track), isPale = state.filter.trim() !== '' && !app.model.filter?.error && !isSelected;
    const by = isSelected ? 'selected' : state.colour !== 'field' ? state.colour : this.field ? 'none' : 'kind', isOpaque = surface.isPlain(at), colours = (this.kinds as KindInks).spansOf(by, by === 'track' ? row.track.name : '', isPale, isOpaque ? inks.background : 0);
    if (!takeColours(pieces, colours, this.buffers.colours))
      return;
    surface.band(at, height - (height > 4 ? 1 : 0), this.buffers.colours, isOpaque);
    if (height < 9 * scale)
      return;
    take(pieces, this.codes);
    for (const run of runs(this.codes, SPAN_TEXT_LEAST * scale))
      if (texts.length < TEXTS_MAX && run.kind < kinds.length) {
        const back = by === 'selected' ? inks.palette.selected : by === 'none' ? inks.palette.plain : inks.rgb(by === 'track' ? row.track.name : kinds[run.kind]);
        texts.push({x: run.from + 4 * scale, y: at + (height - 1) / 2, width: run.to - run.from - 6 * scale, text: kinds[run.kind], colour: isPale ? null : textOn(back)});
      }
  }

  /** Names of single events, where there is space up to the next one. */
  private names(scene: Scene, key: string, y: number, strip: number, texts: Text[]): void {
    const {scale, app} = scene, {codes, width, values} = this, {kinds} = app.model;
    const {field} = this;
    if (field)
      this.takeValues('colours', key);
    const valueAt = (x: number) => field && values.has[x] ? ` ${field.texts ? wordsOf(field.texts, values.most[x]) : value(values.most[x])}` : '';
    for (let x = 0; x < width && texts.length < TEXTS_MAX; x++) {
      if (!isSingle(codes[x]))
        continue;
      const first = x, kind = kindOf(codes[x]);
      while (x + 1 < width && codes[x + 1] === 0)
        x++;
      if (x + 1 - first >= EVENT_TEXT_LEAST * scale && kind < kinds.length)
        texts.push({x: first + 4 * scale, y: y + strip / 2, width: x + 1 - first - 6 * scale, text: kinds[kind].name + valueAt(first), colour: null});
    }
  }

  private line(surface: Surface, scene: Scene, key: string, y: number, height: number, texts: Text[]): void {
    this.takeValues('values', key);
    let least = Infinity, most = -Infinity;
    for (let x = 0; x < this.width; x++)
      if (this.values.has[x]) {
        least = Math.min(least, this.values.least[x]);
        most = Math.max(most, this.values.most[x]);
      }
    if (least > most)
      return;
    paintValues(surface, y, height, this.values, least, most, scene.inks.band, scene.inks.stroke, this.buffers);
    texts.push({x: 3 * scene.scale, y: y + 7 * scene.scale, width: 160 * scene.scale, text: `${value(most)}`, colour: null});
    if (most > least)
      texts.push({x: 3 * scene.scale, y: y + height - 6 * scene.scale, width: 160 * scene.scale, text: `${value(least)}`, colour: null});
  }

  private losses(surface: Surface, scene: Scene, row: TrackRow, y: number, window: Window): void {
    const {inks, scale, losses} = scene, height = Math.round(row.height * scale), slew = scene.app.store.state.slew.get(row.track.track) ?? 0n;
    const offset = Number(window.begin - slew - losses.base), perPlace = Number(window.span) / this.width;
    let done = -Infinity; // many short losses are one gap
    losses.between(row.track.track, row.track.partIndex, offset, offset + Number(window.span), (begin, end) => {
      const left = Math.floor((begin - offset) / perPlace), right = Math.max(left + LOSS_LEAST * scale, Math.ceil((end - offset) / perPlace));
      if (right <= done)
        return;
      done = right;
      surface.hatch(Math.max(-1, left), Math.min(this.width + 1, right), y, height - 1, inks.loss, inks.lossBack);
    });
  }
}

/** What is said below a track that has deeper spans than the index has levels. */
export function deeperText({lanes, deeperSpans}: Track): string {
  return `Deeper levels than these ${lanes} are not drawn: ${plural(deeperSpans, 'span')}.`;
}

function isFull(pieces: readonly Piece[], width: number): boolean {
  let sum = 0;
  for (const {from, to} of pieces)
    sum += to - from;
  return sum >= width - 2;
}
