// SPDX-License-Identifier: MIT
// Texts of a field by which events are coloured: which colour each has, and its words.
import type {Palette, Rgb} from './colors';
import {hash} from './colors';
import type {ValueText} from './protocol';

const CHARACTERS_MAX = 40;

/** The texts by how many events have them, the most first. */
export function byEvents(texts: readonly ValueText[]): number[] {
  return texts.map((_, i) => i).sort((a, b) => texts[b].events - texts[a].events || a - b);
}

/**
 * A colour for each text: that of its name, as kinds and tracks have it, unless a more frequent text has that; then the next
 * one. When all are taken, they are used again.
 */
export function coloursOf(texts: readonly ValueText[], {hues}: Palette): Rgb[] {
  const colours: Rgb[] = [], taken = new Set<number>();
  for (const i of byEvents(texts)) {
    const own = hash(texts[i].text) % hues.length, free = hues.map((_, step) => (own + step) % hues.length).find(hue => !taken.has(hue)) ?? own;
    taken.add(free);
    colours[i] = hues[free];
  }
  return colours;
}

/** The text with a number, for people; further ones than those of the list have none. */
export function wordsOf(texts: readonly ValueText[], number: number): string {
  const found = texts[number], characters = found ? [...found.text] : [];
  return !found ? 'another text' : found.text === '' ? '""' : characters.length > CHARACTERS_MAX || found.isCut ? `${characters.slice(0, CHARACTERS_MAX).join('')}…` : found.text;
}

export function areSame(a: readonly ValueText[] | null, b: readonly ValueText[] | null): boolean {
  return a === b || a !== null && b !== null && a.length === b.length && a.every((text, i) => text.text === b[i].text && text.events === b[i].events);
}
