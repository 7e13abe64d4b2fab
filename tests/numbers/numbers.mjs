// SPDX-License-Identifier: MIT
// The numbers in the page are those of kymo stat and kymo cat, on a trace of each kind, with and without a filter; and so is
// what the commands print that the page shows.
import assert from 'node:assert/strict';
import {WAIT_MS, becomes, check, commandOf, countOf, countOfShell, eventsOf, finish, json, neverChange, numberOf, open, rowsOf, run, serve, setFilter, shell, shot, tab, tableOf, until} from '../tabs/page.mjs';

const same = assert.deepEqual;

/** Filters, the one with which numbers are compared again, pairs, and fields of each. */
const TRACES = [
  {path: 'recorded', hasSpans: true, filters: ['size > 1000', 'EVENT = "job:step" AND i % 7 = 3', 'name = "<b>some times</b>"', 'EVENT = "job:step" FIRST 100', 'tid > 0 -- all',
    'FILTER f; often = name = "often"; ACTIVITY pair FROM (EVENT = "job:begin") TO (EVENT = "job:end") SAME id WITHIN 1 s; SELECT pair OR often FIRST 900.'],
  of: 'NOT id IN (0..200, 10000..10300)', pairs: [['job:begin', 'job:end', ''], ['job:begin', 'job:end', 'id'], ['job:end', 'job:begin', '']], number: 'size', text: 'name'},
  {path: 'kernel', hasSpans: true, filters: ['value < 17', 'EVENT LIKE "syscall_*"', 'EVENT = "k:tick" AND procname <> "it\'s `$HOME`"'], of: 'value % 5 > 0 AND vtid <> 101',
    pairs: [['syscall_entry_read', 'syscall_exit_read', ''], ['k:tick', 'k:irq_exit', 'value']], number: 'value', text: 'procname'},
  {path: 'random.cpel', filters: ['EVENT = "tick"', 'track = "worker 3"'], of: 'NOT track = "worker 3" AND datum < 90', pairs: [['begin', 'end', ''], ['begin', 'end', 'datum']], number: 'datum', text: null},
  {path: 'packets.pcap', filters: ['caplen > 80'], of: 'caplen < 88', pairs: [['pcap:packet', 'pcap:packet', '']], number: 'caplen', text: null},
];
const words = filter => filter ? ['--filter', filter] : [];
const numbers = text => text.split('\n').filter(Boolean).map(line => JSON.parse(line));

// ---- filters ----

async function filters(page, {path, filters: texts, of}) {
  const panel = await tab(page, 'events'), total = countOf(path);
  for (const text of [...texts, of]) {
    const wanted = countOf(path, text), added = eventsOf(path, text).filter(event => event.event === 'pair').length;
    await setFilter(page, text);
    await becomes(async () => numberOf((await page.locator('.filter-said').innerText()).split(' of ')[0]), wanted);
    await becomes(() => page.locator('.events-grid').getAttribute('aria-rowcount'), String(wanted - added + 1));
    await becomes(async () => numberOf((await panel.locator('.events-list .note').innerText()).split(' of ')[0]), wanted - added);
    await becomes(async () => numberOf(/ of ([\d\u202f]+) events/.exec(await page.locator('.filter-said').innerText())?.[1] ?? ''), total);
    await becomes(async () => countOfShell(await page.locator('.filter-command code').innerText()), wanted);
  }
  await page.locator('.filter-bar button', {hasText: 'Remove'}).click();
  await until(page, () => !window.kymo.model.filter);
}

