// SPDX-License-Identifier: MIT
// The timeline: names, axis, minimap and picture. What is drawn is pixels on one canvas; texts and marks lie on a second one.
import type {App, TimelineView} from './app';
import {setWindow, shownAt, shownTime, windowOf} from './app';
import {Boxes} from './boxes';
import {NO_KIND} from './columns';
import {light} from './colors';
import {element, inNextFrame, save, set, setText} from './dom';
import {fileName, pngCanvas, svgText} from './export';
import {count} from './format';
import {Gestures} from './gestures';
import {Legend} from './legend';
import {LossIndex} from './losses';
import {minimap, minimapTracks} from './minimap';
import type {OverlayScene} from './overlay';
import {drawOverlay} from './overlay';
import {Inks, PixelSurface} from './paint';
import {Pictures, keysOf} from './pictures';
import {cornerText, drawRuler} from './ruler';
import type {Row, Rows, TrackRow} from './rows';
import {layout, rowAt} from './rows';
import type {Scene} from './scene';
import {Painter} from './scene';
import {isAbort} from './source';
import {colourField} from './state';
import {trackList} from './tracks';
import type {Mark} from './protocol';
import type {Window} from './window';
import {placeOf, timeAt} from './window';

const RULER_HEIGHT = 24, LABELS = {least: 70, usual: 190, most: 600}, CHARACTER = 7.2;

/** What tests and benchmarks measure. */
export interface Measures {
  frames: number;
  blankFrames: number; // in which some row had no picture at all
  drawMs: number[]; // of the last frames
}

export interface Timeline {
  root: HTMLElement;
  view: TimelineView & {measures: Measures};
  themeChanged(): void;
}

class Parts implements TimelineView {
  readonly measures: Measures = {frames: 0, blankFrames: 0, drawMs: []};
  readonly root = element('main', {'data-region': 'timeline', 'aria-label': 'Timeline'});
  private isStale = true;
  private isResized = true; // or the document is laid out anew for another reason: places are read again
  private scrolled = 0; // the scroller's place, so that a frame reads none of the document
  private shown: {all: readonly Row[]; rows: readonly Row[]; first: number; tracks: readonly TrackRow[]} = {all: [], rows: [], first: 0, tracks: []};
  private readonly nextFrame = inNextFrame(() => this.frame());
  readonly redraw = (): void => { this.isStale = true; this.nextFrame(); };
  rows: Rows = {rows: [], height: 0, trackRows: new Map()};
  width = 1;
  private height = 1;
  private labels: number = LABELS.usual;
  private hasOwnWidth = false;
  private readonly pixels = element('canvas', {'aria-hidden': 'true'});
  private readonly overlay = element('canvas', {class: 'overlay', 'aria-hidden': 'true'});
  private readonly axis = element('canvas', {class: 'axis', 'aria-hidden': 'true'});
  private readonly corner = element('button', {type: 'button', class: 'corner', title: 'Next clock (.)'});
  private readonly picture = element('div', {class: 'picture'});
  private readonly stage = element('div', {class: 'stage'});
  private readonly sizer = element('div', {class: 'sizer'});
  private readonly scroller = element('div', {class: 'scroller'});
  private readonly empty = element('div', {class: 'empty', hidden: true});
  private readonly pictures: Pictures;
  private readonly boxes: Boxes;
  private readonly gestures: Gestures;
  private readonly list: ReturnType<typeof trackList>;
  private readonly map: ReturnType<typeof minimap>;
  private readonly legend: Legend;
  private surface: PixelSurface | null = null;
  private painter: Painter | null = null;
  private inks: Inks;
  private losses = new LossIndex([], 0n);
  private pointer: {x: number; y: number} | null = null;
  private seen = new Map<number, number>();

