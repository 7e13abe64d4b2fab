// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import type {Kept} from '../src/settings';
import {Settings} from '../src/settings';
import {initial} from '../src/state';

const keeper = (text = ''): Kept & {text: string} => ({text, get() { return this.text; }, set(now) { this.text = now; }});

describe('settings', () => {
  it('are there in the next run, and a link is stronger', () => {
    const kept = keeper(), first = new Settings(kept);
    first.take({...initial(), rowHeight: 31, theme: 'dark', tabState: new Map([['anomaly.threshold', '3.5'], ['histogram.field', 'size']])});
    first.setSize('names-width', 333);
    first.setSize('tabs-height', 200);
    const next = new Settings(kept), state = next.begin('');
    expect([state.rowHeight, state.theme, [...state.tabState], next.size('names-width'), next.size('tabs-height')]).toEqual([31, 'dark', [['anomaly.threshold', '3.5']], 333, 200]);
    const linked = next.begin('h=12&tabs=histogram.field=size');
    expect([linked.rowHeight, linked.theme, [...linked.tabState]]).toEqual([12, 'dark', [['histogram.field', 'size'], ['anomaly.threshold', '3.5']]]);
    expect(next.begin('tabs=anomaly.threshold=4').tabState.get('anomaly.threshold')).toBe('4');
  });
  it('that are not valid are left out', () => {
    for (const text of ['h=9999&theme=pink&names-width=3&tabs-height=abc&tabs=anomaly.threshold=-1', '%%%', '=&&==', 'h=', 'x'.repeat(100_000), 'names-width=1e9', 'tabs=anomaly.threshold=x,constructor=1', '__proto__=5&constructor=7', '\u0000h=5']) {
      const settings = new Settings(keeper(text));
      expect([settings.begin(''), settings.size('names-width'), settings.size('tabs-height')]).toEqual([initial(), null, null]);
    }
    expect(new Settings(keeper('nonsense&h=31&=%')).begin('').rowHeight).toBe(31);
  });
});
