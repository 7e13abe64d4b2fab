// SPDX-License-Identifier: MIT
// Details of events and spans over the timeline. They stay until they are closed, and hide while their event is not shown.
import type {App} from './app';
import {setWindow, shownAt, shownTime, windowOf} from './app';
import {button, element, set, setText} from './dom';
import {both, fieldFilter, quote} from './filters';
import {durationExact} from './format';
import type {EventDetail, Mark, Span} from './protocol';
import {GONE} from './protocol';
import {between, placeOf} from './window';

/** Where a box points to, in CSS pixels of the picture. */
export interface Anchor {
  x: number;
  y: number;
  boxX: number;
  boxY: number;
}

const FIELDS_MAX = 40;

export class Boxes {
  readonly root = element('div', {class: 'boxes'});
  private details = new Map<number, EventDetail>();
  private asked = new Set<number>();
  private made = new Map<string, HTMLElement>();
  private span: {track: number; lane: number; span: Span} | null = null;

  constructor(private app: App, private changed: () => void) {}

  /** The details of an event, if they are known by now; else they are asked for. */
  detail(number: number): EventDetail | null {
    const known = this.details.get(number);
    if (!known && !this.asked.has(number)) {
      const {asked, details} = this;
      asked.add(number);
      void this.app.source.event(number).then(detail => { details.set(number, detail); this.changed(); }, () => setTimeout(() => asked.delete(number), 2000));
    }
    return known ?? null;
  }
  get isComplete(): boolean {
    return this.asked.size === this.details.size;
  }
  /** Numbers of events are of one trace: another one has others. */
  forget(): void {
    this.details = new Map(); // answers that are on their way belong to the maps of before
    this.asked = new Set();
    for (const box of this.made.values())
      box.remove();
    this.made.clear();
    this.span = null;
  }

  toggleSpan(track: number, lane: number, span: Span): void {
    const isSame = this.span?.track === track && this.span.lane === lane && this.span.span.begin === span.begin;
    this.span = isSame ? null : {track, lane, span};
    this.changed();
  }
  closeSpan(): boolean {
    const was = this.span !== null;
    this.span = null;
    this.changed();
    return was;
  }

  /** Places all boxes; `yOf` is the middle of a track's strip (or lane), or null if it is not seen. Returns lines to be drawn. */
  place(width: number, height: number, yOf: (track: number, lane: number | null) => number | null): Anchor[] {
    const {state} = this.app.store, window = windowOf(this.app), anchors: Anchor[] = [], shown = new Set<string>(), off = new Set(state.kindsOff);
    const put = (key: string, x: number, y: number | null, make: () => HTMLElement, facts?: () => string) => {
      if (y === null || x < 0 || x > width)
        return;
      let box = this.made.get(key);
      if (!box) {
        box = make();
        this.made.set(key, box);
        this.root.append(box);
      }
      shown.add(key);
      box.hidden = false;
      if (facts) // slews and clocks change the time
        setText(box.children[1], facts());
      const boxWidth = box.offsetWidth, boxHeight = box.offsetHeight;
      const boxX = Math.max(2, Math.min(width - boxWidth - 2, x + 14)), above = y - 20 - boxHeight, boxY = above >= 2 ? above : Math.max(2, Math.min(height - boxHeight - 2, y + 20));
      box.style.transform = `translate(${Math.round(boxX)}px, ${Math.round(boxY)}px)`;
      anchors.push({x, y, boxX: Math.max(boxX, Math.min(x, boxX + boxWidth)), boxY: boxY > y ? boxY : boxY + boxHeight});
    };
    for (const number of state.boxes) {
      const detail = this.detail(number);
      if (detail && !off.has(detail.name))
        put(`event ${number}`, placeOf(window, shownAt(this.app, detail), width), yOf(detail.track, null), () => this.eventBox(detail), () => this.factsOf(detail));
    }
    if (this.span) {
      const {track, lane, span} = this.span, begin = shownAt(this.app, {time: span.begin, track}), x = placeOf(window, begin, width), end = placeOf(window, begin + span.duration, width);
      if (end >= 0 && x <= width)
        put(`span ${track}:${lane} ${span.begin}`, Math.max(0, Math.min(width, x)), yOf(track, lane), () => this.spanBox(track, span));
    }
    for (const [key, box] of this.made)
      if (!shown.has(key)) {
        const isOpen = key.startsWith('event ') && state.boxes.includes(Number(key.slice(6)));
        if (box.contains(document.activeElement))
          document.getElementById('timeline-grid')?.focus();
        if (isOpen)
          box.hidden = true;
        else {
          box.remove();
          this.made.delete(key);
        }
      }
    return anchors;
  }

