// SPDX-License-Identifier: MIT
// Count, mean and percentiles of numbers: one row of a table.
import {element} from '../dom';
import {count} from '../format';
import type {Distribution} from '../protocol';

export function marksOf(found: Distribution): {name: string; value: number}[] {
  return [{name: 'p50', value: found.p50}, {name: 'p90', value: found.p90}, {name: 'p99', value: found.p99}, {name: 'p99.9', value: found.p999}];
}

/** Percentiles that are not known are left out. */
export function distributionTable(found: Distribution, caption: string, show: (value: number) => string): HTMLElement {
  const cells = [{name: 'count', value: found.count}, {name: 'mean', value: found.mean}, {name: 'min', value: found.least}, ...marksOf(found), {name: 'max', value: found.most}].filter(({value}) => !Number.isNaN(value));
  return element('table', {class: 'list numbers'}, element('caption', {class: 'hidden-visually'}, caption),
    element('thead', {}, element('tr', {}, ...cells.map(({name}) => element('th', {scope: 'col', class: 'number'}, name)))),
    element('tbody', {}, element('tr', {}, ...cells.map(({name, value}) => element('td', {class: 'number', 'data-name': name, 'data-value': value, title: String(value)}, name === 'count' ? count(value) : show(value))))));
}
