// SPDX-License-Identifier: MIT
// Two traces side by side, by the names of their kinds and spans: what differs most comes first.
import {element, setText} from '../dom';
import {count, duration} from '../format';
import type {Difference} from '../protocol';
import {pause} from '../source';
import {Job} from './job';
import type {Tab} from './tab';
import type {Column} from './table';
import {sortedTable} from './table';

const AGAIN_MS = 500;

/** b compared with a: 0.5 is half as much again. Infinity: a has none. */
export function change([a, b]: readonly [number, number]): number {
  return a === b ? 0 : a === 0 ? Infinity : (b - a) / Math.abs(a);
}
export function changeText(pair: readonly [number, number]): string {
  const part = change(pair);
  if (Number.isNaN(part))
    return '–';
  if (part === Infinity)
    return pair[1] > 0 ? 'new' : '–';
  if (part === -1)
    return 'gone';
  return part === 0 ? '=' : part >= 9.995 ? `×${(part + 1).toPrecision(3)}` : `${part > 0 ? '+' : '−'}${(Math.abs(part) * 100).toFixed(1)} %`;
}
/** How much a row differs: the greatest change of its numbers, either way. */
function weight(row: Difference): number {
  const size = (pair: readonly [number, number]) => { const part = change(pair); return Number.isNaN(part) ? 0 : part === Infinity ? 1e9 : Math.abs(part) < 1 && part < 0 ? 1 / (1 + part) - 1 : Math.abs(part); };
  return Math.max(size(row.rates), ...row.isSpan ? [size(row.p50), size(row.p99)] : []);
}

function rateText(value: number): string {
  return Number.isFinite(value) ? value < 100 ? value.toFixed(1) : count(Math.round(value)) : '–';
}

export const compare: Tab = {
  id: 'compare',
  title: 'Compare',
  mount(panel, app) {
    let found: Difference[] | null = null, failure = '', isDone = false;
    const note = element('p', {class: 'note', role: 'status'}), job = new Job(message => { failure = message; show(); });
    const search = element('input', {type: 'search', placeholder: 'Find a name', 'aria-label': 'Find a name', oninput: () => show()});
    const of = (id: 'counts' | 'rates' | 'p50' | 'p99', title: string, text: (value: number) => string): Column<Difference>[] => {
      const has = (row: Difference) => id === 'counts' || id === 'rates' || row.isSpan, size = (row: Difference, at: number) => has(row) ? row[id][at] : NaN;
      return [
        {id: `${id}-a`, title: `${title} A`, isNumber: true, key: row => size(row, 0), show: row => has(row) ? text(row[id][0]) : ''},
        {id: `${id}-b`, title: `${title} B`, isNumber: true, key: row => size(row, 1), show: row => has(row) ? text(row[id][1]) : ''},
        {id: `${id}-d`, title: 'Δ', about: `How ${title} differs`, isNumber: true, key: row => has(row) ? change(row[id]) : NaN, show: row => has(row) ? delta(row[id]) : ''}];
    };
    const delta = (pair: readonly [number, number]): Node => { const part = change(pair); return element('span', {class: part > 0 ? 'more' : part < 0 ? 'less' : null}, changeText(pair)); };
    const table = sortedTable<Difference>(app, {
      caption: 'Differences; rates are in a second', stateKey: 'compare.sort', first: '-weight', id: row => `${row.isSpan} ${row.name}`,
      columns: [{id: 'name', title: 'Name', key: row => row.name, show: row => row.name},
        {id: 'weight', title: 'What', about: 'Span or kind of event; sorts by the greatest difference', key: row => weight(row), show: row => row.isSpan ? 'span' : 'event'},
        ...of('counts', 'Count', value => count(value)), ...of('rates', 'Rate', rateText), ...of('p50', 'p50', value => duration(value, 4)), ...of('p99', 'p99', value => duration(value, 4))],
    });
    const bar = element('div', {class: 'bar'}, search);
    panel.append(note, bar, table.root);
    const show = () => {
      const {server} = app.model, other = server?.compare;
      bar.hidden = table.root.hidden = !found;
      setText(note, failure || (!server ? '' : !other ? 'There is one trace only: kymo view --compare OTHER TRACE compares it with another one.'
        : found ? `A: ${server.title}. B: ${other.title}. ${count(found.length)} names${isDone ? '' : '; indexing goes on'}.${app.model.filterText ? ' Of all events: the filter is of A alone, and does not count here.' : ''}` : 'Reading both traces …'));
      if (found)
        table.update(found.filter(row => row.name.toLowerCase().includes(search.value.trim().toLowerCase())));
    };
    return {
      hide() { job.stop(); },
      update() {
        if (app.model.server?.compare)
          job.ask('all', async signal => {
            do {
              const reply = await app.source.compare(signal);
              found = reply.differences;
              isDone = reply.state === 'done';
              show();
              if (!isDone)
                await pause(AGAIN_MS, signal);
            } while (!isDone);
          }, {version: app.model.server.events});
        show();
      },
    };
  },
};
