// SPDX-License-Identifier: MIT
// Traces that grow, are damaged, are empty, or whose names are made to harm: what the page shows of them.
import {spawnSync} from 'node:child_process';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {once} from 'node:events';
import {KYMO, Server, assert, becomes, end, kymo, matches, names, open, press, program, settled, test, until, view, writeCpel} from './harness.mjs';

const total = page => page.evaluate(async () => {
  const {begin, span} = kymo.timeline.window(), picture = await kymo.source.tile({begin, end: begin + span, pixels: 300, tracks: kymo.model.tracks.map(track => track.track)});
  return picture.count.reduce((a, b) => a + b, 0);
});
const lines = (...args) => spawnSync(KYMO, ['cat', '-f', 'json', ...args], {encoding: 'utf8', maxBuffer: 1 << 28}).stdout.split('\n').filter(line => line.startsWith('{')).length;

// ---- a program that runs ----

/** A program that records as many events as it is told to. */
async function recorder(env = {}) {
  const live = program('./live', {stdio: ['pipe', 'pipe', 'inherit'], env: {...process.env, KYMO_ENABLE: '*', KYMO_CONTROL: '0', ...env}});
  let said = '';
  live.stdout.on('data', part => { said += part; });
  const record = async (count, all) => {
    live.stdin.write('x'.repeat(count));
    while (said.length < 'ready\n'.length + all * 'done\n'.length)
      await once(live.stdout, 'data');
  };
  while (!said.includes('ready'))
    await once(live.stdout, 'data');
  return {live, record};
}

await test('a live program: events come in, the end stays in sight, counts are exact', async () => {
  const {live, record} = await recorder();
  await record(10, 10);
  const server = await Server.start([String(live.pid)]), page = await open(server.address);
  await until(page, () => kymo.model.server.events, events => events === 10);
  await settled(page);
  assert.equal(await total(page), 10);
  await matches(page.locator('header'), /live/);
  await record(2000, 2010);
  await until(page, () => kymo.model.server.events, events => events === 2010);
  await settled(page);
  assert.equal(await total(page), 2010);
  await press(page, 'w', 'w', 'End');
  const before = await view(page);
  await record(50, 2060);
  await until(page, () => kymo.model.server.events, events => events === 2060);
  await until(page, () => { const {begin, span} = kymo.timeline.window(); return begin + span > kymo.model.bounds.end; });
  assert.equal((await view(page)).span, before.span);
  assert.deepEqual(page.errors, []);
  live.stdin.end();
  await server.stop();
  await page.context().close();
});

