// SPDX-License-Identifier: MIT
// The command that prints the same, to copy.
import type {App} from '../app';
import {button, element, setText} from '../dom';

export function commandLine(app: App): {root: HTMLElement; set(command: string): void} {
  let now = '';
  const text = element('code', {}), copy = button('Copy', () => void app.copy(now, 'The command'), {class: 'quiet', 'aria-label': 'Copy the command'});
  const root = element('p', {class: 'command', hidden: true}, text, copy);
  return {
    root,
    set(command) {
      now = command;
      setText(text, command);
      root.hidden = command === '';
    },
  };
}
