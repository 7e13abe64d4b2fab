// SPDX-License-Identifier: MIT
// What the reader chose and keeps for the next trace: sizes, theme, colours, clock, the threshold of anomalies (g2: ~/.g2).
// Each run of kymo view has a port of its own, and storage belongs to a port, so they are in a cookie, which belongs to the
// machine. It is never sent with a question to the server. What is in it is not trusted: what is not valid is left out.
import type {State} from './state';
import {initial, read, write} from './state';
import {thresholdOf} from './tabs/anomaly';

const COOKIE = 'kymo-view', STORED = 'kymo.settings', BYTES_MAX = 1000, SECONDS = 400 * 86_400, THRESHOLD_KEY = 'anomaly.threshold';
/** Members of the state that are settings. */
export const SETTINGS: readonly (keyof State)[] = ['rowHeight', 'theme', 'clock', 'colour', 'shape'];
/** Sizes in CSS pixels. */
const SIZES = {'names-width': {least: 70, most: 600}, 'tabs-height': {least: 60, most: 5000}} as const;
export type Size = keyof typeof SIZES;

export interface Kept {
  get(): string;
  set(text: string): void;
}
const attempt = <T>(work: () => T): T | null => { try { return work(); } catch { return null; } };
/** The cookie; a page that is a file has storage only. */
export const browserKept: Kept = {
  get: () => attempt(() => new RegExp(`(?:^|; )${COOKIE}=([^;]*)`).exec(document.cookie)?.[1]) ?? attempt(() => localStorage.getItem(STORED)) ?? '',
  set(text) {
    attempt(() => { document.cookie = `${COOKIE}=${text}; Path=/; Max-Age=${SECONDS}; SameSite=Strict`; });
    if (!document.cookie.includes(`${COOKIE}=`))
      attempt(() => localStorage.setItem(STORED, text));
  },
};

export class Settings {
  private sizes = new Map<Size, number>();
  /** Of the state, as in the URL. */
  readonly fragment: string;
  private threshold = '';
  private state: string;

  constructor(private kept: Kept) {
    const text = kept.get().slice(0, BYTES_MAX), usual = initial(), found = read(text);
    for (const part of text.split('&')) {
      const [name, value] = part.split('='), size = SIZES[name as Size];
      if (Object.hasOwn(SIZES, name) && /^\d{1,5}$/.test(value ?? '') && +value >= size.least && +value <= size.most)
        this.sizes.set(name as Size, +value);
    }
    for (const key of SETTINGS)
      (usual as unknown as Record<string, unknown>)[key] = found[key];
    this.setThreshold(found.tabState.get(THRESHOLD_KEY) ?? '');
    this.fragment = this.state = write(usual);
  }

  /** A state that begins with the settings; a fragment is stronger. */
  begin(fragment: string): State {
    const state = read(fragment ? `${this.fragment}&${fragment}` : this.fragment);
    if (this.threshold && !state.tabState.has(THRESHOLD_KEY))
      state.tabState = new Map(state.tabState).set(THRESHOLD_KEY, this.threshold);
    return state;
  }
  size(name: Size): number | null {
    return this.sizes.get(name) ?? null;
  }
  setSize(name: Size, pixels: number): void {
    this.sizes.set(name, Math.round(pixels));
    this.keep();
  }
  /** Keeps what of a state are settings. */
  take(state: Readonly<State>): void {
    const usual = initial();
    for (const key of SETTINGS)
      (usual as unknown as Record<string, unknown>)[key] = state[key];
    this.state = write(usual);
    this.setThreshold(state.tabState.get(THRESHOLD_KEY) ?? '');
    this.keep();
  }
  private setThreshold(text: string): void {
    this.threshold = text && thresholdOf(text) !== null ? text : '';
  }
  private keep(): void {
    const tabs = this.threshold ? [write({...initial(), tabState: new Map([[THRESHOLD_KEY, this.threshold]])})] : [];
    this.kept.set([this.state, ...tabs, ...[...this.sizes].map(([name, pixels]) => `${name}=${pixels}`)].filter(Boolean).join('&'));
  }
}
