// SPDX-License-Identifier: MIT
// All events that the filter selects, as a table: only the rows in view are elements, also of millions. It follows the
// timeline, and the timeline follows it.
import type {App} from '../app';
import {reveal, shownAt, shownTime, windowOf} from '../app';
import {hueOf, toHex} from '../colors';
import {button, element, set, setText} from '../dom';
import {count} from '../format';
import {RowPages} from '../pages';
import type {RowsQuery} from '../source';
import {slewText} from '../source';
import {VirtualRows} from '../virtual';
import {detail} from './detail';
import {Job} from './job';
import type {Tab, TabView} from './tab';
import {setTabState, tabStateOf} from './table';

const ROW_HEIGHT = 20, CONTEXT_ROWS = 3, FOLLOW_PAUSE_MS = 120;
const COLUMNS = ['Time', 'Track', 'Kind', 'Text'];

export const events: Tab = {
  id: 'events',
  title: 'Events',
  mount: (panel, app) => new EventsTab(panel, app),
};

class EventsTab implements TabView {
  private pages: RowPages;
  private rows: VirtualRows;
  private detail: ReturnType<typeof detail>;
  private grid: HTMLElement;
  private summary = element('span', {class: 'note', role: 'status'});
  private follow: HTMLButtonElement;
  private finder = new Job(message => this.app.say(message));
  private follower = new Job(() => {});
  private total = 0;
  private current = -1; // row of the selected event, if that is known
  private shownEvent: number | null = null;
  private wanted = -1; // a row that was chosen before it was read
  private key = '';
  private generation = -1;
  private result = ''; // of a live trace: what its rows are of
  private ownWindow = ''; // the window as this table set it

  constructor(panel: HTMLElement, private app: App) {
    this.pages = new RowPages((first, size, signal) => app.source.rows(first, size, this.query(), signal), total => this.came(total), error => this.failed(error));
    const layer = element('div', {class: 'rows', role: 'rowgroup'}), spacer = element('div', {class: 'spacer', role: 'presentation'});
    this.grid = element('div', {class: 'events-grid', role: 'grid', tabindex: 0, 'aria-label': 'Events', 'aria-colcount': COLUMNS.length, 'aria-readonly': 'true'},
      element('div', {class: 'head', role: 'rowgroup'}, element('div', {class: 'row', role: 'row', 'aria-rowindex': 1}, ...COLUMNS.map(name => element('span', {role: 'columnheader'}, name)))),
      layer, spacer);
    this.rows = new VirtualRows(this.grid, layer, spacer, {
      rowHeight: ROW_HEIGHT, headHeight: ROW_HEIGHT + 2, make: () => this.make(), fill: (target, row) => this.fill(target, row),
      shown: (first, size) => {
        if (size > 0)
          this.pages.want(first, size);
        if (this.current < first || this.current >= first + size)
          set(this.grid, {'aria-activedescendant': null});
      },
      scrolled: () => {
        this.follower.stop(); // its answer would scroll away from where the user went
        this.ownWindow = this.windowKey();
      },
    });
    this.grid.addEventListener('keydown', event => this.pressed(event));
    this.grid.addEventListener('click', event => {
      const target = (event.target as HTMLElement).closest<HTMLElement>('[data-row]');
      if (target)
        this.choose(Number(target.dataset.row));
    });
    this.grid.addEventListener('dblclick', () => app.run('box'));
    this.follow = button('Follow', () => this.toggleFollow(), {class: 'quiet', title: 'The table scrolls to the window of the timeline'});
    this.detail = detail(app);
    panel.classList.add('events-panel');
    panel.append(element('div', {class: 'events-list'},
      element('div', {class: 'bar'}, this.summary, this.follow,
        button('Copy the command', () => app.run('copy-command'), {class: 'quiet', title: 'kymo cat --filter … (Y)'})), this.grid), this.detail.root);
  }