/** A kind that is off and a filter of any form: what the page counts is what its command prints. */
async function both(page, trace) {
  try {
    await bothOf(page, trace);
  } finally {
    await page.evaluate(() => window.kymo.store.update({kindsOff: [], filter: ''}));
    await until(page, () => !window.kymo.model.base && !window.kymo.model.filter);
  }
}
async function bothOf(page, {path, filters: texts}) {
  const name = await page.evaluate(() => [...window.kymo.model.kinds].sort((a, b) => b.events - a.events)[0].name);
  await page.evaluate(name => window.kymo.store.update({kindsOff: [name]}), name);
  for (const text of texts) {
    await setFilter(page, text.replace(/ -- .*/, ''));
    const state = await page.evaluate(() => ({...window.kymo.model.filter}));
    same(state.error, null);
    let command = '';
    await becomes(async () => [text, countOfShell(command = await page.locator('.filter-command code').innerText())], [text, state.count]);
    if (!/FIRST/.test(text))
      same(state.count, eventsOf(path, text).filter(event => event.event !== name).length);
    await page.evaluate(() => window.kymo.run('copy-command'));
    await becomes(() => page.evaluate(() => navigator.clipboard.readText()), command);
  }
  await setFilter(page, null);
  await until(page, () => window.kymo.model.base?.state === 'done');
  same(await page.evaluate(() => window.kymo.model.base.count), eventsOf(path).filter(event => event.event !== name).length);
  await page.evaluate(() => window.kymo.run('copy-command'));
  await until(page, async () => (await navigator.clipboard.readText()).includes('EVENT'));
  same(countOfShell(await page.evaluate(() => navigator.clipboard.readText())), await page.evaluate(() => window.kymo.model.base.count));
}

// ---- selection ----

const spanNames = [['total', 0], ['self', 1], ['min', 3], ['p50', 4], ['p99', 6], ['max', 8]];
async function spansIn(table) {
  return (await table.locator('tbody tr').evaluateAll(rows => rows.map(row => ({name: row.children[0].innerText.trim(), count: Number(row.children[1].innerText.replace(/\D/g, '')), values: [...row.querySelectorAll('[data-value]')].map(cell => Number(cell.dataset.value))}))))
    .map(row => [row.name, row.count, ...spanNames.map(([, at]) => row.values[at])]).sort();
}
const spansOf = lines => lines.filter(row => typeof row.span === 'string' && row.count > 0).map(row => [row.span, row.count, ...spanNames.map(([name]) => row[name])]).sort();

async function selected(page, {path, hasSpans}, filter) {
  const interval = await page.evaluate(() => {
    const {server} = window.kymo.model, length = server.end - server.begin, begin = server.begin + length / 4n, end = begin + length / 2n;
    window.kymo.store.update({selection: {begin, end}});
    return {begin: String(begin - server.begin), last: String(end - server.begin - 1n)};
  });
  const panel = await tab(page, 'selection'), inside = `TIME IN (+${interval.begin} ns .. +${interval.last} ns)`, text = filter ? `(${inside}) AND (${filter})` : inside;
  const of = by => json('stat', 'counts', '--by', by, '--json', '--filter', text, path), kinds = of('event').filter(row => row.event !== null && row.event !== undefined);
  await becomes(async () => new Map((await rowsOf(tableOf(panel, 'Kinds'))).map(([name, events]) => [name, numberOf(events)])), new Map(kinds.map(row => [row.event, row.count])));
  await becomes(async () => {
    const shown = new Map();
    for (const [name, events] of await rowsOf(tableOf(panel, 'Tracks')))
      shown.set(name, (shown.get(name) ?? 0) + numberOf(events));
    shown.delete('(none)');
    return shown;
  }, new Map(of('track').filter(row => row.track !== null && row.track !== undefined).map(row => [row.track, row.count])));
  const total = countOf(path, text);
  await becomes(async () => numberOf(/: ([\d\u202f]+) events[^…]*$/.exec(await panel.locator('.selection-what').innerText())?.[1] ?? ''), total);
  if (hasSpans)
    await becomes(() => spansIn(tableOf(panel, 'Spans in the interval')), spansOf(json('stat', 'latency', '--json', '--begin', `+${interval.begin}ns`, '--end', `+${interval.last}ns`, ...words(filter), path)));
  const lines = numbers(shell(`${await commandOf(panel)} --json`)).filter(row => row.event !== null && row.event !== undefined);
  same(lines.reduce((sum, row) => sum + row.count, 0), total);
  await page.evaluate(() => window.kymo.store.update({selection: null}));
}

