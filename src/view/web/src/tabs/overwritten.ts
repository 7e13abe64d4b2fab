// SPDX-License-Identifier: MIT
// The line in a tab that says from when on its result is complete.
import type {App} from '../app';
import {shownTime} from '../app';
import {element, setText} from '../dom';
import {incompleteness} from '../protocol';

/** `show` sets the time, or none if the result is complete; without one it shows the same time as the clock has it now. */
export function overwrittenNote(app: App): {root: HTMLElement; show(from?: bigint | null, what?: string): void} {
  const root = element('p', {class: 'overwritten', hidden: true});
  let now: bigint | null = null, whose: string | undefined;
  return {
    root,
    show(from = now, what = whose) {
      now = from;
      whose = what;
      root.hidden = from === null;
      setText(root, from === null ? '' : incompleteness(shownTime(app, from), what));
    },
  };
}
