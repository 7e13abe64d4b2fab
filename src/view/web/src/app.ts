// SPDX-License-Identifier: MIT
// What the parts of the page have in common.
import type {Palette} from './colors';
import type {Clock} from './format';
import {timeText} from './format';
import type {Model} from './model';
import type {Mark} from './protocol';
import type {Rows} from './rows';
import type {Settings} from './settings';
import type {Snapshots} from './snapshots';
import type {Source} from './source';
import type {Store} from './state';
import type {Window} from './window';
import {clip, limit, whole} from './window';

/** What the others need of the timeline. */
export interface TimelineView {
  readonly rows: Rows;
  /** Width of the picture in CSS pixels. */
  readonly width: number;
  /** Scrolls a track into view, if it is not. */
  reveal(track: number): void;
  scrollRows(rows: number): void;
  scrollTo(row: number): void;
  exportPng(): Promise<void>;
  exportSvg(): void;
  /** The picture for paper, as SVG in light colours. */
  paper(): string;
  /** Gives up a drag, or removes the ruler. False: there was neither. */
  escape(): boolean;
}

export interface App {
  readonly store: Store;
  readonly source: Source;
  readonly model: Model;
  timeline: TimelineView;
  readonly snapshots: Snapshots;
  readonly settings: Settings;
  /** Colours of the theme in use. */
  palette: Palette;
  /** Says something in the status line, which screen readers read aloud. */
  say(message: string): void;
  run(command: string): void;
  /** Copies a text, and says so. */
  copy(text: string, what: string): Promise<void>;
  showTab(tab: string): void;
}

export function clockOf(app: App): Clock {
  const server = app.model.server;
  return {begin: server?.begin ?? 0n, isEpoch: server?.isEpoch ?? false, hasTimes: server?.hasTimes ?? true};
}
/** A time as the page shows it now. */
export function shownTime(app: App, time: bigint, places?: number): string {
  return timeText(time, app.store.state.clock, clockOf(app), places);
}

/** The window in use: span 0 in the state means the whole trace. */
export function windowOf(app: Pick<App, 'store' | 'model'>): Window {
  const {begin, span} = app.store.state;
  return span > 0n ? limit({begin, span}) : whole(app.model.bounds);
}
export function setWindow(app: App, window: Window, join = 'window'): void {
  const clipped = clip(window, app.model.bounds), all = whole(app.model.bounds), isWhole = clipped.begin === all.begin && clipped.span === all.span;
  app.store.update(isWhole ? {begin: 0n, span: 0n} : clipped, join);
}

/** The time at which an event is shown: with the slew of its track. */
export function shownAt(app: App, mark: Pick<Mark, 'time' | 'track'>): bigint {
  return mark.time + (app.store.state.slew.get(mark.track) ?? 0n);
}

/** Shows an event: its track and time come into view as g2 does it (same width, centred if it was outside). */
export function reveal(app: App, mark: Mark, patch: {found?: number} = {}): void {
  const window = windowOf(app), time = shownAt(app, mark);
  if (time < window.begin || time >= window.begin + window.span)
    setWindow(app, {begin: time - (window.span + 1n) / 2n, span: window.span});
  app.store.update({...patch, event: mark.number, focus: mark.track}, null);
  app.timeline.reveal(mark.track);
}
