// SPDX-License-Identifier: MIT
// Times from one kind of event to another: two clicks choose the kinds. Without them, the times of all spans.
import type {App} from '../app';
import {reveal, setWindow, shownAt, shownTime} from '../app';
import {bars} from '../bars';
import {button, element, set, setText} from '../dom';
import {filtered, limitsOf, statCommand} from '../filters';
import {count, countShort, duration, durationExact, plural} from '../format';
import {latencyQuery, limitsIn, setLimits} from '../pairs';
import type {Kind, LatencyReply, SpanStatistic, StatisticsReply, WorstPair} from '../protocol';
import {commandLine} from './command';
import {distributionTable, marksOf} from './distribution';
import {Job, settle} from './job';
import {overwrittenNote} from './overwritten';
import type {Tab} from './tab';
import type {Column} from './table';
import {sortedTable, tabStateOf} from './table';

const KINDS_MAX = 300;

/** The kinds at which spans of a name begin and end, if their names say so: "db:query_begin", "syscall_entry_read". */
export function edgesOf(span: string, kinds: readonly Kind[]): {from: string; to: string} | null {
  const bare = (name: string) => name.replace(/[_:.-]?(begin|end|entry|exit|enter|return|start|stop)(?=$|[_:.-])/i, ''), wanted = bare(span);
  const from = kinds.find(kind => kind.edge === 'begins' && (bare(kind.name) === wanted || kind.name === span)), to = kinds.find(kind => kind.edge === 'ends' && (bare(kind.name) === wanted || kind.name === span));
  return from && to ? {from: from.name, to: to.name} : null;
}

/** Shows a pair: the ruler is on it, and the window around it. */
async function showPair(app: App, pair: WorstPair): Promise<void> {
  const event = await app.source.event(pair.numberBegin), begin = shownAt(app, event), end = begin + pair.duration, around = pair.duration > 0n ? pair.duration : 1000n;
  app.store.update({selection: {begin, end}, markA: begin, markB: end}, 'pair');
  setWindow(app, {begin: begin - around, span: 3n * around}, 'pair');
  reveal(app, event);
  app.say(`From event ${pair.numberBegin} to ${pair.numberEnd} on ${app.model.trackName(pair.track)}: ${durationExact(pair.duration)}.`);
}

export function spanTimes<T extends SpanStatistic>(): Column<T>[] {
  const time = (id: keyof SpanStatistic, title: string, about: string): Column<T> => ({id, title, about, isNumber: true, key: row => Number(row[id]), show: row => element('span', {title: `${Number(row[id])} ns`, 'data-value': Number(row[id])}, duration(Number(row[id]), 4))});
  return [time('total', 'Total', 'Time in all of them'), time('self', 'Self', 'Without the spans inside of them'), time('mean', 'Mean', ''), time('least', 'Min', ''), time('p50', 'p50', 'Half of them are shorter'),
    time('p90', 'p90', ''), time('p99', 'p99', ''), time('p999', 'p99.9', ''), time('most', 'Max', '')];
}

