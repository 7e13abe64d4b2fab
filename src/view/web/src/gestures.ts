// SPDX-License-Identifier: MIT
// The pointer on the picture: drags that zoom, measure and move; clicks; the wheel.
import type {App} from './app';
import {setWindow, shownAt, windowOf} from './app';
import {moveTrack, toggled} from './commands';
import type {TrackRow} from './rows';
import type {Window} from './window';
import {between, placeOf, timeAt, zoom} from './window';

export const DRAG_LEAST = 10;
const HIT = 7, SNAP = 7, WHEEL_STEP = 100;

/** What a drag shows while it goes on. */
export interface Fence {
  mode: 'zoom' | 'measure';
  from: bigint;
  to: bigint;
}

/** A place of the picture: a track, its lane or none, and a place beside all tracks. */
export interface Spot {
  row: TrackRow | null;
  lane: number | null;
}

export interface GestureHost {
  app: App;
  target: HTMLElement;
  width(): number;
  spotAt(y: number): Spot;
  hover(x: number, y: number): void;
  leave(): void;
  openSpan(track: number, lane: number, time: bigint): Promise<boolean>;
  redraw(): void;
}

type Drag = {mode: 'zoom' | 'measure' | 'move' | 'click'; button: number; x: number; y: number; window: Window; isMoved: boolean; lastX: number};

export class Gestures {
  fence: Fence | null = null;
  private drag: Drag | null = null;
  private wheel = 0;

  constructor(private host: GestureHost) {
    const {target} = host;
    target.addEventListener('pointerdown', event => this.down(event));
    target.addEventListener('pointermove', event => this.move(event));
    target.addEventListener('pointerup', event => void this.up(event));
    target.addEventListener('pointercancel', () => this.cancel());
    target.addEventListener('pointerleave', () => { if (!this.drag) host.leave(); });
    target.addEventListener('contextmenu', event => event.preventDefault());
    target.addEventListener('dblclick', event => {
      const {app} = host, window = windowOf(app), part = this.place(event).x / host.width();
      setWindow(app, zoom(window, 1n, 2n, part, app.model.bounds), '');
    });
  }

  /** Gives up the drag. */
  cancel(): boolean {
    const was = this.drag !== null;
    this.drag = null;
    this.fence = null;
    this.host.redraw();
    return was;
  }

  /** The wheel over picture, names or ruler. True: it is used up. */
  turn(event: WheelEvent, x: number): boolean {
    const {app} = this.host, window = windowOf(app), step = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (event.ctrlKey || event.metaKey) {
      this.wheel += event.deltaY * step;
      const part = Math.max(0, Math.min(1, x / this.host.width()));
      const count = Math.max(-8, Math.min(8, Math.trunc(this.wheel / (WHEEL_STEP / 4))));
      if (count !== 0) {
        this.wheel -= count * (WHEEL_STEP / 4);
        setWindow(app, zoom(window, BigInt(Math.round(1e6 * 1.07 ** count)), 1_000_000n, part, app.model.bounds), 'wheel');
      }
      return true;
    }
    if (event.deltaX !== 0 && Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      setWindow(app, {begin: window.begin + timeAt(window, event.deltaX * step, this.host.width()) - window.begin, span: window.span}, 'wheel');
      return true;
    }
    if (event.shiftKey) {
      app.timeline.scrollRows(Math.sign(event.deltaY || event.deltaX) * 10);
      return true;
    }
    return false;
  }

  private place(event: MouseEvent): {x: number; y: number} {
    const bounds = this.host.target.getBoundingClientRect();
    return {x: event.clientX - bounds.left, y: event.clientY - bounds.top};
  }
  private timeAt(x: number): bigint {
    return timeAt(windowOf(this.host.app), Math.max(0, Math.min(this.host.width(), x)), this.host.width());
  }