/** A track that is shown later is in the interval by the times at which it is shown. */
async function slewed(page) {
  await setFilter(page, null);
  const {from, last, length} = await page.evaluate(() => {
    const {server, tracks} = window.kymo.model, length = (server.end - server.begin) / 4n, begin = server.begin + length, end = begin + length;
    window.kymo.store.update({selection: {begin, end}, slew: new Map([[tracks.find(track => track.name === 'worker 3').track, length]])});
    return {from: Number(begin - server.begin), last: Number(end - server.begin) - 1, length: Number(length)};
  });
  const inside = later => `TIME IN (+${from - later} ns .. +${last - later} ns)`, panel = await tab(page, 'selection');
  const others = countOf('random.cpel', `${inside(0)} AND NOT track = "worker 3"`), own = countOf('random.cpel', `${inside(length)} AND track = "worker 3"`);
  await becomes(async () => numberOf(/: ([\d\u202f]+) events, 1 track at slewed times/.exec(await panel.locator('.selection-what').innerText())?.[1] ?? ''), others + own);
  await becomes(async () => numberOf((await rowsOf(tableOf(panel, 'Tracks'))).find(row => row[0] === 'worker 3')?.[1] ?? ''), own);
  await becomes(() => panel.locator('.command').isVisible(), false); // no filter says it
  await page.evaluate(() => window.kymo.store.update({selection: null, slew: new Map()}));
}

// ---- latencies ----

const exact = async (panel, name) => Number(await panel.locator(`[data-name="${name}"]`).getAttribute('data-value'));
const NAMES = [['count', 'count'], ['min', 'min'], ['p50', 'p50'], ['p90', 'p90'], ['p99', 'p99'], ['p99.9', 'p999'], ['max', 'max']];
const shownNumbers = panel => panel.locator('.numbers [data-name]').evaluateAll(cells => Object.fromEntries(cells.map(cell => [cell.dataset.name, Number(cell.dataset.value)])));
const barsOf = panel => panel.locator('.bar-column').evaluateAll(list => list.map(item => [Number(item.dataset.low), Number(item.dataset.count)]).filter(([, count]) => count));
const near = (a, b) => Math.abs(a - b) <= 1e-9 * Math.abs(b) + 1e-9;

