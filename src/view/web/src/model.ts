// SPDX-License-Identifier: MIT
// What the page knows of the traces: lists that are read again while the server indexes, and the filters at work.
import type {FieldInfo, Kind, Loss, Problem, ServerState, Track} from './protocol';
import {lateness, NO_SCHEMA, ReplyError} from './protocol';
import {both, kindsFilter} from './filters';
import type {Source} from './source';
import {finish, isAbort, pause} from './source';
import type {Store} from './state';
import {emptied, renumbered} from './opened';
import {Pairs} from './pairs';
import type {Bounds} from './window';

/** A filter, and how far its pass is. */
export interface ActiveFilter {
  text: string;
  id: string | null; // null until the server has answered
  state: 'running' | 'done' | 'failed';
  done: number | null;
  count: number;
  added: number; // of these, by activities: they are no rows
  error: {message: string; column: number | null} | null;
  indexed: number | null; // how many events there were for it; null: all. Another number: another result
  late: string | null; // said of a result that is not of all events
  from: bigint | null; // it has all events from this time on, but not all before
}

/** What changed: 'state' counts and progress, 'lists' tracks, kinds, fields, losses or problems, 'data' pictures, 'filter' the filters. */
export type ModelChange = 'state' | 'lists' | 'data' | 'filter';

const POLL_BUSY_MS = 250, POLL_IDLE_MS = 3000, KEEP_MS = 5000, AGAIN_MS = 500;

export class Model {
  server: ServerState | null = null;
  tracks: Track[] = [];
  kinds: Kind[] = [];
  spanKinds: string[] = [];
  fields: FieldInfo[] = [];
  schema = NO_SCHEMA;
  losses: Loss[] = [];
  problems: Problem[] = [];
  /** Kinds that are switched off: what they leave is all that is shown. Null: all kinds. */
  base: ActiveFilter | null = null;
  /** The filter of the page together with `base`. Null: the page has none. */
  filter: ActiveFilter | null = null;
  /** The latency that is measured. */
  readonly pairs: Pairs;
  /** Grows when pictures of before are not the newest any more. */
  generation = 0;
  /** The same of the indexed events alone: filters do not count. */
  dataGeneration = 0;

  private listeners = new Set<(change: ModelChange) => void>();
  private running = {base: new AbortController(), filter: new AbortController()};
  private wake: AbortController = new AbortController();

  /** `opened` is called when other tracks have come in place of those before. */
  constructor(readonly source: Source, private store: Store, private opened: (before: readonly Track[]) => void = () => {}) {
    this.pairs = new Pairs(source, store, () => this.isFilterPending ? null : this.filterId, () => { this.tell('lists'); this.tell('data'); });
    store.subscribe(() => this.refilter(), 'filter', 'kindsOff');
  }