  constructor(private app: App, private cursor: HTMLElement) {
    this.inks = new Inks(app.palette);
    this.pictures = new Pictures(app, this.redraw);
    this.boxes = new Boxes(app, this.redraw);
    this.list = trackList(app);
    this.map = minimap(app, this.pictures);
    this.legend = new Legend(app);
    this.picture.append(this.pixels, this.overlay, this.boxes.root);
    const resizer = this.resizer();
    this.stage.append(this.list.root, resizer, this.picture);
    this.sizer.append(this.stage);
    this.scroller.append(this.sizer);
    this.root.append(element('div', {class: 'line'}, element('div', {class: 'corner-space'}), this.map.root), element('div', {class: 'line'}, this.corner, this.axis), this.scroller, this.legend.root, this.empty);
    this.corner.addEventListener('click', () => app.run('clock'));
    this.gestures = new Gestures({
      app, target: this.picture, width: () => this.width, spotAt: y => this.spotAt(y), hover: (x, y) => { this.pointer = {x, y}; this.redraw(); }, leave: () => { this.pointer = null; this.redraw(); },
      openSpan: (track, lane, time) => this.openSpan(track, lane, time), redraw: this.redraw,
    });
    this.root.addEventListener('wheel', event => {
      const left = this.picture.getBoundingClientRect().left, isUsed = this.gestures.turn(event, event.clientX - left);
      if (isUsed || !this.scroller.contains(event.target as Node)) {
        event.preventDefault();
        return;
      }
      event.preventDefault();
      this.scroller.scrollTop += event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
    }, {passive: false});
    this.axisDrag();
    this.scroller.addEventListener('scroll', () => { app.store.update({scroll: Math.round(this.scroller.scrollTop)}, null); this.resized(); });
    const observer = new ResizeObserver(() => this.resized());
    observer.observe(this.root);
    observer.observe(this.scroller); // its scroll bar comes and goes
    this.follow();
    const own = app.settings.size('names-width');
    this.hasOwnWidth = own !== null;
    this.setLabels(own ?? LABELS.usual);
  }

  // ---- what changes ----

  private resized(): void {
    this.isResized = true;
    this.redraw();
  }

  private follow(): void {
    const {store, model} = this.app;
    let heightBefore = store.state.rowHeight, bounds = model.bounds, shows = '';
    store.subscribe((state, changed) => {
      if (changed.has('rowHeight')) { // the first track that is seen stays it
        const at = rowAt(this.rows.rows, this.scroller.scrollTop), key = this.rows.rows[Math.max(0, at)]?.key;
        this.layout();
        const row = this.rows.rows.find(item => item.key === key);
        if (row && heightBefore !== state.rowHeight && !changed.has('scroll'))
          this.scrollToPlace(row.y);
        heightBefore = state.rowHeight;
      } else if (['order', 'hidden', 'pinned', 'collapsed', 'field'].some(key => changed.has(key as keyof typeof state)))
        this.layout();
      if (changed.has('scroll') && Math.abs(this.scroller.scrollTop - state.scroll) > 1)
        this.scrollToPlace(state.scroll);
      this.redraw();
    });
    model.subscribe(change => {
      if (change === 'lists') {
        const server = model.server;
        if (shows && server && server.shows !== shows) {
          this.pictures.clear();
          this.boxes.forget();
        }
        shows = server?.shows ?? '';
        this.losses = new LossIndex(model.losses, model.bounds.begin);
        this.layout();
        const {begin, span} = store.state;
        if (server?.isLive && span > 0n && begin + span >= bounds.end && model.bounds.end > bounds.end && bounds.end > bounds.begin) // the end stays in sight
          setWindow(this.app, {begin: begin + model.bounds.end - bounds.end, span}, 'follow');
        bounds = model.bounds;
      }
      this.redraw();
    });
  }

  themeChanged(): void {
    this.inks = new Inks(this.app.palette);
    this.redraw();
  }

  private layout(): void {
    const {model, store} = this.app;
    this.rows = layout(model.tracks, store.state, model.pairs.name);
    this.sizer.style.height = `${Math.max(this.rows.height, 1)}px`;
    this.isResized = true;
    if (!this.hasOwnWidth && model.tracks.length > 0) {
      const longest = this.rows.rows.slice(0, 2000).reduce((most, row) => Math.max(most, (row.type === 'track' ? row.track.name : row.name).length + row.level * 1.7), 8);
      this.setLabels(Math.min(320, longest * CHARACTER + 76));
    }
    if (store.state.scroll > 0 && this.scroller.scrollTop === 0)
      this.scrollToPlace(store.state.scroll);
  }

  private setLabels(width: number): void {
    this.labels = Math.round(Math.max(LABELS.least, Math.min(LABELS.most, width)));
    this.root.style.setProperty('--labels', `${this.labels}px`);
    this.resized();
  }