function picker(app: App): {root: HTMLElement; update(): void} {
  const search = element('input', {type: 'search', placeholder: 'Find a kind', 'aria-label': 'Find a kind', oninput: () => update()});
  const body = element('tbody'), more = element('p', {class: 'note'}), choose = (which: 'latencyFrom' | 'latencyTo', name: string) => app.store.update({[which]: name}, null);
  const key = element('select', {'aria-label': 'Key: a field that a pair has in common', onchange: () => app.store.update({latencyKey: key.value}, null)});
  const root = element('section', {class: 'picker', 'aria-label': 'What is measured'},
    element('div', {class: 'bar'}, search, element('label', {}, 'Key ', key), button('Swap', () => { const {latencyFrom, latencyTo} = app.store.state; app.store.update({latencyFrom: latencyTo, latencyTo: latencyFrom}, null); }, {title: 'From and to change places'}),
      button('Clear', () => app.store.update({latencyFrom: '', latencyTo: '', latencyKey: ''}, null), {title: 'Show all spans'})),
    element('div', {class: 'picker-list'}, element('table', {class: 'list'}, element('thead', {}, element('tr', {}, ...['From', 'To', 'Kind'].map(name => element('th', {scope: 'col'}, name)), element('th', {scope: 'col', class: 'number'}, 'Events'))), body), more));
  let made = '';
  const update = () => {
    const {latencyFrom, latencyTo, latencyKey} = app.store.state, word = search.value.trim().toLowerCase();
    const found = app.model.kinds.filter(kind => kind.name.toLowerCase().includes(word) || kind.name === latencyFrom || kind.name === latencyTo), list = found.slice(0, KINDS_MAX);
    const names = JSON.stringify(list.map(kind => kind.name));
    if (names !== made) {
      made = names;
      const radio = (which: 'latencyFrom' | 'latencyTo', name: string) => element('input', {type: 'radio', name: which, 'aria-label': `${which === 'latencyFrom' ? 'From' : 'To'} ${name}`, onchange: () => choose(which, name)});
      body.replaceChildren(...list.map(kind => element('tr', {}, element('td', {}, radio('latencyFrom', kind.name)), element('td', {}, radio('latencyTo', kind.name)), element('td', {}, kind.name), element('td', {class: 'number'}))));
    }
    list.forEach((kind, i) => {
      const [from, to] = body.children[i].querySelectorAll('input');
      from.checked = kind.name === latencyFrom;
      to.checked = kind.name === latencyTo;
      set(body.children[i], {class: from.checked || to.checked ? 'chosen' : null});
      setText(body.children[i].children[3], countShort(kind.events));
    });
    setText(more, found.length > list.length ? `${count(found.length - list.length)} more: search for a part of the name.` : '');
    const fields = ['', ...app.model.fields.map(field => field.name), ...latencyKey && !app.model.fields.some(field => field.name === latencyKey) ? [latencyKey] : []];
    if (key.options.length !== fields.length || fields.some((name, i) => key.options[i].value !== name))
      key.replaceChildren(...fields.map(name => element('option', {value: name}, name || 'the thread')));
    key.value = latencyKey;
  };
  return {root, update};
}