await test('a flight recorder: what its ring has overwritten is listed, and said of each result', async () => {
  const {live, record} = await recorder({KYMO_MODE: 'overwrite', KYMO_BUFFER: '64k'}), chunk = 1000, all = 12 * chunk;
  await record(10, 10);
  const server = await Server.start([String(live.pid)]), page = await open(server.address), note = page.locator('[role="tabpanel"]:not([hidden]) .overwritten');
  for (let count = 10; count < all;) { // the server sees all events
    const more = Math.min(chunk, all - count);
    await record(more, count += more);
    await until(page, () => kymo.model.server.events, events => events === count);
  }
  const shown = () => page.evaluate(async () => (await kymo.source.rows(0, 1000, {})).rows.map(row => row.text));
  assert.deepEqual([...new Set(await shown())], [null]);
  const [old, last] = [page.locator('[data-row="1499"] .text'), page.locator(`[data-row="${all - 1}"] .text`)];
  await page.evaluate(() => kymo.store.update({event: 1500}));
  await matches(old, /^overwritten$/); // rows that were shown before keep their texts
  assert.equal(await old.getAttribute('title'), 'The ring has overwritten its fields.');
  await matches(page.locator('.detail'), 'Its fields were overwritten in the ring.');
  await page.locator('.events-grid').focus();
  await page.keyboard.press('End');
  await matches(last, `count = ${all - 1}`);
  await becomes(async () => (await page.locator('.detail').textContent()).includes('overwritten'), false);
  await page.evaluate(() => kymo.store.update({boxes: [1], event: 1, begin: 0n, span: 0n}));
  await matches(page.locator('.box'), 'Its fields were overwritten in the ring.');
  await page.evaluate(() => kymo.store.update({boxes: []}));
  // the line in the picture
  const x = await until(page, () => { const {begin, span} = kymo.timeline.window(), before = kymo.model.server.overwrittenBefore; return before === null ? null : Number(before - begin) / Number(span); });
  assert.ok(x > 0 && x < 1, `${x}`);
  await settled(page);
  const inked = await page.evaluate(x => {
    const overlay = document.querySelector('.picture canvas.overlay'), at = Math.round(x * overlay.width), {data} = overlay.getContext('2d').getImageData(at - 1, 0, 3, overlay.height);
    return new Uint32Array(data.buffer).filter(pixel => pixel !== 0).length;
  }, x);
  assert.ok(inked > 20, `${inked} pixels of the line`);
  // results
  const start = await page.evaluate(() => { const {begin, overwrittenBefore: before} = kymo.model.server, ns = before - begin; return `Events before +${ns / 1_000_000_000n}.${String(ns % 1_000_000_000n).padStart(9, '0')} were`; });
  await page.evaluate(() => kymo.store.update({filter: 'count % 3 = 1'}));
  await matches(page.locator('.filter-bar'), start);
  await matches(page.locator('.filter-bar'), 'were overwritten in the rings: this result does not have them all.');
  await page.evaluate(() => kymo.store.update({filter: '', latencyFrom: 'live:step', latencyTo: 'live:step', tabState: new Map([['histogram.field', 'count'], ['anomaly.field', 'count']])}, null));
  for (const tab of ['Latency', 'Histogram', 'Anomaly']) {
    await page.getByRole('tab', {name: tab}).click();
    await matches(note, start);
  }
  await page.getByRole('tab', {name: 'Selection'}).click();
  const ruler = await page.evaluate(() => { const {begin, end, overwrittenBefore: before} = kymo.model.server; kymo.store.update({selection: {begin: begin + 1n, end: end + 1n}}); return String(before); });
  await matches(page.locator('.selection-what'), /11.999 events/);
  await becomes(() => note.isHidden(), true); // there is no kind of spans: all is from the index
  await page.evaluate(() => kymo.store.update({filter: 'count % 3 = 1'}));
  await matches(note, start);
  await page.evaluate(before => kymo.store.update({selection: {begin: BigInt(before), end: kymo.model.server.end + 1n}}), ruler);
  await becomes(() => note.isHidden(), true);
  // the table has what the filter selects now, though that has other rows in the same places than before
  await page.getByRole('tab', {name: 'Events'}).click();
  await page.evaluate(() => { kymo.store.update({selection: null, event: null}); document.querySelector('.events-grid').scrollTop = 0; });
  const first = page.locator('[data-row="0"]'), start0 = await until(page, async () => (await kymo.source.rows(0, 1, {filter: kymo.model.filterId})).rows[0]?.text ?? null);
  await matches(first, start0);
  for (let count = all; count < all + 3 * chunk;) {
    await record(chunk, count += chunk);
    await until(page, () => kymo.model.server.events, events => events === count);
  }
  const [row] = await until(page, async () => { const {rows} = await kymo.source.rows(0, 1, {filter: kymo.model.filterId}), {indexed} = kymo.model.filter; return indexed === kymo.model.server.events && rows[0]?.text ? rows.map(({text}) => text) : null; });
  assert.notEqual(row, start0);
  await matches(first, row);
  assert.deepEqual(page.errors, []);
  live.stdin.end();
  await server.stop();
  await page.context().close();
});

// ---- damage, emptiness ----