  private resizer(): HTMLElement {
    const handle = element('div', {class: 'label-resizer', role: 'separator', 'aria-orientation': 'vertical', 'aria-label': 'Width of the names', 'aria-valuenow': LABELS.usual, 'aria-valuemin': LABELS.least, 'aria-valuemax': LABELS.most, tabindex: 0});
    const resize = (width: number) => { this.hasOwnWidth = true; this.setLabels(width); set(handle, {'aria-valuenow': this.labels}); this.app.settings.setSize('names-width', this.labels); };
    handle.addEventListener('keydown', event => {
      const step = {ArrowLeft: -16, ArrowRight: 16}[event.key];
      if (!step || event.altKey || event.ctrlKey)
        return;
      event.preventDefault();
      event.stopPropagation();
      resize(this.labels + step);
    });
    handle.addEventListener('pointerdown', event => {
      const from = event.clientX - this.labels;
      handle.setPointerCapture(event.pointerId);
      handle.onpointermove = moved => resize(moved.clientX - from);
      handle.onpointerup = handle.onpointercancel = () => { handle.onpointermove = null; };
    });
    return handle;
  }

  /** A drag on the axis measures, as one with the right button does. */
  private axisDrag(): void {
    this.axis.addEventListener('pointerdown', event => {
      const {left} = this.axis.getBoundingClientRect(), window = windowOf(this.app), at = (x: number) => timeAt(window, Math.max(0, Math.min(this.width, x - left)), this.width), from = at(event.clientX);
      this.axis.setPointerCapture(event.pointerId);
      this.axis.onpointermove = moved => {
        const to = at(moved.clientX);
        if (Math.abs(moved.clientX - event.clientX) >= 3)
          this.app.store.update({selection: from < to ? {begin: from, end: to} : {begin: to, end: from}}, 'ruler');
      };
      this.axis.onpointerup = this.axis.onpointercancel = () => { this.axis.onpointermove = null; };
    });
  }

  // ---- scrolling ----

  private scrollToPlace(y: number): void {
    this.scroller.scrollTop = Math.max(0, Math.min(y, this.rows.height - this.height));
    this.app.store.update({scroll: Math.round(this.scroller.scrollTop)}, null);
    this.resized();
  }
  scrollRows(steps: number): void {
    const {rows} = this.rows, at = Math.max(0, rowAt(rows, this.scroller.scrollTop)), isAligned = rows[at] && rows[at].y >= this.scroller.scrollTop - 0.5;
    const to = Math.max(0, Math.min(rows.length - 1, at + steps + (steps < 0 && !isAligned ? 1 : 0)));
    if (rows[to])
      this.scrollToPlace(rows[to].y);
  }
  scrollTo(row: number): void {
    this.scrollToPlace(row === Infinity ? this.rows.height : this.rows.rows[row]?.y ?? 0);
  }
  reveal(track: number): void {
    let row = this.rows.trackRows.get(track);
    if (!row) { // in a folded group, or hidden
      const {hidden, collapsed} = this.app.store.state;
      this.app.store.update({hidden: hidden.filter(item => item !== track), collapsed: collapsed.length ? [] : collapsed}, null);
      this.layout();
      row = this.rows.trackRows.get(track);
    }
    if (row && (row.y < this.scroller.scrollTop || row.y + row.height > this.scroller.scrollTop + this.height))
      this.scrollToPlace(row.y < this.scroller.scrollTop || row.height > this.height ? row.y : row.y + row.height - this.height);
  }

  // ---- places ----

  private spotAt(y: number): {row: TrackRow | null; lane: number | null} {
    const at = y + this.scrolled, row = this.rows.rows[Math.max(0, rowAt(this.rows.rows, at))];
    if (!row || row.type !== 'track' || at >= row.y + row.height)
      return {row: null, lane: null};
    const lane = Math.floor((at - row.y - row.strip) / row.lane);
    return {row, lane: at - row.y >= row.strip && lane < row.lanes ? lane : null};
  }
  private placeOfTrack(track: number, lane: number | null): number | null {
    const row = this.rows.trackRows.get(track);
    if (!row)
      return null;
    const y = row.y - this.scrolled + (lane === null ? row.strip / 2 : row.strip + (lane + 0.5) * row.lane);
    return y < 0 || y > this.height ? null : y;
  }
  private async openSpan(track: number, lane: number, time: bigint): Promise<boolean> {
    try {
      const span = await this.app.source.spanAt(track, lane, time);
      if (span)
        this.boxes.toggleSpan(track, lane, span);
      return span !== null;
    } catch (error) {
      if (!isAbort(error))
        this.app.say(error instanceof Error ? error.message : String(error));
      return true;
    }
  }
  escape(): boolean {
    if (this.gestures.cancel() || this.boxes.closeSpan())
      return true;
    if (this.app.store.state.selection === null)
      return false;
    this.app.store.update({selection: null});
    return true;
  }

