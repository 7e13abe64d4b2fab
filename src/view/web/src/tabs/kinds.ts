// SPDX-License-Identifier: MIT
// The kinds of events, with counts, to be switched on and off (g2: the event selector).
import type {App} from '../app';
import {button, element, set, setText} from '../dom';
import {count} from '../format';
import {hueOf, toHex} from '../colors';
import type {Kind} from '../protocol';
import type {Tab} from './tab';
import type {Column} from './table';
import {sortHeads, sorted} from './table';

const SHOWN_MAX = 500;

const COLUMNS: readonly Column<Kind>[] = [
  {id: 'kind', title: 'Kind', about: 'Sorts by name', key: kind => kind.name, show: kind => kind.name},
  {id: 'events', title: 'Events', isNumber: true, key: kind => kind.events, show: kind => count(kind.events)},
  {id: 'edge', title: 'Edge', about: 'Whether it begins or ends spans', key: kind => kind.edge === 'plain' ? '' : kind.edge, show: kind => kind.edge}];


function setOff(app: App, off: string[]): void {
  app.store.update({kindsOff: off});
  app.say(off.length ? `${app.model.kinds.length - off.length} of ${app.model.kinds.length} kinds are shown.` : 'All kinds are shown.');
}

export const kinds: Tab = {
  id: 'kinds',
  title: 'Kinds',
  badge: app => app.store.state.kindsOff.length ? `${app.model.kinds.length - app.store.state.kindsOff.length}/${app.model.kinds.length}` : '',
  mount(panel, app) {
    const names = () => app.model.kinds.map(kind => kind.name), off = () => new Set(app.store.state.kindsOff);
    const search = element('input', {type: 'search', placeholder: 'Find a kind', 'aria-label': 'Find a kind', oninput: () => fill()});
    const heads = sortHeads<Kind>(app, 'kinds.sort', 'none', COLUMNS, () => fill());
    const matching = () => sorted(app.model.kinds.filter(kind => `${kind.name} ${app.model.schema.templates.get(kind.name) ?? ''}`.toLowerCase().includes(search.value.trim().toLowerCase())), COLUMNS, heads.by());
    const rows = element('tbody'), more = element('p', {class: 'note'});
    panel.append(
      element('div', {class: 'bar'}, search,
        button('All', () => setOff(app, [])), button('None', () => setOff(app, names())),
        button('Invert', () => setOff(app, names().filter(name => !off().has(name)))),
        button('Only these', () => { const these = new Set(matching().map(kind => kind.name)); setOff(app, names().filter(name => !these.has(name))); }, {title: 'Only the kinds that the search finds'})),
      element('table', {class: 'list'}, element('thead', {}, element('tr', {}, element('th', {scope: 'col'}, 'Shown'), ...heads.cells, element('th', {scope: 'col'}, 'Format'), element('td'))), rows),
      more);
    let last = '';
    const fill = () => {
      heads.update();
      const list = matching().slice(0, SHOWN_MAX), isOff = off(), key = JSON.stringify([list.map(kind => [kind.name, app.model.schema.templates.get(kind.name)]), app.palette.background]);
      if (key !== last)
        rows.replaceChildren(...list.map(kind => {
          const template = app.model.schema.templates.get(kind.name) ?? '';
          const box = element('input', {type: 'checkbox', id: `kind-${kind.kind}`, onchange: () => {
            const now = off();
            if (box.checked) now.delete(kind.name); else now.add(kind.name);
            setOff(app, [...now]);
          }});
          const swatch = element('span', {class: 'swatch', 'aria-hidden': 'true'});
          swatch.style.background = toHex(hueOf(kind.name, app.palette));
          return element('tr', {},
            element('td', {}, box), element('td', {}, swatch, element('label', {for: box.id}, kind.name)),
            element('td', {class: 'number'}, count(kind.events)), element('td', {}, kind.edge === 'plain' ? '' : kind.edge),
            element('td', {class: 'template'}, template),
            element('td', {}, button('Only', () => setOff(app, names().filter(name => name !== kind.name)), {class: 'quiet', 'aria-label': `Only ${kind.name}`})));
        }));
      last = key;
      list.forEach((kind, i) => {
        const row = rows.children[i], box = row.querySelector('input') as HTMLInputElement;
        if (box.checked === isOff.has(kind.name)) box.checked = !isOff.has(kind.name);
        setText(row.children[2], count(kind.events));
        set(row, {class: isOff.has(kind.name) ? 'off' : null});
      });
      const rest = matching().length - list.length;
      setText(more, rest > 0 ? `${rest} more: search for a part of the name.` : app.model.kinds.length ? '' : 'No events yet.');
    };
    return {update: fill};
  },
};
