// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import {dark, hueOf, light} from '../src/colors';
import {entries} from '../src/legend';
import {areSame, byEvents, coloursOf, wordsOf} from '../src/texts';

const list = (...events: number[]) => events.map((events, i) => ({text: `text ${i}`, isCut: false, events}));

describe('texts by which events are coloured', () => {
  it('have different colours, as far as there are so many, and that of their name where it is free', () => {
    for (const palette of [light, dark]) {
      const texts = list(...palette.hues.map((_, i) => (i * 7) % 12 + 1)), colours = coloursOf(texts, palette);
      expect(new Set(colours).size).toBe(palette.hues.length);
      const [most] = byEvents(texts);
      expect(colours[most]).toBe(hueOf(texts[most].text, palette));
      const many = list(...Array.from({length: 200}, () => 1));
      expect(coloursOf(many, palette).slice(palette.hues.length)).toEqual(many.slice(palette.hues.length).map(({text}) => hueOf(text, palette)));
    }
    expect(coloursOf([], light)).toEqual([]);
  });
  it('have words that are short, and are never empty', () => {
    const texts = [{text: '', isCut: false, events: 1}, {text: 'x'.repeat(41), isCut: false, events: 1}, {text: 'cut', isCut: true, events: 1}];
    expect([0, 1, 2, 3].map(i => wordsOf(texts, i))).toEqual(['""', `${'x'.repeat(40)}…`, 'cut…', 'another text']);
  });
  it('are in the legend, the most frequent first', () => {
    const of = (...events: number[]) => entries({name: 'a', range: {least: 0, most: events.length - 1}, steps: [0], texts: list(...events)}, light);
    expect(of(1, 30, 2).map(({text}) => text)).toEqual(['text 1', 'text 2', 'text 0', 'no value']);
    const many = of(...Array.from({length: 50}, (_, i) => i));
    expect([many.length, many[0].text, many[12]]).toEqual([14, 'text 49', {colour: null, text: '38 more, in the same colours'}]);
  });
  it('are compared', () => {
    expect([areSame(null, null), areSame(list(1), null), areSame(list(1), list(1)), areSame(list(1), list(2)), areSame(list(1), list(1, 2))]).toEqual([true, false, true, false, false]);
  });
});