  // ---- drawing ----

  /** The rows that are seen: the same arrays until they are others. */
  private visible(): Parts['shown'] {
    const {rows} = this.rows, top = this.scrolled, first = Math.max(0, rowAt(rows, top)), {shown} = this;
    let last = first;
    while (last < rows.length && rows[last].y < top + this.height)
      last++;
    if (shown.all === rows && shown.first === first && shown.rows.length === last - first)
      return shown;
    const found = rows.slice(first, last);
    return this.shown = {all: rows, rows: found, first, tracks: found.filter((row): row is TrackRow => row.type === 'track')};
  }

  private measure(): void {
    const scale = devicePixelRatio;
    if (!this.isResized && this.surface && this.pixels.width === Math.round(this.width * scale))
      return;
    this.isResized = false;
    const width = Math.max(1, this.scroller.clientWidth - this.labels), height = Math.max(1, this.scroller.clientHeight);
    const size = (canvas: HTMLCanvasElement, w: number, h: number) => {
      canvas.width = Math.round(w * scale);
      canvas.height = Math.round(h * scale);
      canvas.style.width = `${w}px`;
      canvas.style.height = `${h}px`;
    };
    this.stage.style.height = `${height}px`;
    if (width !== this.width || height !== this.height || !this.surface || this.pixels.width !== Math.round(width * scale)) {
      this.width = width;
      this.height = height;
      size(this.pixels, width, height);
      size(this.overlay, width, height);
      size(this.axis, width, RULER_HEIGHT);
      this.surface = new PixelSurface(this.pixels.width, this.pixels.height);
      this.painter = new Painter(this.pixels.width);
    }
    this.scrolled = this.scroller.scrollTop;
  }

  private scene(rows: readonly Row[]): Scene {
    return {app: this.app, rows, top: this.scrolled, scale: devicePixelRatio, pictures: this.pictures, inks: this.inks, losses: this.losses};
  }

  private frame(): void {
    const since = performance.now();
    this.isStale = false;
    if (this.root.clientHeight === 0) // it is not laid out, as while the page is printed
      return;
    this.measure();
    const {app, surface, painter} = this, {rows, first, tracks} = this.visible(), scene = this.scene(rows);
    if (!surface || !painter || !app.model.server)
      return;
    this.showEmpty();
    surface.begin(this.inks.background);
    const {texts, isBlank} = painter.paint(surface, scene);
    surface.finish();
    (this.pixels.getContext('2d', {alpha: false}) as CanvasRenderingContext2D).putImageData(surface.image, 0, 0);
    const anchors = this.boxes.place(this.width, this.height, (track, lane) => this.placeOfTrack(track, lane));
    drawOverlay(this.overlay, this.overlayScene(), texts, anchors);
    this.count(tracks);
    this.list.show(rows, first, scene.top, this.seen);
    const axis = this.axis.getContext('2d') as CanvasRenderingContext2D;
    axis.setTransform(scene.scale, 0, 0, scene.scale, 0, 0);
    drawRuler(axis, app, this.width, RULER_HEIGHT);
    this.map.draw(this.width);
    this.legend.show(painter.legend, app.palette);
    setText(this.corner, cornerText(app));
    this.showCursor(scene);
    if (app.model.tracks.length > 0)
      this.pictures.want({rows, top: this.scrolled, height: this.height}, surface.width, minimapTracks(app.model.tracks));
    const {measures} = this;
    measures.frames++;
    if (isBlank && tracks.length > 0 && this.pictures.received > 0)
      measures.blankFrames++;
    measures.drawMs.push(performance.now() - since);
    if (measures.drawMs.length > 1000)
      measures.drawMs.splice(0, 500);
  }

  /** How many events of each track are seen: exact once the exact picture is there. */
  private count(tracks: readonly TrackRow[]): void {
    const {app} = this, {filter, slew} = app.store.state, window = windowOf(app), layer = filter.trim() && app.model.filter && !app.model.filter.error ? 'hit' : 'all';
    const exact = this.pictures.of(layer).filter(kept => kept.window.begin === window.begin && kept.window.span === window.span);
    this.seen.clear();
    for (const row of tracks)
      for (const kept of exact) {
        const at = kept.rows.get(keysOf(row, slew).key);
        if (at !== undefined) {
          this.seen.set(row.track.track, kept.sums[at]);
          break;
        }
      }
  }

