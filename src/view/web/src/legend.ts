// SPDX-License-Identifier: MIT
// What the colours of events mean while a field gives them: a colour and the values of each step. In exported pictures it is
// a line of texts.
import type {App} from './app';
import type {Palette, Rgb} from './colors';
import {css, rampOf} from './colors';
import {button, element, visible} from './dom';
import {colourField} from './state';
import type {Range} from './steps';
import {stepText} from './steps';

export interface Meaning {
  name: string;
  range: Range;
  steps: readonly number[];
}

/** Each colour with its words, the least values first. */
export function entries({range, steps}: Meaning, {ramp, unvalued}: Palette): {colour: Rgb; text: string}[] {
  return [...rampOf(ramp, steps.length).map((colour, i) => ({colour, text: stepText(steps, i, range)})), {colour: unvalued, text: 'no value'}];
}

export class Legend {
  readonly root = element('div', {class: 'legend', role: 'group', hidden: true});
  private shown = '';

  constructor(private app: App) {}

  show(meaning: Meaning | null, palette: Palette): void {
    const field = colourField(this.app.store.state), key = JSON.stringify([field, meaning, palette.ramp]);
    if (key === this.shown)
      return;
    this.shown = key;
    this.root.hidden = !field;
    this.root.setAttribute('aria-label', `Colours: ${field}`);
    const items = meaning ? entries(meaning, palette).map(({colour, text}) => {
      const patch = element('span', {class: 'patch', 'aria-hidden': 'true'});
      patch.style.backgroundColor = css(colour);
      return element('span', {class: 'step'}, patch, text);
    }) : [element('span', {}, 'no values yet')];
    this.root.replaceChildren(element('span', {class: 'what'}, visible(field)), ...items, button('Change', () => this.app.run('colour-field'), {class: 'quiet', 'aria-label': 'Change the field of the colours'}));
  }
}
