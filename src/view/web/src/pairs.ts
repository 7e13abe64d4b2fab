// SPDX-License-Identifier: MIT
// The pairs of the latency that is measured, drawn as a track: when they end, and how long they are. They are those among the
// events that the filter selects; a bar of the histogram limits them to its times.
import type {LatencyReply} from './protocol';
import type {LatencyQuery, Source} from './source';
import {finish, isAbort, pause, slewText} from './source';
import type {State, Store} from './state';

export interface ActivePairs {
  from: string;
  to: string;
  key: string;
  reply: LatencyReply;
}

const KEEP_MS = 5000, LIMITS = 'latency.bar';

/** The limits as the URL has them, "1024,2047"; null: there are none. */
export function limitsIn(state: Readonly<State>): {low: bigint; high: bigint} | null {
  const found = /^(-?\d{1,19}),(-?\d{1,19})$/.exec(state.tabState.get(LIMITS) ?? '');
  return found ? {low: BigInt(found[1]), high: BigInt(found[2])} : null;
}
export function setLimits(store: Store, limits: {low: bigint; high: bigint} | null): void {
  const tabState = new Map(store.state.tabState);
  if (limits) tabState.set(LIMITS, `${limits.low},${limits.high}`); else tabState.delete(LIMITS);
  store.update({tabState}, null);
}
/** What is asked of the server; null: nothing is measured. */
export function latencyQuery(state: Readonly<State>, filter: string | undefined): LatencyQuery | null {
  const {latencyFrom: from, latencyTo: to, latencyKey: key} = state;
  return from && to ? {from, to, key: key || undefined, filter, slew: slewText(state.slew), ...limitsIn(state)} : null;
}
const textOf = (query: LatencyQuery | null) => query ? [query.from, query.to, query.key, query.filter, query.slew, query.low, query.high].join('\n') : '';

export class Pairs {
  current: ActivePairs | null = null;
  private running = new AbortController();
  private asked = '';
  private kinds = '';

  /** `filter` is the id of the filter at work; null: it has none yet. */
  constructor(private source: Source, private store: Store, private filter: () => string | undefined | null, private changed: () => void) {
    store.subscribe(() => this.restart(), 'latencyFrom', 'latencyTo', 'latencyKey', 'tabState', 'slew');
  }

  get name(): string {
    return this.current ? `${this.current.from} → ${this.current.to}` : '';
  }
  /** The id for pictures; null: there are none. */
  get id(): string | null {
    return this.current?.reply.state === 'failed' ? null : this.current?.reply.id || null;
  }

  /** Asks if the question is another one than before. */
  restart(): void {
    const {latencyFrom, latencyTo, latencyKey} = this.store.state, before = this.kinds;
    this.kinds = [latencyFrom, latencyTo, latencyKey].join('\n');
    if (before.trim() && before !== this.kinds && limitsIn(this.store.state))
      return setLimits(this.store, null); // which comes here again
    const filter = this.filter();
    if (filter !== null && textOf(latencyQuery(this.store.state, filter)) !== this.asked)
      this.start();
  }
  /** Asks again, after the data or the question changed. */
  start(): void {
    const filter = this.filter();
    if (filter === null)
      return;
    const query = latencyQuery(this.store.state, filter), text = textOf(query), {current} = this;
    this.running.abort();
    this.running = new AbortController();
    if (text !== this.asked && current && (!query || current.from !== query.from || current.to !== query.to || current.key !== (query.key ?? ''))) {
      this.current = null;
      this.changed();
    }
    this.asked = text;
    if (query)
      void this.follow(query, this.running.signal);
  }

  private async follow(query: LatencyQuery, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        const reply = await finish(() => this.source.latency(query, signal), signal), before = this.current?.reply;
        if (signal.aborted)
          return;
        this.current = {from: query.from, to: query.to, key: query.key ?? '', reply};
        if (before?.id !== reply.id || before.count !== reply.count)
          this.changed();
        await pause(KEEP_MS, signal); // a task that nobody asks for is freed
      }
    } catch (error) {
      if (!signal.aborted && !isAbort(error)) { // the tab says what is wrong
        this.current = null;
        this.changed();
      }
    }
  }
}