export const latency: Tab = {
  id: 'latency',
  title: 'Latency',
  mount(panel, app) {
    const kinds = picker(app), what = element('h3', {role: 'status'}), command = commandLine(app), results = element('div', {class: 'results'}), notes = element('p', {class: 'note'}), incomplete = overwrittenNote(app);
    let spansFound: StatisticsReply | null = null, worstPair: WorstPair | null = null;
    const worstButton = button('Go to the worst', () => { if (worstPair) run(showPair(app, worstPair)); }, {class: 'main', hidden: true});
    const setWorst = (pair: WorstPair | null) => { worstPair = pair; worstButton.hidden = !pair; };
    const spans = sortedTable<SpanStatistic>(app, {
      caption: 'All spans', stateKey: 'latency.spans', first: '-total', id: row => `${row.name} ${edgesOf(row.name, app.model.kinds) !== null}`,
      columns: [{id: 'name', title: 'Span', key: row => row.name, show: row => {
        const edges = edgesOf(row.name, app.model.kinds);
        return edges ? button(row.name, () => app.store.update({latencyFrom: edges.from, latencyTo: edges.to, latencyKey: ''}, null), {class: 'link', title: 'Its histogram, and the longest ones'}) : row.name;
      }}, {id: 'count', title: 'Count', isNumber: true, key: row => row.count, show: row => count(row.count)}, ...spanTimes()],
      empty: 'The trace has no spans. Choose the kinds of events at which times begin and end.',
    });
    panel.classList.add('latency-panel');
    panel.append(kinds.root, element('div', {class: 'latency-results'}, element('div', {class: 'latency-head'}, what, worstButton, command.root), incomplete.root, results, notes, spans.root));
    const job = new Job(message => { setWorst(null); setText(what, message); incomplete.show(null); results.replaceChildren(); setText(notes, ''); });
    const spansJob = new Job(() => {});

    const isOff = (name: string) => app.store.state.kindsOff.includes(name);
    const pairTable = (list: readonly WorstPair[], caption: string, id: string, first: string): HTMLElement => {
      const table = sortedTable<WorstPair>(app, {
        caption, stateKey: `latency.${id}`, first, id: row => `${row.numberBegin} ${row.numberEnd}`, shownMax: list.length,
        columns: [{id: 'duration', title: 'Duration', isNumber: true, key: row => Number(row.duration), show: row => durationExact(row.duration)},
          {id: 'begin', title: 'From', isNumber: true, key: row => Number(row.begin - list[0].begin), show: row => shownTime(app, row.begin)},
          {id: 'events', title: 'Events', key: row => row.numberBegin, show: row => `${row.numberBegin} to ${row.numberEnd}`},
          {id: 'track', title: 'Track', key: row => app.model.trackName(row.track), show: row => app.model.trackName(row.track)},
          {id: 'go', title: '', key: row => row.numberBegin, show: row => button('Show', () => run(showPair(app, row)), {class: 'quiet', 'aria-label': `Show the pair from event ${row.numberBegin}`})}],
      });
      table.update(list);
      return table.root;
    };
    /** The pairs of the bar that is chosen. */
    const limited = (found: LatencyReply): HTMLElement[] => {
      const limits = limitsIn(app.store.state);
      if (!limits)
        return [];
      const range = `${durationExact(limits.low)} to ${durationExact(limits.high)}`, some = found.pairs.length < found.limited ? `; the first ${count(found.pairs.length)} are listed` : '';
      return [element('div', {class: 'bar'}, element('span', {class: 'note', 'data-limited': found.limited}, `Only pairs of ${range}: ${count(found.limited)}${some}; the timeline draws no others.`), button('All pairs', () => setLimits(app.store, null))),
        ...found.pairs.length ? [pairTable(found.pairs, `Pairs of ${range}`, 'pairs', 'begin')] : []];
    };

    const show = (found: LatencyReply, from: string, to: string, key: string) => {
      incomplete.show(found.from);
      const off = [from, to].filter(isOff), limits = limitsIn(app.store.state);
      const slewed = app.store.state.slew.size ? `, ${plural(app.store.state.slew.size, 'track')} at slewed times` : '';
      setText(what, `${from} → ${to}${key ? `, same ${key}` : ''}: ${count(found.count)} pairs${slewed}`);
      setText(notes, `${off.length ? `${off.join(' and ')} ${off.length > 1 ? 'are' : 'is'} switched off in the tab Kinds. ` : ''}${app.model.filterText ? 'Of the events that the filter selects. ' : ''}Not counted: ${count(found.withoutBegin)} without begin, ${count(found.withoutEnd)} without end${found.withoutKey ? `, ${count(found.withoutKey)} without the key` : ''}${found.overGaps ? `, ${count(found.overGaps)} over gaps` : ''}.`);
      setWorst(found.worst[0] ?? null);
      if (found.count === 0)
        return results.replaceChildren(element('p', {}, `No end follows a begin${app.model.filterText ? ' among the events that the filter selects' : ''}.`));
      results.replaceChildren(
        distributionTable(found, `Times from ${from} to ${to}`, value => duration(value, 4)),
        bars(found.buckets, {label: 'Histogram of the times', show: value => duration(value, 3), marks: marksOf(found), does: 'Lists these pairs, and draws only them',
          isChosen: bar => limits?.low === limitsOf(bar).low, choose: bar => { const now = limitsOf(bar); setLimits(app.store, limits?.low === now.low ? null : now); }}),
        ...limited(found), pairTable(found.worst, 'The longest', 'worst', '-duration'));
    };
    const run = (work: Promise<void>) => { work.catch((error: unknown) => app.say(error instanceof Error ? error.message : String(error))); };
    return {
      hide() { job.stop(); spansJob.stop(); },
      update() {
        kinds.update();
        incomplete.show();
        const {latencyFrom: from, latencyTo: to, latencyKey: key} = app.store.state, {server, filterId, filterText} = app.model, query = latencyQuery(app.store.state, filterId), isPair = query !== null;
        spans.root.hidden = isPair;
        results.hidden = notes.hidden = !isPair;
        command.set(!server || query?.slew ? '' : filtered(statCommand(server.command, isPair ? ['latency', '--from', from, '--to', to, ...key ? ['--key', key] : []] : ['latency']), filterText));
        if (!isPair) {
          const of = !filterText ? '' : spansFound?.isOfAll ? ' of all events: a page without a server does not filter them' : ' of the events that the filter selects';
          setText(what, from || to ? `${from || '…'} → ${to || '…'}: choose the other kind` : `Times of all spans${of}`);
          job.forget();
          incomplete.show(spansFound?.from ?? null);
          setWorst(null);
          if (!app.model.isFilterPending)
            spansJob.ask(`spans ${filterId} ${server?.shows}`, signal => settle(app, () => app.source.statistics(filterId, signal), signal, reply => { spansFound = reply; incomplete.show(reply.from); spans.update(reply.spans.filter(row => row.count > 0)); }), {version: server?.events});
          spans.update((spansFound?.spans ?? []).filter(row => row.count > 0));
          return;
        }
        if (!app.model.isFilterPending)
          job.ask(JSON.stringify([from, to, key, filterId, query.slew, tabStateOf(app, 'latency.bar'), server?.shows]), signal => settle(app, () => app.source.latency(query, signal), signal, reply => show(reply, from, to, key),
            progress => setText(what, `${from} → ${to} … ${progress}`)), {version: server?.events});
      },
    };
  },
};
