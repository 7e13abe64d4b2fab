// SPDX-License-Identifier: MIT
// What is open: files, times, counts, the index (g2: Help/About).
import type {App} from '../app';
import {shownTime, windowOf} from '../app';
import {element, setText} from '../dom';
import {bytes, count, durationExact, utcDate, utcTime} from '../format';
import type {Tab} from './tab';

const CLOCKS_SHOWN = 4;

/** "1 000 000 000 Hz, 1000.000 ticks/us": the second as g2 has it. */
export function clockText(frequency: number): string {
  return `${count(frequency)} Hz, ${(frequency / 1e6).toFixed(3)} ticks/us`;
}

function facts(app: App): [string, string][] {
  const server = app.model.server, {state} = app.store, window = windowOf(app);
  if (!server)
    return [];
  const moment = (time: bigint) => server.isEpoch ? `${shownTime(app, time)} (${utcDate(time)} ${utcTime(time)} UTC)` : shownTime(app, time);
  const rates = [...new Set(app.model.schema.clocks.map(clock => clockText(clock.frequency)))];
  const found: [string, string][] = [
    ['Files', server.files.join('\n')],
    ['Command', server.command],
    ['Events', count(server.events)],
    ['First event', moment(server.begin)],
    ['Last event', moment(server.end)],
    ['Duration', server.hasTimes ? durationExact(server.end - server.begin) : 'the events have no times'],
    ['Window', `${shownTime(app, window.begin)} to ${shownTime(app, window.begin + window.span)}, ${durationExact(window.span)}`],
    ['Tracks', `${count(server.tracks)}, by ${server.trackBy}; ${state.hidden.length} hidden`],
    ['Row height', `${state.rowHeight} px`],
    ['Kinds of events', `${count(server.kinds)}; ${state.kindsOff.length} off`],
    ['Spans', server.undrawnSpans ? `${count(server.spans)}, of which ${count(server.undrawnSpans)} are not drawn` : count(server.spans)],
    ['Losses', `${count(server.losses)} (${count(server.lostEvents)} events, ${count(server.lostPackets)} packets, ${count(server.unknownLosses)} of unknown size)`],
    ['Damaged places', count(server.problems)],
    ['Index', `${bytes(server.indexBytes)}, ${server.isComplete ? 'complete' : 'being built'}${server.isFromCache ? ', from the cache' : server.isKept ? '' : ', not kept for the next start'}`],
    ['Snapshots', count(app.snapshots.list.length)],
    ['Ruler', state.selection ? durationExact(state.selection.end - state.selection.begin) : 'none'],
    ['Clock rate', rates.length ? rates.slice(0, CLOCKS_SHOWN).join(', ') + (rates.length > CLOCKS_SHOWN ? ` and ${rates.length - CLOCKS_SHOWN} others` : '') : 'the trace has no clock'],
    ['Times', !server.hasTimes ? 'none: events are drawn by their numbers' : `nanoseconds${server.isEpoch ? ' since 1970-01-01 00:00 UTC' : ' of the clock of the trace'}`],
    ['Version', `kymo ${server.version}`],
  ];
  return found;
}

export const about: Tab = {
  id: 'about',
  title: 'About',
  mount(panel, app) {
    const table = element('dl', {class: 'facts'});
    panel.append(table);
    return {
      update() {
        const list = facts(app);
        if (table.children.length !== 2 * list.length)
          table.replaceChildren(...list.flatMap(() => [element('dt'), element('dd')]));
        list.forEach(([name, text], i) => { setText(table.children[2 * i], name); setText(table.children[2 * i + 1], text); });
      },
    };
  },
};
