// SPDX-License-Identifier: MIT
// The line below the header while there is a filter: how many events it selects, what becomes of the others, the command
// that prints them; or what is wrong with it, and where.
import type {App} from './app';
import {shownTime} from './app';
import {button, element, set, setText, visible} from './dom';
import {columnIn, filtered, splitAt} from './filters';
import {count} from './format';
import {incompleteness} from './protocol';

/** A filter's text with the wrong place marked. */
export function marked(text: string, column: number | null): Node[] {
  if (column === null)
    return [document.createTextNode(visible(text))];
  const [before, here, after] = splitAt(text, column);
  return [document.createTextNode(visible(before)), element('mark', {}, here || '\u00a0'), document.createTextNode(visible(after))];
}

export function filterBar(app: App, goTo: (place: number) => void): {root: HTMLElement; update(): void} {
  const said = element('span', {class: 'filter-said'}), text = element('code', {class: 'filter-text'}), command = element('code', {});
  const hides = element('button', {type: 'button', class: 'quiet', onclick: () => app.run('filter-mode')});
  const place = button('Go to the place', () => goTo(at), {class: 'quiet'});
  const copied = element('span', {class: 'filter-command'}, command, button('Copy', () => app.run('copy-command'), {class: 'quiet', 'aria-label': 'Copy the command', title: 'Y'}));
  const root = element('div', {class: 'filter-bar', role: 'group', 'aria-label': 'Filter', hidden: true}, text, said, place, hides, copied, button('Remove', () => app.run('clear-filter'), {class: 'quiet', 'aria-label': 'Remove the filter'}));
  let at = 0, shown = '';
  return {
    root,
    update() {
      const {model, store: {state}} = app, active = model.filter, {server} = model;
      root.hidden = !state.filter || !active || !server;
      if (root.hidden || !active || !server)
        return;
      const column = active.error?.column ? columnIn(model.base?.text ?? '', state.filter, active.error.column) : null, key = `${state.filter}\n${column}`;
      if (key !== shown) {
        shown = key;
        text.replaceChildren(...marked(state.filter, column));
        at = column === null ? 0 : splitAt(state.filter, column)[0].length;
      }
      text.hidden = place.hidden = column === null;
      hides.hidden = copied.hidden = active.error !== null;
      set(root, {class: active.error ? 'filter-bar error' : 'filter-bar'});
      setText(said, active.error ? `${column === null ? '' : `Column ${at + 1}: `}${active.error.message}`
        : `${count(active.count)} of ${count(server.events)} events${active.added ? `, ${count(active.added)} added by activities` : ''}${active.state === 'running' ? ` so far${active.done === null ? '' : `, ${Math.floor(active.done * 100)} %`}` : ''}${active.from === null ? '' : `. ${incompleteness(shownTime(app, active.from))}`}`);
      setText(hides, state.hides ? 'Others are hidden' : 'Others are dimmed');
      set(hides, {title: state.hides ? 'Show them dimmed (\\)' : 'Hide them (\\)'});
      setText(command, filtered(server.command, active.text));
    },
  };
}
