// SPDX-License-Identifier: MIT
// Values far from the mean of their track: beyond mean ± threshold · standard deviation (g2: Anomaly). An event of any
// kind, any numeric field, one side or both.
import {reveal} from '../app';
import {button, element, setText} from '../dom';
import {count, plural, value as valueText} from '../format';
import type {AnomalyReply, AnomalyTrack} from '../protocol';
import type {AnomalyQuery} from '../source';
import {isAbort, slewText} from '../source';
import {fieldChoice} from './histogram';
import {Job, settle} from './job';
import {overwrittenNote} from './overwritten';
import type {Tab} from './tab';
import {setTabState, sortedTable, tabStateOf} from './table';

export const THRESHOLD = {usual: 2.5, most: 10};

/** The number of deviations as it is typed; null: not above 0 and up to 10. */
export function thresholdOf(text: string): number | null {
  if (text.trim() === '')
    return THRESHOLD.usual;
  const value = Number(text);
  return Number.isFinite(value) && value > 0 && value <= THRESHOLD.most ? value : null;
}

export const anomaly: Tab = {
  id: 'anomaly',
  title: 'Anomaly',
  mount(panel, app) {
    const kind = element('select', {'aria-label': 'Kind of event', onchange: () => setTabState(app, {'anomaly.kind': kind.value})});
    const field = element('select', {'aria-label': 'Numeric field', onchange: () => setTabState(app, {'anomaly.field': field.value})});
    const sides = element('select', {'aria-label': 'Sides', onchange: () => setTabState(app, {'anomaly.sides': sides.value === 'high' ? '' : sides.value})},
      element('option', {value: 'high'}, 'above the mean'), element('option', {value: 'low'}, 'below the mean'), element('option', {value: 'both'}, 'on both sides'));
    const threshold = element('input', {type: 'number', min: 0, max: THRESHOLD.most, step: 0.1, 'aria-label': 'Threshold: number of standard deviations', onchange: () => setTabState(app, {'anomaly.threshold': threshold.value.trim()})});
    const chooseField = fieldChoice(field, () => app.model.fields.filter(item => item.isNumeric), 'Choose a field');
    const what = element('p', {class: 'note', role: 'status'}), note = overwrittenNote(app);
    const next = button('Next', () => run(false), {title: 'The next anomaly after the last hit'}), previous = button('Previous', () => run(true), {title: 'The anomaly before the last hit'});
    const table = sortedTable<AnomalyTrack>(app, {
      caption: 'Tracks', stateKey: 'anomaly.sort', first: '-anomalies', id: row => String(row.track), empty: '',
      columns: [{id: 'track', title: 'Track', key: row => app.model.trackName(row.track), show: row => button(app.model.trackName(row.track), () => { app.store.update({focus: row.track}, null); app.timeline.reveal(row.track); }, {class: 'link'})},
        {id: 'n', title: 'Values', isNumber: true, key: row => row.count, show: row => count(row.count)},
        {id: 'least', title: 'Min', isNumber: true, key: row => row.least, show: row => valueText(row.least)}, {id: 'most', title: 'Max', isNumber: true, key: row => row.most, show: row => valueText(row.most)},
        {id: 'mean', title: 'Mean', isNumber: true, key: row => row.mean, show: row => valueText(row.mean)}, {id: 'deviation', title: 'Deviation', about: 'Standard deviation of all values of the track', isNumber: true, key: row => row.deviation, show: row => valueText(row.deviation)},
        {id: 'threshold', title: 'Beyond', about: 'Values beyond this are anomalies', isNumber: true, key: row => row.threshold, show: row => limits(row)},
        {id: 'anomalies', title: 'Anomalies', isNumber: true, key: row => row.anomalies, show: row => count(row.anomalies)}],
    });
    panel.append(element('div', {class: 'bar'}, element('label', {}, 'Kind ', kind), element('label', {}, 'Field ', field), element('label', {}, 'Threshold ', threshold, ' σ'), element('label', {}, 'Side ', sides), previous, next), what, note.root, table.root);
    let found: AnomalyReply | null = null;
    const job = new Job(message => { found = null; setText(what, message); note.show(null); table.update([]); });

    const query = (): AnomalyQuery | null => {
      const name = tabStateOf(app, 'anomaly.kind'), number = app.model.kinds.find(item => item.name === name)?.kind, wanted = tabStateOf(app, 'anomaly.field'), limit = thresholdOf(tabStateOf(app, 'anomaly.threshold'));
      const side = tabStateOf(app, 'anomaly.sides');
      return wanted && limit !== null && (number !== undefined || !name) ? {...number !== undefined && {kind: number}, field: wanted, filter: app.model.filterId, threshold: limit, sides: side === 'low' || side === 'both' ? side : 'high'} : null;
    };
    const limits = (row: AnomalyTrack): string => {
      const side = query()?.sides, away = (query()?.threshold ?? 0) * row.deviation;
      return side === 'both' ? `${valueText(row.mean - away)} … ${valueText(row.mean + away)}` : side === 'low' ? valueText(row.mean - away) : valueText(row.threshold);
    };
    const go = async (back: boolean) => {
      const wanted = query();
      if (!wanted)
        return app.say('Choose a field first.');
      const {found: last, event, slew} = app.store.state, mark = await app.source.anomalyNext({...wanted, number: last ?? event ?? 0, back, slew: slewText(slew)});
      if (!mark)
        return app.say('No value is beyond the threshold.');
      reveal(app, mark, {found: mark.number});
      app.say(`Anomaly: ${app.model.kindName(mark.kind)} on ${app.model.trackName(mark.track)}, event ${mark.number}.`);
    };
    const run = (back: boolean) => { go(back).catch((error: unknown) => { if (!isAbort(error)) app.say(error instanceof Error ? error.message : String(error)); }); };
    return {
      hide() { job.stop(); },
      update() {
        const names = ['', ...app.model.kinds.map(item => item.name)], {server} = app.model, typed = tabStateOf(app, 'anomaly.threshold');
        if (kind.options.length !== names.length || names.some((name, i) => kind.options[i].value !== name))
          kind.replaceChildren(...names.map(name => element('option', {value: name}, name || 'any')));
        kind.value = tabStateOf(app, 'anomaly.kind');
        chooseField(tabStateOf(app, 'anomaly.field'));
        sides.value = tabStateOf(app, 'anomaly.sides') || 'high';
        if (document.activeElement !== threshold)
          threshold.value = typed || String(THRESHOLD.usual);
        if (thresholdOf(typed) === null) threshold.setAttribute('aria-invalid', 'true'); else threshold.removeAttribute('aria-invalid');
        note.show();
        const wanted = query();
        next.disabled = previous.disabled = !wanted;
        if (!wanted) {
          job.forget();
          note.show(null);
          found = null;
          setText(what, thresholdOf(typed) === null ? `The threshold is above 0 and at most ${THRESHOLD.most}.` : 'Choose a numeric field.');
          return table.update([]);
        }
        const of = app.model.filterText ? ' that the filter selects' : '';
        if (!app.model.isFilterPending)
          job.ask(JSON.stringify([wanted, server?.shows]), signal => settle(app, () => app.source.anomaly(wanted, signal), signal, reply => {
            found = reply;
            note.show(reply.from);
            const list = reply.tracks.filter(row => row.count > 0), hits = list.reduce((sum, row) => sum + row.anomalies, 0);
            setText(what, list.length === 0 ? `No event${of} has such a value.` : `${plural(hits, 'value')} of ${count(list.reduce((sum, row) => sum + row.count, 0))}${of ? `, of the events${of},` : ''} ${hits === 1 ? 'is' : 'are'} beyond ${wanted.threshold} σ.`);
            table.update(list);
          }, progress => setText(what, progress)), {version: server?.events});
        if (found)
          table.update(found.tracks.filter(row => row.count > 0));
      },
    };
  },
};