/** Pairs whose begin and end are on tracks that are shown shifted are as long as they are shown. */
async function slewedLatency(page, [from, to, key]) {
  await setFilter(page, null);
  const slews = await page.evaluate(() => { const slew = new Map(window.kymo.model.tracks.map(({track}) => [track, BigInt(track) * 1_000_000n])); window.kymo.store.update({slew}); return [...slew].map(([, ns]) => Number(ns)); });
  const panel = await tab(page, 'latency');
  await panel.locator(`input[aria-label="From ${from}"]`).click();
  await panel.locator(`input[aria-label="To ${to}"]`).click();
  await panel.locator('select').selectOption(key);
  await becomes(async () => /pairs, \d+ tracks at slewed times$/.test(await panel.locator('h3').innerText()), true);
  const found = await page.evaluate(async ({slew, ...query}) => {
    const {source} = window.kymo, shown = [];
    const ask = async more => { for (;;) { const reply = await source.latency({...query, low: -(1n << 62n), high: 1n << 62n, ...more}); if (reply.state === 'done') return reply; } };
    const plain = await ask({}), slewed = await ask({slew});
    for (const [i, pair] of plain.pairs.slice(0, 50).entries()) {
      const [begin, end] = [await source.event(pair.numberBegin), await source.event(pair.numberEnd)], other = slewed.pairs[i];
      shown.push([begin, end].map(({time, track}) => [Number(time - window.kymo.model.server.begin), track]).concat([[other.numberBegin, other.numberEnd], [pair.numberBegin, pair.numberEnd], [Number(other.begin - window.kymo.model.server.begin), Number(other.duration)]]));
    }
    return {counts: [plain.count, slewed.count], shown};
  }, {from, to, key, slew: slews.map((ns, track) => `${track}:${ns}`).join()});
  same(found.counts[0], found.counts[1]);
  assert.ok(found.shown.some(([[, a], [, b]]) => a !== b), 'all pairs are on one track');
  for (const [[begin, first], [end, last], numbers_, plain, times] of found.shown)
    same([numbers_, times], [plain, [begin + slews[first], end + slews[last] - begin - slews[first]]]);
  same(await panel.locator('.command').isVisible(), false); // kymo stat knows no slews
  await panel.locator('button', {hasText: 'Clear'}).click();
  await page.evaluate(() => window.kymo.store.update({slew: new Map()}));
}
async function latencies(page, trace, filter) {
  for (const pair of trace.pairs)
    await latency(page, trace, pair, filter);
}
async function latency(page, {path}, [from, to, key], filter) {
  const panel = await tab(page, 'latency'), lines = json('stat', 'latency', '--from', from, '--to', to, ...key ? ['--key', key] : [], '--worst', '100', '--json', ...words(filter), path), all = lines.find(row => row.track === null && 'count' in row);
  await panel.locator(`input[aria-label="From ${from}"]`).click(); // two clicks
  await panel.locator(`input[aria-label="To ${to}"]`).click();
  await panel.locator('select').selectOption(key);
  await becomes(async () => { const {mean, ...rest} = await shownNumbers(panel); return rest; }, Object.fromEntries(NAMES.map(([name, member]) => [name, all[member]])));
  await becomes(() => panel.locator('h3').innerText(), `${from} → ${to}${key ? `, same ${key}` : ''}: ${all.count.toLocaleString('en').replaceAll(',', '\u202f')} pairs`);
  assert.ok(near(await exact(panel, 'mean'), all.mean));
  same(numbers(shell(`${await commandOf(panel)} --worst 100 --json`)), lines);
  const left = lines.find(row => 'without_begin' in row) ?? {}, notes = await panel.locator('.latency-results > .note').innerText(), said = name => numberOf(new RegExp(`([\\d\\u202f]+) ${name}`).exec(notes)?.[1] ?? '0');
  same([said('without begin'), said('without end'), said('without the key'), said('over gaps')], ['without_begin', 'without_end', 'without_key', 'over_lost_events'].map(name => left[name] ?? 0));
  const bars = await barsOf(panel), longest = lines.filter(row => 'longest' in row);
  same(bars.reduce((sum, [, count]) => sum + count, 0), all.count);
  await becomes(async () => (await rowsOf(tableOf(panel, 'The longest'))).map(row => row[2]), longest.map(row => `${row.events[0]} to ${row.events[1]}`));
  await bar(page, panel, bars[bars.length - 1], longest);
  await panel.locator('button', {hasText: 'Go to the worst'}).click();
  await until(page, number => window.kymo.store.state.event === number, longest[0].events[0]);
  same(await page.evaluate(() => { const {selection} = window.kymo.store.state; return Number(selection.end - selection.begin); }), longest[0].longest);
  await page.keyboard.press('Escape');
  await panel.locator('button', {hasText: 'Clear'}).click();
  await page.evaluate(() => window.kymo.store.update({begin: 0n, span: 0n, event: null, markA: null, markB: null, selection: null}));
}

/** A click on a bar lists its pairs, and the time line draws only them; the URL has it; a second click ends it. */
async function bar(page, panel, [low, count], longest) {
  const column = panel.locator(`.bar-column[data-low="${low}"]`), drawn = () => page.evaluate(async () => {
    const {source, model: {pairs, server}} = window.kymo;
    if (pairs.id === null)
      return -1; // they are asked for
    const picture = await source.tile({begin: server.begin, end: server.end + 1n, pixels: 50, tracks: [0], latency: pairs.id});
    return picture.count.slice(picture.start[1]).reduce((sum, value) => sum + value, 0);
  });
  await column.click();
  await becomes(async () => Number(await panel.locator('[data-limited]').getAttribute('data-limited')), count);
  await becomes(() => column.getAttribute('aria-pressed'), 'true');
  await becomes(drawn, count);
  const listed = () => rowsOf(tableOf(panel, 'Pairs of ')), wanted = longest.filter(row => row.longest >= low).map(row => `${row.events[0]} to ${row.events[1]}`);
  await becomes(async () => (await listed()).length, Math.min(count, 1000));
  if (count < 100)
    await becomes(async () => (await listed()).map(row => row[2]).sort(), wanted.sort());
  await until(page, () => location.hash.includes('latency.bar'));
  await column.click();
  await until(page, () => !document.querySelector('[data-limited]') && !location.hash.includes('latency.bar'));
}