const events = Array.from({length: 3000}, (_, i) => [i * 1000, i % 3, i % 2, i % 10]);
writeCpel('whole.cpel', {tracks: ['a', 'b', 'c'], kinds: ['rx', 'tx'], events});
const bytes = readFileSync('whole.cpel');
writeFileSync('cut.cpel', bytes.subarray(0, bytes.length - 20 * 700 - 7));
await test('a trace that is cut off: what can be read is shown, and where it ends', async () => {
  const server = await Server.start(['cut.cpel']), page = await open(server.address), wanted = lines('cut.cpel');
  assert.ok(wanted > 1000 && wanted < 3000, `${wanted}`);
  assert.equal(await page.evaluate(() => kymo.model.server.events), wanted);
  assert.equal(await total(page), wanted);
  const tab = page.getByRole('tab', {name: /Problems/});
  await matches(tab, /[1-9]/);
  await tab.click();
  await matches(page.getByRole('tabpanel', {name: /Problems/}), /cut\.cpel/);
  assert.deepEqual(page.errors, []);
  await page.context().close();
  await server.stop();
});
writeCpel('empty.cpel', {tracks: ['a'], kinds: ['rx'], events: []});
await test('a trace that is written anew while it is looked at is indexed anew, and one that is removed stays in the picture', async () => {
  let first = 0;
  const write = count => writeCpel('now.cpel', {tracks: ['a', 'b'], kinds: ['rx'], events: Array.from({length: count}, (_, i) => [i * 1000, i % 2, 0, first + i])});
  write(500);
  const server = await Server.start(['now.cpel']), page = await open(server.address), said = page.locator('footer .said'), text = row => page.locator(`.events-grid [data-row="${row}"] .text`);
  await matches(text(2), /^2$/);
  await page.evaluate(() => kymo.store.update({event: 3, focus: 1}));
  for (const [i, count] of [700, 300].entries()) {
    first = 1000 * (i + 1);
    write(count);
    await until(page, () => kymo.model.server.events, events => events === count);
    await settled(page);
    await matches(said, 'The trace has changed: it is indexed anew.');
    assert.equal(await total(page), count);
    await matches(text(2), new RegExp(`^${first + 2}$`)); // the table and the details are of the new one
    await matches(page.locator('.detail'), new RegExp(`datum\\D*${first + 2}`));
    assert.equal((await view(page)).focus, 1);
  }
  rmSync('now.cpel');
  await matches(said, 'the files of the trace are gone: pictures and counts are of what was indexed');
  await press(page, 'w', '0');
  assert.equal(await total(page), 300);
  await page.getByRole('tab', {name: 'Problems'}).click();
  await matches(page.getByRole('tabpanel', {name: 'Problems'}), 'the files of the trace are gone');
  write(200);
  await until(page, () => kymo.model.server.events, events => events === 200);
  await until(page, () => kymo.model.server.error, error => error === null);
  assert.deepEqual(page.errors, []);
  await server.stop();
  await page.context().close();
});
await test('C12: a trace without events says so', async () => {
  const server = await Server.start(['empty.cpel']), context = await (await import('./harness.mjs')).browse(), page = await context.newPage();
  await page.goto(server.address);
  await page.getByText('The trace has no events.').waitFor();
  for (const key of ['w', 's', 'a', 'd', 'Home', 'End', '0', 'f', 'ArrowDown', 'ArrowRight', 'x', 'z', 'm', 'j', 'n', 'e', 'c', 'Enter', ']'])
    await page.keyboard.press(key);
  await page.close();
  await server.stop();
});
writeCpel('one.cpel', {tracks: ['a'], kinds: ['rx'], events: [[5, 0, 0, 1]]});
await test('C13: one event is seen, with a millisecond around it', async () => {
  const server = await Server.start(['one.cpel']), page = await open(server.address), window = await view(page);
  assert.equal(window.span, 1_000_000);
  assert.equal(await total(page), 1);
  await press(page, 'w', 'w', 's', 'd', 'a', 'End', 'Home', '0');
  assert.deepEqual([(await view(page)).span, page.errors], [1_000_000, []]);
  await page.context().close();
  await server.stop();
});
writeCpel('unsorted.cpel', {tracks: ['a', 'b'], kinds: ['rx', 'tx'], events: [[5000, 0, 0, 1], [1000, 0, 1, 2], [9000, 1, 0, 3], [4000, 1, 1, 4]]});
await test('C14: events that are not in order are drawn where their times are', async () => {
  const server = await Server.start(['unsorted.cpel']), page = await open(server.address);
  assert.equal(await total(page), 4);
  const marks = await page.evaluate(async () => { const {begin, span} = kymo.timeline.window(), picture = await kymo.source.tile({begin, end: begin + span, pixels: 1000, tracks: [0, 1]}); return [...picture.pixel].map(pixel => Number(begin) + pixel * Number(span) / 1000); });
  [1000, 5000, 4000, 9000].forEach((time, i) => assert.ok(Math.abs(marks[i] - time) < 100, `${marks}`));
  await page.context().close();
  await server.stop();
});