  update(): void {
    const {model, store: {state}} = this.app, {active, server} = model;
    if (!server || model.isFilterPending)
      return this.describe();
    const key = `${active?.id ?? ''} ${server.shows} ${server.files.length} ${slewText(state.slew) ?? ''}`, result = this.resultOf();
    if (key !== this.key || server.generation < this.generation) {
      this.pages.clear();
      this.key = key;
      this.current = this.wanted = -1;
      this.shownEvent = null;
      if (state.event === null)
        this.ownWindow = ''; // other rows are in the window now
    } else if (result !== this.result) {
      this.pages.renew();
    } else if (this.generation !== server.generation || active?.state === 'running')
      this.pages.grow();
    this.generation = server.generation;
    this.result = result;
    this.total = active?.id ? active.count - active.added : server.events;
    this.describe();
    this.rows.setTotal(this.total);
    this.rows.draw();
    this.find(state.event);
    this.followWindow();
    this.detail.update();
    set(this.follow, {'aria-pressed': String(this.isFollowing)});
  }
  /** A filter of a live trace is made anew, with the same id: then other rows may be in the places of earlier ones. So may late events where slews decide the order. */
  private resultOf(): string {
    const {model: {active, server}, store: {state}} = this.app, slew = slewText(state.slew);
    return server?.isLive && (active?.id || slew) ? [server.generation, active?.count, active?.done, active?.indexed, active?.from].join() : '';
  }
  private query(): RowsQuery {
    return {filter: this.app.model.filterId, slew: slewText(this.app.store.state.slew)};
  }
  hide(): void {
    this.pages.stop();
    this.finder.stop();
    this.follower.stop();
    this.detail.hide();
  }

  private get isFollowing(): boolean {
    return tabStateOf(this.app, 'events.follow') !== 'off';
  }
  private toggleFollow(): void {
    setTabState(this.app, {'events.follow': this.isFollowing ? 'off' : ''});
    this.app.say(this.isFollowing ? 'The table follows the timeline.' : 'The table stays where it is.');
  }

  private describe(): void {
    const {model} = this.app, {active} = model, all = model.server?.events ?? 0;
    setText(this.summary, !model.server ? '' : model.filter?.error ? `The filter cannot be used: ${active ? `${count(active.count)} of ${count(all)} events` : 'all events'} are listed.`
      : active ? `${count(active.count - active.added)} of ${count(all)} events${active.state === 'running' ? ' so far' : ''}${active.added ? `; ${count(active.added)} that activities add are not listed` : ''}` : `${count(all)} events`);
    set(this.grid, {'aria-rowcount': this.total + 1});
  }

  // ---- rows ----

  private make(): HTMLElement {
    const swatch = element('span', {class: 'swatch', 'aria-hidden': 'true'});
    return element('div', {class: 'row', role: 'row'}, element('span', {role: 'gridcell', class: 'time'}), element('span', {role: 'gridcell'}),
      element('span', {role: 'gridcell'}, swatch, element('span')), element('span', {role: 'gridcell', class: 'text'}));
  }
  private fill(target: HTMLElement, index: number): void {
    const {app} = this, row = this.pages.get(index), [time, track, kind, text] = target.children, name = row ? app.model.kindName(row.kind) : '';
    set(target, {'data-row': index, 'aria-rowindex': index + 2, id: `events-row-${index}`, class: index % 2 ? 'row odd' : 'row', 'aria-selected': String(index === this.current),
      'aria-busy': row ? null : 'true'});
    setText(time, row ? shownTime(app, shownAt(app, row)) : '…');
    setText(track, row ? app.model.trackName(row.track) : '');
    setText(kind.children[1], name);
    (kind.children[0] as HTMLElement).hidden = !row;
    if (row) (kind.children[0] as HTMLElement).style.background = toHex(hueOf(name, app.palette));
    setText(text, !row ? '' : row.text ?? 'overwritten');
    set(text, {class: row?.text === null ? 'text gone' : 'text', title: row?.text === null ? 'The ring has overwritten its fields.' : null});
    if (index === this.current && this.grid.getAttribute('aria-activedescendant') !== target.id)
      set(this.grid, {'aria-activedescendant': target.id});
  }
  private came(total: number): void {
    if (total > this.total || !this.app.model.server?.isComplete)
      this.total = Math.max(this.total, total);
    this.rows.setTotal(this.total);
    if (this.result && this.current >= 0 && this.shownEvent !== null && this.pages.get(this.current)?.number !== this.shownEvent)
      this.current = this.pages.find(this.shownEvent);
    if (this.wanted >= 0 && this.pages.get(this.wanted))
      this.choose(this.wanted);
    this.rows.draw();
  }
  private failed(error: unknown): void {
    this.app.say(error instanceof Error ? error.message : String(error));
  }