async function spans(page, {path}, filter) {
  const panel = await tab(page, 'latency');
  await becomes(() => spansIn(tableOf(panel, 'All spans')), spansOf(json('stat', 'latency', '--json', ...words(filter), path)));
  same(numbers(shell(`${await commandOf(panel)} --json`)), json('stat', 'latency', '--json', ...words(filter), path));
}

// ---- histograms ----

/** Runs in the page: clicks on a bar, and takes the filter that comes of it; then the one before is back. */
async function clickBar({low, before, count, waitMs}) {
  const {model, store} = window.kymo, end = performance.now() + waitMs, panel = document.getElementById('panel-histogram');
  const until = async read => {
    while (!read()) {
      if (performance.now() > end)
        throw new Error(`the bar from ${low}: ${read} stays false`);
      await new Promise(done => { setTimeout(done, 10); });
    }
  };
  const isWhole = () => Number(panel.querySelector('[data-name="count"]')?.dataset.value) === count;
  await until(isWhole);
  panel.querySelector(`.bar-column[data-low="${low}"]`).click();
  await until(() => model.filter?.state === 'done' && model.filter.text !== before);
  const {count: found, text} = model.filter;
  store.update({filter: before ?? ''});
  await until(isWhole);
  return {found, text};
}
/** Each bar becomes a filter of its events: the first one by the mouse. */
async function filtersOf(page, path, bars, before, count) {
  await page.locator(`#panel-histogram .bar-column[data-low="${bars[0][0]}"]`).click();
  await until(page, before => window.kymo.model.filter?.state === 'done' && window.kymo.model.filter.text !== before, before);
  await page.evaluate(filter => window.kymo.store.update({filter}), before ?? '');
  for (const [low, wanted] of bars) {
    const {found, text} = await page.evaluate(clickBar, {low, before, count, waitMs: WAIT_MS});
    same([low, found, countOf(path, text)], [low, wanted, wanted]);
  }
}

/** The smallest value that this number of thousandths is not above. */
const percentile = (sorted, thousandths) => sorted[Math.max(0, Math.floor((sorted.length * thousandths + 999) / 1000) - 1)];

async function histograms(page, {path, number, text}, filter) {
  const panel = await tab(page, 'histogram');
  await panel.locator('select').selectOption(number);
  const values = eventsOf(path, filter).map(line => line.fields?.[number] ?? line[number]).filter(value => typeof value === 'number').sort((a, b) => a - b);
  await becomes(async () => { const {count, min, max} = await shownNumbers(panel); return [count, min, max]; }, [values.length, values[0], values[values.length - 1]]);
  assert.ok(near(await exact(panel, 'mean'), values.reduce((sum, value) => sum + value, 0) / values.length));
  if (values.length <= 4096) // of more, kymo has counts of small ranges
    same(await Promise.all(['p50', 'p90', 'p99', 'p99.9'].map(name => exact(panel, name))), [500, 900, 990, 999].map(part => percentile(values, part)));
  const printed = json('stat', 'histogram', number, '--json', ...words(filter), path).filter(row => 'from' in row), bars = new Map(await barsOf(panel));
  same(numbers(shell(`${await commandOf(panel)} --json`)).filter(row => 'from' in row), printed);
  same([...bars.values()].reduce((sum, count) => sum + count, 0), printed.reduce((sum, row) => sum + row.count, 0));
  same(printed.filter(row => row.from >= 16).map(row => bars.get(row.from) ?? 0), printed.filter(row => row.from >= 16).map(row => row.count));
  await filtersOf(page, path, [...bars], filter, values.length);
  if (text)
    await textsOf(page, panel, path, text, filter);
}
async function textsOf(page, panel, path, text, filter) {
  await panel.locator('select').selectOption(text);
  const counts = new Map(json('stat', 'counts', '--by', text, '--json', ...words(filter), path).filter(row => row[text] !== null && row[text] !== undefined).map(row => [row[text], row.count]));
  await becomes(async () => new Map((await rowsOf(tableOf(panel, `Values of ${text}`))).map(([value, events]) => [value, numberOf(events)])), counts);
  same(numbers(shell(`${await commandOf(panel)} --json`)), json('stat', 'counts', '--by', text, '--json', ...words(filter), path));
}