/** Calls, one within the other, and one on another track. */
function writeDeep(file, depth) {
  writeCpel(file, {tracks: ['a', 'b'], kinds: ['call_entry', 'call_exit'], events: [...Array.from({length: depth}, (_, i) => [1000 * i, 0, 0, i]), ...Array.from({length: depth}, (_, i) => [2_000_000 + 1000 * i, 0, 1, i]), [4_000_000, 1, 0, 1], [4_001_000, 1, 1, 1]]});
}
const rowsOf = page => page.evaluate(() => kymo.timeline.rows.rows.filter(row => row.type === 'track').map(row => [row.track.name, row.lanes, row.note, row.height === row.strip + row.lanes * row.lane + row.line + row.note]));
/** The picture ends with the row of the first track. */
async function scrollToEnd(page) {
  await page.evaluate(() => { const row = kymo.timeline.rows.rows.find(item => item.type === 'track'); document.querySelector('.scroller').scrollTop = row.y + row.height - document.querySelector('.scroller').clientHeight; });
  await page.evaluate(() => new Promise(done => { requestAnimationFrame(() => requestAnimationFrame(done)); })); // the page hears of it before the first of these frames
  await settled(page);
}
writeDeep('deep.cpel', 200);
await test('recursion of 200 levels is drawn to the deepest one, with the numbers of kymo stat latency', async () => {
  const server = await Server.start(['deep.cpel']), page = await open(server.address);
  const [{count, max: most}] = kymo('stat', 'latency', '--json', 'deep.cpel').split('\n').filter(line => line.includes('"count"')).map(line => JSON.parse(line));
  assert.deepEqual(await page.evaluate(async () => { const {spans: [span]} = await kymo.source.statistics(); return [span.count, Number(span.most)]; }), [count, most]);
  assert.equal(count, 201);
  assert.deepEqual(await rowsOf(page), [['a', 200, 0, true], ['b', 1, 0, true]]);
  await scrollToEnd(page);
  const drawn = () => page.evaluate(async () => {
    const row = kymo.timeline.rows.rows.find(item => item.type === 'track'), {begin, span} = kymo.timeline.window(), picture = await kymo.source.spans({begin, end: begin + span, pixels: 1, rows: Array.from({length: row.lanes}, (_, lane) => ({track: row.track.track, lane}))});
    const pixels = document.querySelector('.picture canvas'), lowest = pixels.getContext('2d').getImageData(0, (row.y + row.strip + (row.lanes - 1) * row.lane - kymo.timeline.top() + 1) * devicePixelRatio, pixels.width, 1).data;
    return {counts: [...picture.count], hasDeepest: new Set(new Uint32Array(lowest.buffer)).size > 1, hasName: document.querySelector('#row-0').getBoundingClientRect().top >= document.querySelector('#timeline-grid').getBoundingClientRect().top};
  });
  await becomes(drawn, {counts: Array.from({length: 200}, () => 1), hasDeepest: true, hasName: true});
  assert.deepEqual(page.errors, []);
  await page.context().close();
  await server.stop();
});
writeDeep('deeper.cpel', 1030);
await test('spans that are nested deeper than the index has levels: the track says so', async () => {
  const server = await Server.start(['deeper.cpel']), page = await open(server.address), said = 'Deeper levels than these 1024 are not drawn: 6 spans.';
  assert.deepEqual(await rowsOf(page), [['a', 1024, 15, true], ['b', 1, 0, true]]);
  await matches(page.locator('#row-0'), said);
  await scrollToEnd(page);
  await becomes(() => page.evaluate(() => {
    const row = kymo.timeline.rows.rows.find(item => item.type === 'track'), overlay = document.querySelector('.picture canvas.overlay'), top = row.y + row.height - row.note - kymo.timeline.top();
    return [top >= 0 && top + row.note <= overlay.height, new Uint32Array(overlay.getContext('2d').getImageData(0, top, overlay.width, row.note).data.buffer).some(pixel => pixel !== 0)];
  }), [true, true]);
  await page.evaluate(() => { document.querySelector('.scroller').scrollTop = 1e6; });
  await settled(page);
  await becomes(async () => (await page.locator('#row-1').textContent()).includes('Deeper'), false);
  assert.deepEqual(page.errors, []);
  await page.context().close();
  await server.stop();
});

