// SPDX-License-Identifier: MIT
// How the values of a field are distributed: bars of numbers, a list of texts. A click on one filters.
import {bars} from '../bars';
import {button, element, setText} from '../dom';
import {both, fieldName, filtered, floatFilter, limitsOf, quote, statCommand} from '../filters';
import {count, value as valueText} from '../format';
import type {App} from '../app';
import type {Bucket, FieldInfo, HistogramReply} from '../protocol';
import {colourField} from '../state';
import {commandLine} from './command';
import {distributionTable, marksOf} from './distribution';
import {Job, settle} from './job';
import {overwrittenNote} from './overwritten';
import type {Tab} from './tab';
import {setTabState, sortedTable, tabStateOf, withBar} from './table';

/** Events whose value is in a bar. */
export function barFilter(field: string, bar: Pick<Bucket, 'low' | 'high'>, isFloat = false): string {
  if (isFloat)
    return floatFilter(field, bar);
  const {low, high} = limitsOf(bar), name = fieldName(field);
  return `${name} >= ${low} AND ${name} <= ${high}`;
}

/** What is in no bar. */
function others({infinite, notNumbers}: HistogramReply): string {
  return [infinite && `, ${count(infinite)} infinite`, notNumbers && `, ${count(notNumbers)} not a number`].filter(Boolean).join('');
}

/** A list of fields to choose from; returns what brings it up to date. */
export function fieldChoice(select: HTMLSelectElement, fields: () => readonly FieldInfo[], none: string): (chosen: string) => void {
  return chosen => {
    const list = fields(), wanted = ['', ...list.map(field => field.name)];
    if (select.options.length !== wanted.length || wanted.some((name, i) => select.options[i].value !== name))
      select.replaceChildren(element('option', {value: ''}, none), ...list.map(field => element('option', {value: field.name}, field.isNumeric ? field.name : `${field.name} (text)`)));
    select.value = chosen;
  };
}

export const histogram: Tab = {
  id: 'histogram',
  title: 'Histogram',
  mount(panel, app) {
    const key = 'histogram.field', select = element('select', {'aria-label': 'Field', onchange: () => setTabState(app, {[key]: select.value})});
    const choose = fieldChoice(select, () => app.model.fields, 'Choose a field');
    const line = button('Draw as a line', () => drawLine(app, tabStateOf(app, key)), {title: 'Draw the field over time on each track'}), what = element('span', {class: 'note', role: 'status'});
    const colours = button('Colour by it', () => colourBy(app, tabStateOf(app, key)), {title: 'Colour the events by the value of the field'});
    const command = commandLine(app), results = element('div', {class: 'results'}), note = overwrittenNote(app);
    panel.append(element('div', {class: 'bar'}, element('label', {}, 'Field ', select), line, colours, what), command.root, note.root, results);
    const add = (filter: string) => { app.store.update({filter: both(app.store.state.filter, filter)}); app.say(`The filter is ${app.store.state.filter}`); };
    const job = new Job(message => { setText(what, message); note.show(null); results.replaceChildren(); });

    const show = (field: string, found: HistogramReply) => {
      note.show(found.from);
      const isText = found.values.length > 0 || found.all > 0;
      const all = app.model.filterText ? ' of the events that the filter selects' : '';
      setText(what, (isText ? `${count(found.values.reduce((sum, item) => sum + item.count, 0))} texts, ${count(Math.max(found.all, found.values.length))} different ones` : `${count(found.count)} values${others(found)}`) + all);
      if (isText) {
        const most = Math.max(1, ...found.values.map(item => item.count));
        const table = sortedTable<{text: string; count: number}>(app, {
          caption: `Values of ${field}`, stateKey: 'histogram.sort', first: '-count', id: row => row.text,
          columns: [{id: 'text', title: 'Value', key: row => row.text, show: row => element('span', {class: 'value'}, row.text)}, {id: 'count', title: 'Events', isNumber: true, key: row => row.count, show: row => withBar(count(row.count), row.count / most)},
            {id: 'go', title: '', key: row => row.text, show: row => button('Filter', () => add(`${fieldName(field)} = ${quote(row.text)}`), {class: 'quiet', 'aria-label': `Filter: ${field} = ${row.text.slice(0, 60)}`})}],
        });
        table.update(found.values);
        return results.replaceChildren(table.root);
      }
      if (found.count + found.notNumbers + found.infinite === 0)
        return results.replaceChildren(element('p', {class: 'note'}, `No event${app.model.filterText ? ' that the filter selects' : ''} has a number or a text in this field.`));
      if (found.count === 0)
        return results.replaceChildren();
      results.replaceChildren(distributionTable(found, `Values of ${field}`, valueText),
        bars(found.buckets, {label: `Histogram of ${field}`, show: valueText, marks: marksOf(found), does: 'Adds these values to the filter', choose: bar => add(barFilter(field, bar, found.isFloat))}));
    };
    return {
      hide() { job.stop(); },
      update() {
        const field = tabStateOf(app, key), {server, filterId, filterText} = app.model, info = app.model.fields.find(item => item.name === field);
        choose(field);
        note.show();
        line.hidden = !info?.isNumeric;
        colours.hidden = !info;
        setText(colours, colourField(app.store.state) === field ? 'Colours by kind' : 'Colour by it');
        setText(line, app.store.state.field === field ? 'Remove the line' : 'Draw as a line');
        command.set(!server || !field ? '' : filtered(statCommand(server.command, info && !info.isNumeric ? ['counts', '--by', field] : ['histogram', field]), filterText));
        if (!field) {
          job.forget();
          note.show(null);
          setText(what, '');
          return results.replaceChildren();
        }
        if (!app.model.isFilterPending)
          job.ask(JSON.stringify([field, filterId, server?.shows]), signal => settle(app, () => app.source.histogram({field, filter: filterId}, signal), signal, reply => show(field, reply), progress => setText(what, progress)),
            {version: server?.events});
      },
    };
  },
};

function colourBy(app: App, field: string): void {
  app.store.update(colourField(app.store.state) === field ? {colour: 'kind'} : {colour: 'field', colourField: field});
}
function drawLine(app: App, field: string): void {
  app.store.update({field: app.store.state.field === field ? '' : field});
}