// ---- anomalies ----

/** By the definition: values of the filter's events, by the tracks that the page has. */
async function anomalies(page, {path, number}, filter) {
  const panel = await tab(page, 'anomaly'), byTrack = new Map(), all = eventsOf(path), kept = await page.evaluate(async () => { // its rows: numbers and tracks
    const all = [], {source, model} = window.kymo, query = {filter: model.filterId};
    for (const {total} = await source.rows(0, 1, query); all.length < total;)
      all.push(...(await source.rows(all.length, 1000, query)).rows.map(row => [row.number, model.trackName(row.track)]));
    return all;
  });
  if (!filter)
    same(kept.length, all.length);
  for (const [row, track] of kept) {
    const value = all[row - 1].fields?.[number];
    if (typeof value === 'number')
      byTrack.set(track, [...byTrack.get(track) ?? [], value]);
  }
  const wanted = [...byTrack].map(([track, values]) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length, deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
    return [track, values.length, Math.min(...values), Math.max(...values), mean.toPrecision(4), deviation.toPrecision(4), values.filter(value => value - mean > 1.5 * deviation).length];
  }).sort();
  await panel.locator('select[aria-label="Numeric field"]').selectOption(number);
  await panel.locator('input[type="number"]').fill('1.5');
  await panel.locator('input[type="number"]').press('Tab');
  const round = text => Number(text.replace(/[\u202f\s]/g, '').replace('−', '-')).toPrecision(4);
  await becomes(async () => (await rowsOf(tableOf(panel, 'Tracks'))).map(row => [row[0], numberOf(row[1]), Number(round(row[2])), Number(round(row[3])), round(row[4]), round(row[5]), numberOf(row[7])]).sort(), wanted.map(row => row.map((value, i) => i === 2 || i === 3 ? Number(value.toPrecision(4)) : value)));
  const hits = wanted.reduce((sum, row) => sum + row[6], 0);
  const said = new RegExp(`^${hits.toLocaleString('en').replaceAll(',', '\u202f')} values? of .*${filter ? 'that the filter selects' : ''}`);
  await becomes(async () => said.test(await panel.locator('.note').first().innerText()), true);
}

// ---- all ----

neverChange('recorded', 'kernel', 'random.cpel', 'packets.pcap', 'floats');
for (const trace of TRACES) {
  const server = await serve(trace.path), page = await open(server.address), name = trace.path;
  await check(`${name}: rows and counts of filters are those of kymo cat`, () => filters(page, trace));
  await check(`${name}: kinds that are off and filters of any form are one filter, which its command has`, () => both(page, trace));
  for (const filter of [null, trace.of]) {
    const of = filter ? ', of the events that a filter selects' : '';
    await check(`${name}: the filter is set${of}`, () => setFilter(page, filter));
    await check(`${name}: the selection has the numbers of kymo stat${of}`, () => selected(page, trace, filter));
    await check(`${name}: latency has the numbers of kymo stat latency${of}`, () => latencies(page, trace, filter));
    if (trace.hasSpans)
      await check(`${name}: spans have the numbers of kymo stat latency${of}`, () => spans(page, trace, filter));
    await check(`${name}: histograms have the numbers of kymo stat${of}`, () => histograms(page, trace, filter));
    await check(`${name}: anomalies are beyond the mean of their track${of}`, () => anomalies(page, trace, filter));
  }
  if (trace.path === 'random.cpel') {
    await check(`${name}: the selection has slewed tracks where they are shown`, () => slewed(page));
    await check(`${name}: pairs across slewed tracks are as long as they are shown`, () => slewedLatency(page, trace.pairs[1]));
  }
  await check(`${name}: no script failed`, () => same(page.errors, []));
  await page.context().close();
  server.stop();
}

