// SPDX-License-Identifier: MIT
// A program that records while the page is open: when it has ended, each number is what kymo stat and kymo cat say of all of it.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {KYMO, becomes, check, countOf, eventsOf, finish, json, numberOf, open, rowsOf, serve, setFilter, shot, start, tab, tableOf, until} from './page.mjs';

const same = assert.deepEqual, FILTER = 'count % 3 = 1';
const NAMES = [['count', 'count'], ['min', 'min'], ['p50', 'p50'], ['p90', 'p90'], ['p99', 'p99'], ['p99.9', 'p999'], ['max', 'max']];
const shownNumbers = panel => panel.locator('.numbers [data-name]').evaluateAll(cells => Object.fromEntries(cells.map(cell => [cell.dataset.name, Number(cell.dataset.value)])));
const words = filter => filter ? ['--filter', filter] : [];

/** Writes as many events as bytes, and waits until they are recorded. */
async function record(program, bytes) {
  let left = bytes;
  const done = new Promise(resolve => {
    const heard = data => { left -= String(data).split('done\n').length - 1; if (left <= 0) { program.stdout.off('data', heard); resolve(); } };
    program.stdout.on('data', heard);
  });
  program.stdin.write('x'.repeat(bytes));
  await done;
}

/** What each tab shows in the end, first the one that is open: nothing but the page itself asks for it again. */
async function numbers(page, trace, filter) {
  const count = countOf(trace, filter);
  const latency = await tab(page, 'latency'), all = json('stat', 'latency', '--from', 'live:step', '--to', 'live:step', '--json', ...words(filter), trace).find(row => row.track === null && 'count' in row);
  await becomes(async () => { const {mean, ...rest} = await shownNumbers(latency); return rest; }, Object.fromEntries(NAMES.map(([name, member]) => [name, all[member]])));
  await tab(page, 'events');
  await becomes(() => page.locator('.events-grid').getAttribute('aria-rowcount'), String(count + 1));
  const values = eventsOf(trace, filter).map(event => event.fields.count), histogram = await tab(page, 'histogram');
  await becomes(async () => { const {count, min, max} = await shownNumbers(histogram); return [count, min, max]; }, [values.length, Math.min(...values), Math.max(...values)]);
  const anomaly = await tab(page, 'anomaly');
  await becomes(async () => (await rowsOf(tableOf(anomaly, 'Tracks'))).map(row => [numberOf(row[1]), Number(row[2]), Number(row[3])]), [[values.length, Math.min(...values), Math.max(...values)]]);
  const selection = await tab(page, 'selection');
  await becomes(async () => (await rowsOf(tableOf(selection, 'Kinds'))).map(([name, events]) => [name, numberOf(events)]), [['live:step', count]]);
  same(page.errors, []);
}
/** Opens each tab, so that its numbers of before are there. */
async function look(page) {
  await page.evaluate(() => window.kymo.store.update({latencyFrom: 'live:step', latencyTo: 'live:step', tabState: new Map([['histogram.field', 'count'], ['anomaly.field', 'count']])}, null));
  for (const id of ['histogram', 'anomaly', 'selection', 'events', 'latency'])
    await tab(page, id);
  await page.locator('#panel-latency [data-name="count"]').waitFor();
}

{
  const recorder = spawn(KYMO, ['record', '-q', '-o', 'followed', '--', './live'], {stdio: ['pipe', 'pipe', 'inherit']});
  await once(recorder.stdout, 'data');
  await record(recorder, 50);
  while (!existsSync('followed') || countOfNow() < 1)
    await new Promise(resolve => { setTimeout(resolve, 50); });
  const followed = await serve('-F', 'followed'), page = await open(followed.address, {}, {isLive: true});
  await check('a trace that is written: the numbers that are shown while it grows', async () => {
    await look(page);
    await record(recorder, 200);
    await until(page, () => window.kymo.model.server.events > 1);
    await setFilter(page, FILTER);
    await look(page);
    await shot(page, 'live');
  });
  await check('a trace that is written: when the program has ended, they are those of kymo stat', async () => {
    await record(recorder, 500);
    recorder.stdin.end();
    await once(recorder, 'exit');
    await numbers(page, 'followed', FILTER);
    await setFilter(page, null);
    await numbers(page, 'followed', null);
    same(countOf('followed'), 750);
  });
  await page.context().close();
  followed.stop();
}
function countOfNow() {
  try { return countOf('followed'); } catch { return 0; }
}
{
  const program = await start('./live'), name = String(program.pid), live = await serve(name), page = await open(live.address, {}, {isLive: true});
  await check('rings of a program: numbers are those of kymo stat while it waits, and stay when it has ended', async () => {
    await record(program, 100);
    await look(page);
    await record(program, 300);
    await setFilter(page, FILTER);
    await numbers(page, name, FILTER);
    await setFilter(page, null);
    await numbers(page, name, null);
    program.stdin.end();
    await once(program, 'exit');
    for (const [id, count] of [['latency', 400], ['histogram', 401]]) {
      const panel = await tab(page, id);
      same((await shownNumbers(panel)).count, count);
    }
  });
  await page.context().close();
  live.stop();
}
await finish();
