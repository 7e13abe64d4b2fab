// SPDX-License-Identifier: MIT
// What happened in the ruler's interval (or in the window): events by track and kind, spans.
import type {App} from '../app';
import {shownTime, windowOf} from '../app';
import {button, element, setText} from '../dom';
import {both, filtered, statCommand, timeFilter} from '../filters';
import {count, durationExact, plural} from '../format';
import type {SelectionReply} from '../protocol';
import {commandLine} from './command';
import {Job, settle} from './job';
import {spanTimes} from './latency';
import {overwrittenNote} from './overwritten';
import type {Tab} from './tab';
import {sortedTable, withBar} from './table';

const PAUSE_MS = 200;

/** The interval that the tab describes. */
export function intervalOf(app: App): {begin: bigint; end: bigint; isRuler: boolean} {
  const {selection} = app.store.state, window = windowOf(app);
  return selection ? {...selection, isRuler: true} : {begin: window.begin, end: window.begin + window.span, isRuler: false};
}

/** Events in a second. */
function rate(events: number, ns: bigint): string {
  return ns > 0n ? count(Math.round(events / (Number(ns) / 1e9))) : '–';
}

type Numbered = {id: number; events: number};
type SpanRow = SelectionReply['spans'][number];

export const selection: Tab = {
  id: 'selection',
  title: 'Selection',
  mount(panel, app) {
    let found: SelectionReply | null = null, failure = '', foundKey = '', key = '';
    const what = element('p', {class: 'selection-what', role: 'status'}), command = commandLine(app), note = overwrittenNote(app);
    const job = new Job(message => { failure = message; foundKey = key; show(); });
    const numbered = (id: string, title: string, name: (row: Numbered) => string, only: (row: Numbered) => void) => sortedTable<Numbered>(app, {
      caption: title, stateKey: `selection.${id}`, first: '-events', id: row => String(row.id), empty: `${title}: none.`,
      columns: [{id: 'name', title: title === 'Tracks' ? 'Track' : 'Kind', key: name, show: row => button(name(row), () => only(row), {class: 'link'})},
        {id: 'events', title: 'Events', isNumber: true, key: row => row.events, show: row => withBar(count(row.events), row.events / Math.max(1, found?.events ?? 0))},
        {id: 'part', title: '%', about: 'Of all events of the interval', isNumber: true, key: row => row.events, show: row => found?.events ? (100 * row.events / found.events).toFixed(1) : '–'}],
    });
    const tracks = numbered('tracks', 'Tracks', row => app.model.trackName(row.id), row => { app.store.update({focus: row.id}, null); app.timeline.reveal(row.id); app.say(`${app.model.trackName(row.id)} is shown.`); });
    const kinds = numbered('kinds', 'Kinds', row => app.model.kindName(row.id), row => {
      const name = app.model.kindName(row.id);
      app.store.update({kindsOff: app.model.kinds.map(kind => kind.name).filter(other => other !== name)});
      app.say(`Only ${name} is shown; i shows all kinds again.`);
    });
    const spans = sortedTable<SpanRow>(app, {caption: 'Spans in the interval', stateKey: 'selection.spans', first: '-total', id: row => row.name, columns: [{id: 'name', title: 'Span', key: row => row.name, show: row => row.name}, {id: 'count', title: 'Count', isNumber: true, key: row => row.count, show: row => count(row.count)}, ...spanTimes<SpanRow>()], empty: 'No span begins and ends in the interval.'});
    const zoomTo = button('Zoom to the ruler', () => app.run('zoom-ruler'), {title: 'Z'}), remove = button('Remove the ruler', () => app.run('clear-ruler'));
    panel.append(what,
      element('div', {class: 'bar'}, button('Set the ruler to the window', () => app.run('ruler-from-window'), {title: 'u'}), zoomTo, remove),
      command.root, note.root, element('div', {class: 'columns'}, spans.root, kinds.root, tracks.root));

    const show = () => {
      zoomTo.disabled = remove.disabled = !app.store.state.selection;
      const {begin, end, isRuler} = intervalOf(app), length = end - begin, hasTimes = app.model.server?.hasTimes ?? true;
      const place = `${isRuler ? 'Ruler' : 'Window'}: ${shownTime(app, begin)} to ${shownTime(app, end)}${hasTimes ? ` (${durationExact(length)})` : ''}`;
      setText(what, failure ? `${place}: ${failure}` : !found ? `${place} …` : `${place}: ${count(found.events)} events${app.model.filterText ? ' that the filter selects' : ''}${app.store.state.slew.size ? `, ${plural(app.store.state.slew.size, 'track')} at slewed times` : ''}${hasTimes ? `, ${rate(found.events, length)} a second` : ''}${key === foundKey ? '' : ' …'}`);
      note.show(failure ? null : found?.from ?? null, app.model.filterText ? undefined : 'the table of spans');
      if (!found)
        return;
      tracks.update(found.tracks.filter(item => item.events > 0).map(item => ({id: item.track, events: item.events})));
      kinds.update(found.kinds.filter(item => item.events > 0).map(item => ({id: item.kind, events: item.events})));
      spans.update(found.spans);
    };
    return {
      hide() { job.stop(); },
      update() {
        const {server, filterId, filterText} = app.model, {begin, end, isRuler} = intervalOf(app);
        if (!server || server.events === 0 || app.model.isFilterPending)
          return show();
        const slew = [...app.store.state.slew].map(([track, ns]) => `${track}:${ns}`).join(',') || undefined;
        key = `${slew} ${isRuler || app.store.state.span > 0n ? `${begin} ${end}` : 'whole'} ${filterId} ${server.shows}`; // the whole of a live trace grows
        const asked = key;
        job.ask(key, async signal => {
          await settle(app, () => app.source.selection({begin, end, filter: filterId, slew}, signal), signal, reply => {
            failure = '';
            found = reply;
            foundKey = asked;
            show();
          });
        }, {pauseMs: PAUSE_MS, version: server.events});
        command.set(server.hasTimes && !slew ? filtered(statCommand(server.command, ['counts']), both(timeFilter(begin, end, server.begin), filterText)) : '');
        show();
      },
    };
  },
};