// ---- floating-point numbers ----

/** Bars, extremes and what is in no bar; a bar becomes a filter of its events. */
async function floats(page, filter) {
  const panel = await tab(page, 'histogram'), printed = json('stat', 'histogram', 'x', '--json', ...words(filter), 'floats'), bars = printed.filter(row => 'from' in row).map(({from, count}) => ({from: Math.max(Number(from), -Number.MAX_VALUE), count})), countIn = value => printed.find(row => row.value === value)?.count ?? 0;
  const values = eventsOf('floats', filter).map(event => event.fields.x).filter(value => typeof value === 'number');
  await panel.locator('select').selectOption('x');
  await becomes(() => barsOf(panel), bars.map(row => [row.from, row.count]));
  await becomes(async () => { const {count, min, max, p50} = await shownNumbers(panel); return [count, min, max, p50]; }, [values.length, Math.min(...values), Math.max(...values), undefined]);
  assert.ok(Math.abs(await exact(panel, 'mean') - values.reduce((sum, value) => sum + value / values.length, 0)) <= 1e-9 * Math.max(...values.map(Math.abs)));
  const infinite = countIn('Infinity') + countIn('-Infinity'), said = [infinite && `${infinite} infinite`, countIn('NaN') && `${countIn('NaN')} not a number`].filter(Boolean);
  await becomes(async () => (await panel.locator('.bar .note').innerText()).split(' of the events')[0].split(', ').slice(1), said);
  same(numbers(shell(`${await commandOf(panel)} --json`)), printed);
  const some = [bars[0], ...bars.filter(row => [-1, 0, 0.5, 16].includes(row.from)), bars[bars.length - 1]];
  await filtersOf(page, 'floats', some.map(row => [row.from, row.count]), filter, values.length);
}
{
  const server = await serve('floats'), page = await open(server.address);
  for (const filter of [null, 'i % 3 = 0 AND i < 2000', 'i >= 20']) {
    await setFilter(page, filter);
    await check(`floats: the histogram has the numbers of kymo stat${filter ? `, of ${filter}` : ''}`, () => floats(page, filter));
  }
  await check('floats: no script failed', () => same(page.errors, []));
  await page.context().close();
  server.stop();
}

// ---- without a server ----

await check('a page without a server has the same numbers, and asks for nothing', async () => {
  run('view', '--html', 'page.html', 'recorded');
  const page = await open(`file://${process.cwd()}/page.html`), asked = [], [trace] = TRACES;
  page.on('request', request => asked.push(request.url()));
  for (const text of [trace.filters[0], trace.filters[2], trace.of]) { // it has a part of the language
    const count = countOf('recorded', text);
    await setFilter(page, text);
    await becomes(() => page.locator('.events-grid').getAttribute('aria-rowcount'), String(count + 1));
  }
  for (const filter of [null, trace.of]) {
    await setFilter(page, filter);
    if (!filter)
      await selected(page, trace, filter);
    await latency(page, trace, trace.pairs[1], filter);
    await histograms(page, {...trace, text: null}, filter);
    await anomalies(page, trace, filter);
  }
  const panel = await tab(page, 'latency');
  await until(page, () => /of all events: a page without a server/.test(document.querySelector('#panel-latency h3').textContent));
  await becomes(() => spansIn(tableOf(panel, 'All spans')), spansOf(json('stat', 'latency', '--json', 'recorded')));
  await shot(page, 'without-server');
  same([asked, page.errors], [[], []]);
  await page.context().close();
});
await finish();