  /** What texts and marks are drawn from. */
  private overlayScene(): OverlayScene {
    return {
      app: this.app, inks: this.inks, width: this.width, height: this.height, top: this.scrolled, pointer: this.pointer, fence: this.gestures.fence, trackRows: this.rows.trackRows,
      detail: number => this.boxes.detail(number), middleOf: track => this.placeOfTrack(track, null),
    };
  }

  private showCursor(scene: Scene): void {
    const {pointer, app, painter} = this;
    if (!pointer || !painter) {
      setText(this.cursor, '');
      return;
    }
    const time = timeAt(windowOf(app), pointer.x, this.width), {row, lane} = this.spotAt(pointer.y), parts = [shownTime(app, time)];
    if (row) {
      parts.push(row.track.name);
      if (lane === null) {
        const at = Math.max(0, Math.min(painter.width - 1, Math.floor(pointer.x * scene.scale))), cell = painter.at('all', keysOf(row, app.store.state.slew).key, at);
        if (cell)
          parts.push(`${count(Math.max(1, Math.round(cell.count)))} × ${cell.kind === NO_KIND ? '?' : app.model.kindName(cell.kind)}${Math.round(cell.count) > 1 ? ' …' : ''}`);
        const values = painter.valuesAt(keysOf(row, app.store.state.slew).key, at);
        if (values)
          parts.push(`${colourField(app.store.state)} ${values}`);
      }
    }
    setText(this.cursor, parts.join(' · '));
  }

  private showEmpty(): void {
    const {server, tracks} = this.app.model, {state} = this.app.store;
    const text = !server ? '' : server.files.length === 0 ? 'No trace is open. File → Open another trace (Ctrl+O) lists those in the folder in which kymo view runs; "kymo view TRACE" in a terminal opens any.' : server.events === 0 ? server.isComplete ? 'The trace has no events.' : 'Indexing: no events yet.'
      : tracks.length > 0 && tracks.every(track => state.hidden.includes(track.track)) ? 'All tracks are hidden: H shows them.' : '';
    setText(this.empty, server?.error && server.events === 0 ? server.error : text);
    this.empty.hidden = this.empty.textContent === '';
  }

  // ---- for tests ----

  /** All that is shown is exact and drawn. */
  isSettled(): boolean {
    const {server, filter, base} = this.app.model;
    return server !== null && (server.isComplete || server.isLive) && !this.isStale && (this.app.model.tracks.length === 0 || this.pictures.isComplete) && this.boxes.isComplete && filter?.state !== 'running' && base?.state !== 'running' && (!this.app.model.pairs.id || this.app.model.pairs.current?.reply.state !== 'running');
  }
  window(): Window {
    return windowOf(this.app);
  }
  top(): number {
    return this.scroller.scrollTop;
  }
  place(mark: Mark): {x: number; y: number | null} {
    return {x: placeOf(windowOf(this.app), shownAt(this.app, mark), this.width), y: this.placeOfTrack(mark.track, null)};
  }

  // ---- files ----

  async exportPng(): Promise<void> {
    const canvas = pngCanvas(this.app, this.scene(this.visible().rows), [this.pixels, this.overlay], this.labels, this.painter?.legend ?? null);
    const blob = await new Promise<Blob | null>(resolve => canvas.toBlob(resolve, 'image/png'));
    if (blob)
      save(fileName(this.app, 'png'), blob);
    this.app.say(blob ? 'The picture is saved as PNG.' : 'The picture cannot be made.');
  }
  paper(): string {
    const app: App = {...this.app, palette: light};
    return svgText(app, {...this.scene(this.visible().rows), app, inks: new Inks(light)}, this.width, this.height, this.labels);
  }
  exportSvg(): void {
    save(fileName(this.app, 'svg'), new Blob([svgText(this.app, this.scene(this.visible().rows), this.width, this.height, this.labels)], {type: 'image/svg+xml'}));
    this.app.say('The picture is saved as SVG.');
  }
}

export function timeline(app: App, cursor: HTMLElement): Timeline {
  const parts = new Parts(app, cursor);
  return {root: parts.root, view: parts, themeChanged: () => parts.themeChanged()};
}