  subscribe(listener: (change: ModelChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  get bounds(): Bounds {
    return {begin: this.server?.begin ?? 0n, end: this.server?.end ?? 0n};
  }
  /** The filter at work: one that is wrong is left out, and the kinds that are off stay off. */
  get active(): ActiveFilter | null {
    return this.filter && !this.filter.error ? this.filter : this.base;
  }
  /** The id for requests that are to see what the filters select: of tables, searches, selections, numbers. */
  get filterId(): string | undefined {
    return this.active?.id ?? undefined;
  }
  /** The filter has no id yet: what would be asked without it would be thrown away. */
  get isFilterPending(): boolean {
    return this.active !== null && this.active.id === null && this.active.state === 'running';
  }
  /** The id of what the picture shows: also what the filter only dims. */
  get shownId(): string | undefined {
    return this.store.state.hides ? this.filterId : this.base?.id ?? undefined;
  }
  /** The text of filterId's filter. */
  get filterText(): string {
    return this.active?.text ?? '';
  }
  kindName(kind: number): string {
    return this.kinds[kind]?.name ?? `#${kind}`;
  }
  trackName(track: number): string {
    return this.tracks[track]?.name ?? `#${track}`;
  }

  /** Follows the server for ever. */
  async run(): Promise<void> {
    let failures = 0;
    for (;;) {
      try {
        await this.refresh();
        failures = 0;
      } catch (error) {
        if (!isAbort(error))
          failures++;
      }
      const server = this.server, isBusy = !server || !server.isComplete || server.isLive || failures > 0;
      this.wake = new AbortController();
      await pause(isBusy ? POLL_BUSY_MS * Math.min(8, 1 + failures) : POLL_IDLE_MS, this.wake.signal).catch(() => {});
    }
  }
  /** Looks at the server now instead of after the pause. */
  poll(): void {
    this.wake.abort();
  }

  private async refresh(): Promise<void> {
    const server = await this.source.state(), before = this.server, isNew = !before || before.generation !== server.generation;
    if (isNew) {
      const isOther = before !== null && (server.generation < before.generation || server.shows !== before.shows || server.tracks < before.tracks), tracks = this.tracks;
      await this.refreshLists(server, before, isOther);
      this.server = server;
      if (before && (server.opened !== before.opened || server.rebuilt !== before.rebuilt))
        this.take(server, before, tracks);
      if (isOther && server.trackBy !== before.trackBy)
        this.store.update({order: [], hidden: [], pinned: [], selected: [], collapsed: [], slew: new Map(), focus: null, scroll: 0}, null);
      this.generation++;
      this.dataGeneration++;
      if (isOther || this.filter?.state === 'running' || server.isLive || !before)
        this.refilter(true);
      if (isOther || server.isLive || !before)
        this.pairs.start();
      this.tell('lists');
      this.tell('data');
    }
    this.server = server;
    this.tell('state');
  }

  /** The traces are other ones, or the same ones after another look at them: what was chosen stays as far as it is there. */
  private take(server: ServerState, before: ServerState, tracks: readonly Track[]): void {
    const isSame = server.files.join('\n') === before.files.join('\n');
    this.store.restart(isSame ? renumbered(this.store.state, tracks, this.tracks) : emptied());
    this.opened(tracks);
  }

  private async refreshLists(server: ServerState, before: ServerState | null, isOther: boolean): Promise<void> {
    const isNew = !before || isOther, {source} = this;
    if (server.files.length === 0) { // nothing is open
      this.tracks = this.kinds = this.spanKinds = this.fields = this.losses = this.problems = [];
      this.schema = NO_SCHEMA;
      return;
    }
    const tracks = source.tracks(), kinds = source.kinds();
    const fields = isNew || server.kinds !== before.kinds || server.files.length !== before.files.length || this.fields.length === 0 ? source.fields() : this.fields;
    const losses = isNew || server.losses !== before.losses ? source.losses() : this.losses;
    const problems = isNew || server.problems !== before.problems ? source.problems() : this.problems;
    const schema = isNew ? source.schema() : this.schema, all = await Promise.all([tracks, kinds, fields, schema, losses, problems]); // together: they are of one trace
    [this.tracks, {kinds: this.kinds, spanKinds: this.spanKinds}, this.fields, this.schema, this.losses, this.problems] = all;
  }

  private tell(change: ModelChange): void {
    if (change === 'filter')
      this.pairs.restart();
    for (const listener of [...this.listeners])
      listener(change);
  }

  /** Starts the filters that the state asks for. `again`: also those that run. */
  refilter(again = false): void {
    const {filter, kindsOff} = this.store.state, base = kindsFilter(this.kinds.map(kind => kind.name), kindsOff);
    this.start('base', base, again);
    this.start('filter', filter.trim() ? both(base, filter.trim()) : '', again);
  }

  private start(which: 'base' | 'filter', text: string, again: boolean): void {
    const before = this[which];
    if ((before?.text ?? '') === text && !again)
      return;
    this.running[which].abort();
    this.running[which] = new AbortController();
    this[which] = text === '' ? null : before?.text === text ? before : {text, id: null, state: 'running', done: null, count: 0, added: 0, error: null, indexed: null, late: null, from: null};
    if (text !== '')
      void this.follow(which, text, this.running[which].signal);
    this.generation++;
    this.tell('filter');
    this.tell('data');
  }

  private async follow(which: 'base' | 'filter', text: string, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        const {indexed} = await finish(() => this.source.filter(text, signal), signal, reply => {
          if (signal.aborted)
            return;
          const before = this[which], isSame = before?.id === reply.id && before.state === reply.state && before.count === reply.count && before.done === reply.done && before.indexed === reply.indexed && before.late === lateness(reply) && before.from === reply.from;
          this[which] = {text, id: reply.state === 'failed' ? null : reply.id, state: reply.state, done: reply.done, count: reply.count, added: reply.added, error: reply.error, indexed: reply.indexed, late: lateness(reply), from: reply.from};
          if (isSame)
            return;
          this.generation++;
          this.tell('filter');
          this.tell('data');
        });
        const isBehind = this.server?.isLive && indexed !== null && indexed < this.server.events;
        await pause(isBehind ? AGAIN_MS : KEEP_MS, signal); // a filter that nobody asks for is freed
      }
    } catch (error) {
      if (signal.aborted || isAbort(error))
        return;
      const message = error instanceof Error ? error.message : String(error);
      this[which] = {text, id: null, state: 'failed', done: null, count: 0, added: 0, error: {message, column: error instanceof ReplyError ? error.column : null}, indexed: null, late: null, from: null};
      this.generation++;
      this.tell('filter');
      this.tell('data');
    }
  }
}
