// SPDX-License-Identifier: MIT
// What the colours of events mean while a field gives them: a colour and the values of each step. In exported pictures it is
// a line of texts.
import type {App} from './app';
import type {Palette, Rgb} from './colors';
import {css, rampOf} from './colors';
import {button, element, visible} from './dom';
import {count} from './format';
import type {ValueText} from './protocol';
import {colourField} from './state';
import type {Range} from './steps';
import {stepText} from './steps';
import {byEvents, coloursOf, wordsOf} from './texts';

export interface Meaning {
  name: string;
  range: Range;
  steps: readonly number[];
  texts: readonly ValueText[] | null; // null: the values are numbers
}
interface Entry {
  colour: Rgb | null;
  text: string;
}

/** Each colour with its words: of numbers the least values first, of texts the most frequent ones. */
export function entries({range, steps, texts}: Meaning, palette: Palette): Entry[] {
  const found = texts ? entriesOf(texts, palette) : rampOf(palette.ramp, steps.length).map((colour, i) => ({colour, text: stepText(steps, i, range)}));
  return [...found, {colour: palette.unvalued, text: 'no value'}];
}
function entriesOf(texts: readonly ValueText[], palette: Palette): Entry[] {
  const colours = coloursOf(texts, palette), shown: Entry[] = byEvents(texts).slice(0, palette.hues.length).map(i => ({colour: colours[i], text: wordsOf(texts, i)}));
  return texts.length > shown.length ? [...shown, {colour: null, text: `${count(texts.length - shown.length)} more, in the same colours`}] : shown;
}

export class Legend {
  readonly root = element('div', {class: 'legend', role: 'group', hidden: true});
  private shown: [field: string, meaning: Meaning | null, palette: Palette] | null = null;

  constructor(private app: App) {}

  show(meaning: Meaning | null, palette: Palette): void {
    const field = colourField(this.app.store.state), {shown} = this;
    if (shown?.[0] === field && shown[1] === meaning && shown[2] === palette)
      return;
    this.shown = [field, meaning, palette];
    this.root.hidden = !field;
    this.root.setAttribute('aria-label', `Colours: ${field}`);
    const items = meaning ? entries(meaning, palette).map(({colour, text}) => {
      if (!colour)
        return element('span', {class: 'more'}, text);
      const patch = element('span', {class: 'patch', 'aria-hidden': 'true'});
      patch.style.backgroundColor = css(colour);
      return element('span', {class: 'step'}, patch, visible(text));
    }) : [element('span', {}, 'no values yet')];
    this.root.replaceChildren(element('span', {class: 'what'}, visible(field)), ...items, button('Change', () => this.app.run('colour-field'), {class: 'quiet', 'aria-label': 'Change the field of the colours'}));
  }
}