// ---- several files ----

await test('A5: several files have a group each; a folded one shows the sum of its tracks', async () => {
  const server = await Server.start(['--force-correlate', 'whole.cpel', 'unsorted.cpel']), page = await open(server.address), groups = () => page.locator('.label.group').allTextContents();
  await becomes(async () => (await groups()).length, 2);
  assert.equal(await total(page), 3004);
  await page.locator('.label.group button').first().click();
  await settled(page);
  assert.deepEqual(await names(page), ['a', 'b']);
  await becomes(() => page.locator('.label.group button').first().getAttribute('aria-expanded'), 'false');
  const folded = await page.evaluate(() => {
    const row = kymo.timeline.rows.rows[0], canvas = document.querySelector('.picture canvas'), {data} = canvas.getContext('2d').getImageData(0, row.y - kymo.timeline.top(), canvas.width, row.height), pixels = new Uint32Array(data.buffer);
    const exact = kymo.timeline.pictures.of('all').filter(kept => kept.pixels === canvas.width).flatMap(kept => [...kept.rows].filter(([key]) => key.startsWith('group ')).map(([, at]) => kept.sums[at]));
    return {inked: pixels.filter(pixel => pixel !== pixels[0]).length, exact, isCollapsed: row.isCollapsed};
  });
  assert.ok(folded.isCollapsed && folded.inked > 2000, `the folded group has no density: ${folded.inked}`);
  assert.deepEqual(folded.exact, [3000]);
  await press(page, 'v');
  assert.equal((await names(page)).length, 5);
  await page.context().close();
  await server.stop();
});

// ---- names that are made to harm ----

const evil = ['<img src=x onerror="window.harmed=1">', '"><script>window.harmed=1</script>', '\u001b[31mred\u001b]0;x\u0007', 'abc\u202Ecba', "');window.harmed=1;//", '${window.harmed=1}', '&lt;b&gt;'];
writeCpel('evil.cpel', {tracks: evil, kinds: evil, events: evil.map((_, i) => [i * 1000, i, i, i])});
await test('names of a trace that are HTML, JavaScript, sequences of terminals or turn the direction are inert', async () => {
  const server = await Server.start(['evil.cpel']), page = await open(server.address);
  assert.deepEqual((await names(page)).slice(0, 2), evil.slice(0, 2));
  for (let number = 1; number <= evil.length; number++)
    await page.evaluate(number => kymo.store.update({boxes: [...kymo.store.state.boxes, number], event: number, found: number, latencyFrom: kymo.model.kinds[0].name, filter: 'EVENT = "abc\u202Ecba"'}), number);
  await settled(page);
  await page.evaluate(() => kymo.store.update({filter: ''}));
  for (let tab = 1; tab <= 9; tab++)
    await press(page, String(tab), 'c', 'e');
  await press(page, 'ArrowDown', 'ArrowRight', 'x', 'y', 'Control+k');
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  await becomes(() => page.locator('img, main script, .tabs script').count(), 0);
  await matches(page.locator('.box').first(), '<img');
  assert.deepEqual(page.errors, []);
  await page.context().close();
  await server.stop();
});
await end();