  // ---- the selected event ----

  /** Chooses a row: the timeline shows its event. */
  private choose(index: number): void {
    const row = this.pages.get(index);
    this.follower.stop();
    this.setCurrent(index);
    if (!row) {
      this.wanted = index;
      return;
    }
    this.wanted = -1;
    this.shownEvent = row.number;
    reveal(this.app, row);
    this.ownWindow = this.windowKey();
    this.app.say(`${this.app.model.kindName(row.kind)} on ${this.app.model.trackName(row.track)}, row ${count(index + 1)} of ${count(this.total)}.`);
  }
  private setCurrent(index: number): void {
    this.current = index;
    this.rows.show(index);
    set(this.grid, {'aria-activedescendant': this.rows.elementOf(index)?.id ?? null});
  }
  /** Shows the event that was selected elsewhere, if the filter selects it. */
  private find(number: number | null): void {
    if (number === this.shownEvent)
      return;
    this.shownEvent = number;
    this.current = this.wanted = -1;
    set(this.grid, {'aria-activedescendant': null});
    if (number === null)
      return this.finder.forget();
    this.finder.forget();
    this.finder.ask(`${number} ${this.key}`, async signal => {
      const {source} = this.app, query = this.query(), row = await source.rowOf(number, query, signal), [found] = (await source.rows(row, 1, query, signal)).rows;
      this.follower.stop(); // its answer would scroll the event away
      this.ownWindow = this.windowKey();
      if (found?.number === number)
        this.current = row;
      this.rows.show(row, CONTEXT_ROWS);
      this.rows.draw();
    });
  }

  // ---- the timeline ----

  private windowKey(): string {
    const {selection} = this.app.store.state, window = windowOf(this.app);
    return `${window.begin} ${window.span} ${selection?.begin} ${selection?.end}`;
  }
  /** Scrolls to the window, or to the ruler when that is new, unless rows of it are in view. */
  private followWindow(): void {
    const key = this.windowKey();
    if (key === this.ownWindow || !this.isFollowing || this.total === 0)
      return;
    const [, , rulerBefore] = this.ownWindow.split(' '), {selection} = this.app.store.state, window = windowOf(this.app);
    const isRuler = selection !== null && rulerBefore !== undefined && rulerBefore !== String(selection.begin), begin = isRuler ? selection.begin : window.begin, end = isRuler ? selection.end : window.begin + window.span;
    this.follower.ask(`${key} ${this.key}`, async signal => {
      this.ownWindow = key;
      const top = this.pages.get(this.rows.first);
      if (top && shownAt(this.app, top) >= begin && shownAt(this.app, top) < end || this.current >= 0 && this.rows.isShown(this.current) && this.isIn(this.current, begin, end))
        return;
      const row = await this.app.source.rowAt(begin, this.query(), signal);
      this.rows.catchUp();
      if (signal.aborted)
        return;
      this.rows.show(Math.min(this.total - 1, row + this.rows.count - 1));
      this.rows.show(Math.min(this.total - 1, row));
    }, {pauseMs: FOLLOW_PAUSE_MS});
  }
  private isIn(index: number, begin: bigint, end: bigint): boolean {
    const row = this.pages.get(index);
    return row !== undefined && shownAt(this.app, row) >= begin && shownAt(this.app, row) < end;
  }

  // ---- keys ----

  private pressed(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey)
      return;
    if (event.ctrlKey && event.key === 'c' && !String(getSelection())) {
      event.preventDefault();
      return this.detail.copy();
    }
    const from = this.current >= 0 ? this.current : this.rows.first - (event.key === 'ArrowDown' ? 1 : 0), page = this.rows.count;
    const to = {ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + page, PageUp: from - page, Home: 0, End: this.total - 1}[event.key];
    if (to === undefined || this.total === 0 || event.ctrlKey && !['Home', 'End'].includes(event.key))
      return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(Math.max(0, Math.min(this.total - 1, to)));
  }
}
