// SPDX-License-Identifier: MIT
// Tables whose columns sort. The state of sorting is in the URL.
import type {App} from '../app';
import {element, set, setText, visible} from '../dom';
import {count as countText} from '../format';

export interface Column<T> {
  id: string;
  title: string;
  /** What it means, for the tool tip. */
  about?: string;
  isNumber?: boolean;
  /** By what it sorts; NaN and '' come last. */
  key(row: T): number | string;
  /** Text, or elements that are made once for each row. */
  show(row: T): string | Node;
}

export interface TableOptions<T> {
  caption: string;
  /** Of State.tabState: "column" or "-column". */
  stateKey: string;
  columns: readonly Column<T>[];
  /** Sorted like this in the beginning. */
  first: string;
  /** Which rows are the same ones. */
  id(row: T): string;
  empty?: string;
  shownMax?: number;
}

export interface SortedTable<T> {
  root: HTMLElement;
  update(rows: readonly T[]): void;
}

export function tabStateOf(app: App, key: string): string {
  return app.store.state.tabState.get(key) ?? '';
}
export function setTabState(app: App, patch: {[key: string]: string}): void {
  const tabState = new Map(app.store.state.tabState);
  for (const [key, value] of Object.entries(patch))
    if (value) tabState.set(key, value); else tabState.delete(key);
  app.store.update({tabState}, null);
}

/** "-name": descending. */
export function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], by: string): T[] {
  const isDown = by.startsWith('-'), column = columns.find(item => item.id === by.replace(/^-/, '')), sign = isDown ? -1 : 1;
  if (!column)
    return [...rows]; // in the order of the trace
  const missing = (key: number | string) => key === '' || typeof key === 'number' && Number.isNaN(key);
  return rows.map((row, i) => ({row, key: column.key(row), i})).sort((a, b) => {
    if (missing(a.key) || missing(b.key))
      return Number(missing(a.key)) - Number(missing(b.key)) || a.i - b.i;
    const order = typeof a.key === 'number' && typeof b.key === 'number' ? a.key - b.key : String(a.key).localeCompare(String(b.key), 'en', {numeric: true});
    return sign * order || a.i - b.i;
  }).map(item => item.row);
}

/** Heads of columns that sort; `by` is how, and `update` shows it. */
export function sortHeads<T>(app: App, stateKey: string, first: string, columns: readonly Column<T>[], changed: () => void): {cells: HTMLElement[]; by(): string; update(): void} {
  const by = () => tabStateOf(app, stateKey) || first;
  const turn = (column: Column<T>) => {
    const down = `-${column.id}`, isNow = by() === column.id || by() === down;
    setTabState(app, {[stateKey]: isNow ? (by() === down ? column.id : down) : column.isNumber ? down : column.id});
    changed();
  };
  const heads = columns.map(column => {
    const sort = element('button', {type: 'button', class: 'sort', title: column.about, onclick: () => turn(column)}, column.title);
    return {column, sort, cell: column.title ? element('th', {scope: 'col', class: column.isNumber ? 'number' : null}, sort) : element('td')};
  });
  const update = () => {
    for (const {column, cell, sort} of heads) {
      const isBy = by().replace(/^-/, '') === column.id;
      set(cell, {'aria-sort': isBy ? (by().startsWith('-') ? 'descending' : 'ascending') : null});
      set(sort, {'data-sort': isBy ? (by().startsWith('-') ? 'down' : 'up') : null});
    }
  };
  return {cells: heads.map(head => head.cell), by, update};
}

export function sortedTable<T>(app: App, options: TableOptions<T>): SortedTable<T> {
  const {columns, shownMax = 500} = options, body = element('tbody'), more = element('p', {class: 'note'});
  const heads = sortHeads(app, options.stateKey, options.first, columns, () => update(last)), {by} = heads;
  const table = element('table', {class: 'list'}, element('caption', {}, options.caption), element('thead', {}, element('tr', {}, ...heads.cells)), body);
  let last: readonly T[] = [], made: string[] = [];
  const update = (rows: readonly T[]) => {
    last = rows;
    const list = sorted(rows, columns, by()), shown = list.slice(0, shownMax), ids = shown.map(options.id);
    if (ids.length !== made.length || ids.some((id, i) => id !== made[i])) {
      body.replaceChildren(...shown.map(() => element('tr', {}, ...columns.map(column => element('td', {class: column.isNumber ? 'number' : null})))));
      made = ids;
      shown.forEach((row, i) => columns.forEach((column, at) => { const content = column.show(row); body.children[i].children[at].append(typeof content === 'string' ? visible(content) : content); }));
    } else
      shown.forEach((row, i) => columns.forEach((column, at) => {
        const content = column.show(row), cell = body.children[i].children[at];
        if (typeof content === 'string')
          setText(cell, content);
        else if (cell.textContent !== content.textContent)
          cell.replaceChildren(content);
      }));
    heads.update();
    table.hidden = rows.length === 0 && options.empty !== undefined;
    setText(more, rows.length === 0 ? options.empty ?? '' : list.length > shown.length ? `${countText(list.length - shown.length)} more rows: sort by another column to see them.` : '');
  };
  return {root: element('div', {class: 'table'}, table, more), update};
}

/** The bar of a number: its part of the whole. */
export function withBar(text: string, part: number): HTMLElement {
  const bar = element('span', {class: 'meter', 'aria-hidden': 'true'});
  bar.style.width = `${Math.round(Math.max(0, Math.min(1, part)) * 60)}px`;
  return element('span', {class: 'with-bar'}, bar, text);
}