  private factsOf(detail: EventDetail): string {
    return `${shownTime(this.app, shownAt(this.app, detail))} · ${this.app.model.trackName(detail.track)} · event ${detail.number}`;
  }
  private eventBox(detail: EventDetail): HTMLElement {
    const {app} = this, close = () => app.store.update({boxes: app.store.state.boxes.filter(number => number !== detail.number)});
    const add = (path: string, text: string) => app.store.update({filter: both(app.store.state.filter.trim(), fieldFilter(path, text))});
    const at = () => shownAt(app, detail as Mark), isOwn = (field: {path: string}) => detail.text.includes(`${field.path} = `);
    const own = detail.fields.filter(isOwn).slice(0, FIELDS_MAX), others = detail.fields.filter(field => !isOwn(field)).slice(0, FIELDS_MAX);
    const table = (fields: typeof own) => element('table', {}, element('tbody', {}, ...fields.map(field => element('tr', {}, element('th', {scope: 'row'}, field.path), element('td', {}, field.text),
      element('td', {}, button('=', () => add(field.path, field.text), {class: 'quiet', title: 'Filter: events with this value', 'aria-label': `Filter: ${field.path} = ${field.text}`}))))));
    return element('section', {class: 'box', tabindex: -1, 'aria-label': `Event ${detail.number}: ${detail.name}`},
      element('div', {class: 'box-head'}, element('strong', {}, detail.name), button('×', close, {class: 'quiet', 'aria-label': `Close the details of event ${detail.number}`})),
      element('div', {class: 'box-facts'}, this.factsOf(detail)),
      detail.text && own.length === 0 ? element('div', {class: 'box-text'}, detail.text) : null,
      detail.isGone ? element('div', {class: 'note'}, GONE) : null,
      own.length ? table(own) : null,
      others.length ? element('details', {}, element('summary', {}, own.length ? `${others.length} more fields` : `${others.length} fields`), table(others)) : null,
      element('div', {class: 'bar'},
        button('A', () => app.store.update({markA: at()}), {title: 'Mark A here'}), button('B', () => app.store.update({markB: at()}), {title: 'Mark B here'}),
        button('Only', () => app.store.update({kindsOff: app.model.kinds.map(kind => kind.name).filter(name => name !== detail.name)}), {title: 'Show only this kind'}),
        button('From', () => app.store.update({latencyFrom: detail.name}, null), {title: 'Latency from this kind'}), button('To', () => { app.store.update({latencyTo: detail.name}, null); app.showTab('latency'); }, {title: 'Latency to this kind'}),
        button('Filter', () => app.store.update({filter: `EVENT = ${quote(detail.name)}`}), {title: 'Filter: this kind'})));
  }

  private spanBox(track: number, span: Span): HTMLElement {
    const {app} = this, window = () => between(shownAt(app, {time: span.begin, track}), shownAt(app, {time: span.begin, track}) + span.duration);
    const box = element('section', {class: 'box', tabindex: -1, 'aria-label': `Span ${span.name}`},
      element('div', {class: 'box-head'}, element('strong', {}, span.name), button('×', () => this.closeSpan(), {class: 'quiet', 'aria-label': `Close the details of span ${span.name}`})),
      element('div', {class: 'box-facts'}, `${durationExact(span.duration)} from ${shownTime(app, window().begin)} · ${app.model.trackName(track)}`),
      element('div', {class: 'bar'}, button('Zoom to it', () => setWindow(app, {begin: window().begin - window().span / 10n, span: window().span * 12n / 10n}, '')),
        button('Measure', () => app.store.update({selection: {begin: window().begin, end: window().begin + window().span}}), {title: 'Set the ruler to this span'})));
    set(box, {'data-span': span.name});
    return box;
  }
}