  private down(event: PointerEvent): void {
    const {x, y} = this.place(event);
    if (this.drag) { // another button ends a drag
      this.cancel();
      return;
    }
    const mode = event.button === 2 ? 'measure' : event.button === 1 || event.shiftKey ? 'move' : 'zoom';
    this.drag = {mode, button: event.button, x, y, window: windowOf(this.host.app), isMoved: false, lastX: x};
    this.host.target.setPointerCapture(event.pointerId);
    document.getElementById('timeline-grid')?.focus({preventScroll: true});
    event.preventDefault();
  }

  private move(event: PointerEvent): void {
    const {x, y} = this.place(event), {drag, host} = this;
    host.hover(x, y);
    if (!drag)
      return;
    drag.isMoved ||= Math.abs(x - drag.x) >= (drag.mode === 'zoom' ? DRAG_LEAST : 3);
    drag.lastX = x;
    if (!drag.isMoved)
      return;
    if (drag.mode === 'move')
      setWindow(host.app, {begin: drag.window.begin + drag.window.begin - timeAt(drag.window, x - drag.x, host.width()), span: drag.window.span}, 'drag');
    else {
      this.fence = {mode: drag.mode as Fence['mode'], from: this.timeAt(drag.x), to: this.timeAt(x)};
      if (drag.mode === 'measure')
        this.measure(this.fence, 'ruler');
      host.redraw();
    }
  }

  private async up(event: PointerEvent): Promise<void> {
    const {drag, fence, host} = this, {x, y} = this.place(event);
    this.drag = null;
    this.fence = null;
    host.redraw();
    if (!drag)
      return;
    if (!drag.isMoved) {
      if (drag.button === 0)
        await this.click(event, x, y);
    } else if (drag.mode === 'zoom' && fence)
      setWindow(host.app, between(fence.from, fence.to), '');
    else if (drag.mode === 'measure' && fence)
      await this.snap(fence, drag.y);
  }

  private measure(fence: Fence, join: string): void {
    const {begin, span} = between(fence.from, fence.to);
    this.host.app.store.update({selection: {begin, end: begin + span}}, join);
  }
  /** The ends of the ruler go to events of the track under it, if one is near. */
  private async snap(fence: Fence, y: number): Promise<void> {
    const {row} = this.host.spotAt(y), {app} = this.host;
    if (!row)
      return;
    const near = async (time: bigint) => {
      const mark = await app.source.nearest(row.track.track, time - shownAt(app, {time: 0n, track: row.track.track}), app.model.shownId);
      return mark && this.distance(shownAt(app, mark), time) <= SNAP ? shownAt(app, mark) : time;
    };
    const [from, to] = await Promise.all([near(fence.from), near(fence.to)]);
    this.measure({mode: 'measure', from, to}, 'ruler');
  }
  private distance(a: bigint, b: bigint): number {
    const window = windowOf(this.host.app), width = this.host.width();
    return Math.abs(placeOf(window, a, width) - placeOf(window, b, width));
  }

  private async click(event: PointerEvent, x: number, y: number): Promise<void> {
    const {app} = this.host, {row, lane} = this.host.spotAt(y), {state} = app.store;
    if (!row)
      return;
    const track = row.track.track;
    if (event.shiftKey)
      return moveTrack(app, track, () => 0);
    if (event.ctrlKey || event.metaKey)
      return moveTrack(app, track, (_, count) => count - 1);
    const time = this.timeAt(x), slew = shownAt(app, {time: 0n, track});
    if (lane !== null) {
      app.store.update({focus: track}, null);
      if (await this.host.openSpan(track, lane, time - slew))
        return;
    } else {
      const mark = await app.source.nearest(track, time - slew, app.model.shownId);
      if (mark && this.distance(shownAt(app, mark), time) <= HIT) {
        app.store.update({event: mark.number, focus: track}, null);
        app.store.update({boxes: toggled(app.store.state.boxes, mark.number)});
        return;
      }
    }
    app.store.update({focus: track, selected: toggled(state.selected, track)});
  }
}
