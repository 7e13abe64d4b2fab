// SPDX-License-Identifier: MIT
// Rows of g2's checklist that need a file of their own: reading (C), the screen (D), deep zooms (E), texts (G), chase (I), anomalies (J),
// snapshots (K), colours (L), and what g2 has not (R).
import {writeFileSync} from 'node:fs';
import {assert, becomes, end, kymo as command, matches, names, open, placeOf, press, random, says, serving, settled, test, until, view, writeCpel, writeElog} from '../viewer/harness.mjs';

const near = (a, b, by) => assert.ok(Math.abs(a - b) <= by, `${a} is not within ${by} of ${b}`);
const total = page => page.evaluate(async () => { const {begin, span} = kymo.timeline.window(), picture = await kymo.source.tile({begin, end: begin + span, pixels: 300, tracks: kymo.model.tracks.map(track => track.track)}); return picture.count.reduce((a, b) => a + b, 0); });
const kinds = page => page.evaluate(() => kymo.model.kinds.map(kind => kind.name));
const tab = async (page, name) => { await page.getByRole('tab', {name}).click(); return page.getByRole('tabpanel', {name}); };
const lines = (...args) => command('cat', '-f', 'json', ...args).split('\n').filter(line => line.startsWith('{')).map(line => JSON.parse(line)).filter(line => line.event);

// ---- C: reading ----

const some = (count, at = 0) => Array.from({length: count}, (_, i) => [at + i * 1000, i % 3, i % 2, i]);
writeCpel('c1.cpel', {tracks: ['a', 'b', 'c'], kinds: ['rx', 'tx'], events: some(60)});
await test('C1: every event is there that kymo cat prints, with its track, kind and datum', () => serving('c1.cpel', async page => {
  const rows = await page.evaluate(async () => (await kymo.source.rows(0, 100, {})).rows.map(row => [Number(row.time), kymo.model.trackName(row.track), kymo.model.kindName(row.kind), row.text]));
  assert.deepEqual(rows, lines('c1.cpel').map(line => [line.ts, line.context.track.label, line.event, line.message]));
}));
writeCpel('c2.cpel', {tracks: ['a', 'b', 'c'], kinds: ['rx', 'tx'], sections: [some(100), some(50, 500_000), some(7, 20_500)]});
await test('C2: the events of all sections are shown', () => serving('c2.cpel', async page => assert.deepEqual([await total(page), await page.evaluate(() => kymo.model.server.events)], [157, 157])));
writeCpel('c3.cpel', {tracks: ['a'], kinds: ['rx'], events: [[500_000, 0, 0, 1], [100_000, 0, 0, 2], [900_000, 0, 0, 3]]});
await test('C3: an event that is earlier than the first one of the file is drawn before it, and a ruler over both is exact', () => serving('c3.cpel', async page => {
  const [one, two] = [await placeOf(page, 1), await placeOf(page, 2)], window = await view(page);
  near((one.x - two.x) / await page.evaluate(() => kymo.timeline.width) * window.span, 400_000, 2000);
  assert.ok(window.begin < 100_000 && window.first === 100_000);
}));
writeCpel('c4.cpel', {tracks: ['a', {id: 0, name: 'again'}], kinds: ['rx', {code: 0, name: 'twice', form: '%x'}, {code: 2, name: 'last', form: '%d'}], events: [[0, 0, 0, 1], [1000, 0, 2, 2]]});
await test('C4: a definition that comes twice is reported, the first one is used, and those after it are there', () => serving('c4.cpel', async page => {
  assert.deepEqual([await names(page), (await kinds(page)).sort()], [['a'], ['last', 'rx']]);
  await matches(page.getByRole('tab', {name: /Problems/}), /[1-9]/);
  const panel = await tab(page, /Problems/);
  await matches(panel.getByRole('list', {name: 'Warnings'}), /c4\.cpel: byte \d+: another definition of event 0.*another definition of track 0/s);
}));
writeCpel('c5.cpel', {tracks: ['a'], kinds: ['rx'], events: [[0, 0, 0, 1], [1000, 7, 9, 3], [2000, 70000, 9, 4], [3000, 0, 11, 5]]});
await test('C5, C6: events and tracks without a definition are shown by their numbers, and can be switched off', () => serving('c5.cpel', async page => {
  assert.deepEqual([(await names(page)).map(name => name.trim()), (await kinds(page)).sort()], [['a', '7', '70000'], ['E11', 'E9', 'rx']]);
  const panel = await tab(page, /Kinds/);
  await panel.getByLabel('E9', {exact: true}).uncheck();
  await settled(page);
  assert.equal(await page.evaluate(() => kymo.model.base.count), 2);
}));
writeCpel('c7.cpel', {tracks: ['a name that is long, much longer than others', 'b'], kinds: ['rx'], events: some(10).map(([time, track]) => [time, track % 2, 0, 1])});
await test('C7: names have the width that the longest needs, and another one by keys and by a drag', () => serving('c7.cpel', async page => {
  const width = () => page.locator('.labels').evaluate(item => item.getBoundingClientRect().width), handle = page.getByRole('separator', {name: 'Width of the names'});
  const long = await width();
  assert.equal(await page.evaluate(() => [...document.querySelectorAll('.label .name')].some(name => name.scrollWidth > name.clientWidth)), false);
  await handle.focus();
  await press(page, 'ArrowLeft', 'ArrowLeft');
  near(await width(), long - 32, 1);
  const {x, y, height} = await handle.boundingBox();
  await page.mouse.move(x + 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + 102, y + height / 2, {steps: 4});
  await page.mouse.up();
  await settled(page);
  near(await width(), long + 68, 2);
}));
writeElog('c8.clib', {tracks: ['clib one', 'clib two'], types: ['port %d is up', 'idle: %d turns', 'rx(4): port %d'], events: Array.from({length: 90}, (_, i) => [i * 0.001, i % 2, i % 3, i % 7])});
writeCpel('c8.cpel', {tracks: ['a'], kinds: [{code: 0, name: 'state', form: 'is %s now'}, {code: 1, name: 'port', form: '100%% of 0x%08x'}], events: [[0, 0, 0, 'ready'], [1000, 0, 1, 48879]]});
await test('C8, G2, G3, R1: details and table have the whole text, as the format of the file makes it', async () => {
  for (const [file, texts] of [['c8.cpel', ['is ready now', '100% of 0x0000beef']], ['c8.clib', ['port 0 is up', 'idle: 1 turns', 'rx(4): port 2']]])
    await serving(file, async page => {
      await page.evaluate(boxes => kymo.store.update({boxes, tab: 'events'}), texts.map((_, i) => i + 1));
      await settled(page);
      for (const [i, text] of texts.entries()) {
        await matches(page.getByLabel(new RegExp(`^Event ${i + 1}: `)), text);
        await until(page, i => document.querySelector(`#events-row-${i} .text`)?.textContent, shown => shown === text, i);
      }
    });
});
await test('C9: the list of kinds has the whole format of each, and finds a part of it', () => serving('c8.clib', async page => {
  const panel = await tab(page, /Kinds/);
  for (const [name, format] of [['port', 'port %d is up'], ['idle', 'idle: %d turns'], ['rx(4): port', 'rx(4): port %d']])
    await becomes(() => panel.locator('tr', {has: page.getByLabel(name, {exact: true})}).locator('.template').textContent(), format);
  await panel.getByLabel('Find a kind').fill('is up');
  await becomes(async () => (await panel.locator('tbody label').allTextContents()).map(name => name.trim()), ['port']);
}));
writeFileSync('c10.h', '#define EV_NUM(n) (BASE + n)\n#define EV_A 6 /* rx: port %d and all after the blank */\n#define NET 100 /* pointdefs: c10net.h */\n#define EV_C 5 /* boot */\n');
writeFileSync('c10net.h', '#define EV_B EV_NUM(4) /* tx:0x%x */\n');
await test('C10: definitions of Gist logs: numbers, bases of other headers, formats with blanks', async () => {
  const {writeGist} = await import('../viewer/harness.mjs');
  writeGist('c10.ev', [[0, 1, 104, 255], [10, 1, 5, 0], [20, 1, 6, 3]]);
  await serving(['--gist-header', 'c10.h', 'c10.ev'], async page => {
    assert.deepEqual((await kinds(page)).sort(), ['boot', 'rx', 'tx']);
    assert.deepEqual(await page.evaluate(async () => (await kymo.source.rows(0, 9, {})).rows.map(row => row.text)), ['0xff', 'datum = 0', 'port 3 and all after the blank']);
  });
});
const MANY = 10_000;
writeCpel('c11.cpel', {tracks: Array.from({length: MANY}, (_, i) => `fibre ${i}`), kinds: ['rx', 'tx'], events: Array.from({length: 2 * MANY}, (_, i) => [i * 100, i * 7919 % MANY, i % 2, i])});
await test('C11: ten thousand tracks: all are reached, and few are elements', () => serving('c11.cpel', async page => {
  assert.equal((await names(page)).length, MANY);
  await press(page, 'Control+End');
  const last = (await names(page))[MANY - 1];
  await page.getByText(last, {exact: true}).first().waitFor();
  assert.ok(await page.locator('.label').count() < 100);
  await page.evaluate(() => { kymo.run('order-name'); kymo.timeline.reveal(kymo.model.tracks.find(track => track.name === 'fibre 5000').track); });
  await settled(page);
  await page.getByText('fibre 5000', {exact: true}).first().waitFor();
}));

// ---- D: the screen ----

const rng = random(3);
writeCpel('d.cpel', {tracks: Array.from({length: 60}, (_, i) => `t ${i}`), kinds: ['rx', 'tx', 'hot'], events: Array.from({length: 6000}, (_, i) => [i * 1000, i === 3000 ? 5 : 6 + rng(54), i === 3000 ? 2 : rng(2), i])});
await test('D2: as many tracks are shown as have space, at any height of the rows', () => serving('d.cpel', async page => {
  for (const rowHeight of [10, 25, 60]) {
    await page.evaluate(rowHeight => kymo.store.update({rowHeight, scroll: 0}), rowHeight);
    await settled(page);
    const [shown, space] = await page.evaluate(() => [document.querySelectorAll('.label').length, document.querySelector('.picture').clientHeight / kymo.timeline.rows.rows[0].height]);
    assert.ok(shown >= Math.min(60, Math.floor(space)) && shown <= Math.ceil(space) + 1, `${shown} of ${space}`);
  }
}));
await test('D3, D8: one formula for drawing, hits, axis and ruler: to the pixel, at three zooms; the end of the window is not in it', () => serving('d.cpel', async page => {
  const reveal = () => page.evaluate(() => { kymo.timeline.reveal(kymo.model.tracks.find(track => track.name === 't 5').track); });
  for (const [begin, span] of [[0, 6_000_000], [2_900_000, 200_000], [2_999_990, 40]]) {
    await page.evaluate(([begin, span]) => kymo.store.update({begin: BigInt(begin), span: BigInt(span), boxes: []}), [begin, span]);
    await reveal();
    await settled(page);
    const wide = await page.evaluate(() => kymo.timeline.width), place = await page.evaluate(async () => kymo.timeline.place(await kymo.source.event(3001)));
    near(place.x, (3_000_000 - begin) / span * wide, 0.01);
    const drawn = await page.evaluate(y => { // on its track it is the only event
      const canvas = document.querySelector('.picture canvas'), {data} = canvas.getContext('2d').getImageData(0, Math.round(y), canvas.width, 1), found = [];
      for (let x = 0; x < canvas.width; x++)
        if (data[4 * x] + data[4 * x + 1] + data[4 * x + 2] < 600) found.push(x);
      return [found[0], found[found.length - 1]];
    }, place.y);
    assert.ok(drawn[0] <= place.x + 1 && drawn[1] >= place.x - 1 && drawn[1] - drawn[0] <= Math.max(12, wide / span), `${drawn} ${place.x}`);
    const box = await page.locator('.picture').boundingBox();
    await page.mouse.click(box.x + place.x + 1, box.y + place.y);
    await until(page, () => kymo.store.state.boxes.join(), boxes => boxes === '3001');
    await page.mouse.move(box.x + place.x, box.y + place.y);
    await until(page, () => document.querySelector('footer .cursor').textContent, text => text.startsWith('+0.00'));
    near(Number((await page.locator('footer .cursor').textContent()).split(' ')[0]) * 1e9, 3_000_000, span / wide * 1.5 + 1);
  }
  await page.evaluate(() => kymo.store.update({begin: 2_000_000n, span: 1_000_000n}));
  await settled(page);
  const count = () => page.evaluate(async () => { const {begin, span} = kymo.timeline.window(); return (await kymo.source.tile({begin, end: begin + span, pixels: 100, tracks: [kymo.model.tracks.find(track => track.name === 't 5').track]})).count.length; });
  assert.equal(await count(), 0);
  await page.evaluate(() => kymo.store.update({span: 1_000_001n}));
  assert.equal(await count(), 1);
}));
await test('D4: an event has its name beside it where there is space, and is a mark without one where rows are low', () => serving('d.cpel', async page => {
  const texts = () => page.evaluate(() => kymo.timeline.paper()), hot = svg => (svg.match(/>hot</g) ?? []).length;
  await page.evaluate(() => { kymo.store.update({begin: 2_999_000n, span: 20_000n, shape: 'events'}); kymo.timeline.reveal(kymo.model.tracks.find(track => track.name === 't 5').track); });
  await settled(page);
  assert.equal(hot(await texts()), 1);
  await page.evaluate(() => { kymo.store.update({rowHeight: 5}); kymo.timeline.scrollTo(0); });
  await settled(page);
  assert.equal(hot(await texts()), 0);
  assert.ok((await texts()).includes('<rect'));
}));
await test('D7: the axis has times that differ at any zoom, also of one nanosecond at the end of the trace', () => serving('d.cpel', async page => {
  for (const [begin, span] of [[0, 6_000_000], [5_900_000, 90_000], [5_999_000, 900], [5_999_000, 20], [5_999_000, 3]]) {
    await page.evaluate(([begin, span]) => kymo.store.update({begin: BigInt(begin), span: BigInt(span)}), [begin, span]);
    await settled(page);
    const labels = await page.evaluate(() => [...new DOMParser().parseFromString(kymo.timeline.paper(), 'image/svg+xml').querySelectorAll('svg > path + text')].map(text => text.textContent));
    assert.ok(labels.length >= 2, labels.join());
    assert.equal(new Set(labels).size, labels.length, labels.join());
  }
}));
await test('D9: many changes are one paint, and a paint is not longer than 40 ms', () => serving('d.cpel', async page => {
  const frames = () => page.evaluate(() => kymo.timeline.measures.frames), before = await frames();
  await page.evaluate(() => { for (let i = 0; i < 500; i++) kymo.store.update({rowHeight: 20 + i % 7, begin: BigInt(i * 1000), span: 100_000n, colour: i % 2 ? 'kind' : 'track'}, 'many'); });
  await settled(page);
  assert.ok(await frames() - before < 60, `${await frames() - before} paints`);
  for (const key of ['w', 's', '0', 'd', 'f', 'g', 't', 'e', 'c'])
    await press(page, key, key);
  const times = await page.evaluate(() => [...kymo.timeline.measures.drawMs].sort((a, b) => a - b));
  assert.ok(times[Math.floor(times.length / 2)] <= 40, `${times[Math.floor(times.length / 2)]} ms`);
}));

// ---- E, F ----

const LATE = 2n ** 62n;
writeCpel('e7.cpel', {tracks: ['a', 'b'], kinds: ['rx'], events: [[LATE, 0, 0, 1], [LATE + 5n, 1, 0, 2], [LATE + 6n, 0, 0, 3], [LATE + 1_000_000_007n, 1, 0, 4]]});
await test('E7: times are exact to the nanosecond, also at 2^62: moves, the ruler, the link', () => serving('e7.cpel', async (page, server) => {
  const exact = () => page.evaluate(() => { const {begin, span} = kymo.timeline.window(); return [String(begin), String(span)]; });
  await page.evaluate(begin => kymo.store.update({begin: BigInt(begin), span: 12n}), String(LATE));
  await press(page, 'd');
  assert.deepEqual(await exact(), [String(LATE + 2n), '12']);
  await page.getByRole('scrollbar', {name: 'Time window'}).focus();
  await press(page, 'ArrowRight');
  assert.deepEqual(await exact(), [String(LATE + 4n), '12']);
  await page.evaluate(late => kymo.store.update({begin: BigInt(late), span: 12n, selection: {begin: BigInt(late) + 5n, end: BigInt(late) + 6n}}), String(LATE));
  await settled(page);
  await matches(page.locator('footer'), /ruler 1 ns/);
  near((await placeOf(page, 3)).x - (await placeOf(page, 2)).x, await page.evaluate(() => kymo.timeline.width) / 12, 1e-6);
  await until(page, () => location.hash, hash => hash.includes('ruler'));
  const other = await open(server.address + '&' + new URL(page.url()).hash.slice(1));
  assert.equal(await other.evaluate(() => String(kymo.store.state.selection.begin)), String(LATE + 5n));
  await other.context().close();
}));
writeCpel('e7b.cpel', {tracks: ['a', 'b'], kinds: ['rx'], events: [...Array.from({length: 50}, (_, i) => [1000 + i * 100, i % 2, 0, i]), [2n ** 64n - 1n, 0, 0, 50]]});
await test('E7: a time that is corrupt, at the end of all times, hides no other event', () => serving('e7b.cpel', async page => {
  assert.equal(await total(page), 51);
  await press(page, 's', 'End', 'd', 'Home', 'a');
  await page.evaluate(() => kymo.store.update({begin: 0n, span: 10_000n}));
  await settled(page);
  assert.equal(await total(page), 50);
  await press(page, 'a', 'd', 'w', 's');
  await page.evaluate(() => kymo.store.update({begin: 0n, span: 2n ** 64n - 1n})); // as a link may say
  await settled(page);
  assert.equal(await total(page), 51);
}));
await test('F3: the scroll bar of the tracks reaches the first and the last one, and goes by the wheel', () => serving('d.cpel', async page => {
  const all = await names(page), bar = page.locator('.scroller'), top = () => page.evaluate(() => kymo.timeline.rows.rows.find(row => row.y + row.height > kymo.timeline.top()).track.name);
  const [most, height] = await bar.evaluate(item => [item.scrollHeight - item.clientHeight, item.scrollHeight]);
  near(height, await page.evaluate(() => kymo.timeline.rows.height), 1);
  await bar.evaluate((item, most) => { item.scrollTop = most; }, most);
  await page.getByText(all[all.length - 1], {exact: true}).first().waitFor();
  await bar.evaluate(item => { item.scrollTop = 0; });
  await until(page, () => kymo.timeline.top(), value => value === 0);
  assert.equal(await top(), all[0]);
}));

// ---- G, H: one event of many ----

await test('G1: a click takes the event that is nearest, not the first one in time', () => serving('d.cpel', async page => {
  await page.evaluate(() => { kymo.store.update({begin: 2_000_000n, span: 400_000n}); kymo.timeline.reveal(kymo.model.tracks.find(track => track.name === 't 20').track); });
  await settled(page);
  const track = await page.evaluate(() => kymo.model.tracks.find(track => track.name === 't 20').track), list = await page.evaluate(async track => { const found = []; let {number} = await kymo.source.nearest(track, 2_000_000n); for (let i = 0; i < 4; i++) { found.push(number); number = (await kymo.source.search({number, back: false, track})).mark.number; } return found; }, track);
  const [one, two] = [await placeOf(page, list[1]), await placeOf(page, list[2])];
  for (const [x, wanted] of [[one.x + Math.min(4, (two.x - one.x) * 0.3), list[1]], [two.x - Math.min(4, (two.x - one.x) * 0.3), list[2]]]) {
    await page.evaluate(() => kymo.store.update({boxes: [], event: null}));
    await page.mouse.click(x, one.y);
    await until(page, () => kymo.store.state.event, event => event === wanted);
  }
}));
await test('H1: a search finds the code 0, by its name and as a text', () => serving('c8.cpel', async page => {
  for (const [mode, text, wanted] of [['name', 'state', 1], ['text', 'port', 2], ['filter', 'EVENT = "state"', 1]]) {
    await page.evaluate(() => kymo.store.update({found: null, filter: ''}, null));
    await page.getByLabel('How the text is searched').selectOption(mode);
    await page.getByLabel('Search or filter').fill(text);
    await page.keyboard.press('Enter');
    await until(page, () => kymo.model.filter?.state, state => state === 'done');
    await page.getByLabel('Next match', {exact: true}).click();
    await until(page, () => kymo.store.state.found, found => found === wanted);
  }
}));

// ---- I: chase by the datum of an elog ----

await test('I1: the datum of an elog is its first argument, or the field that is chosen', () => serving('c8.clib', async page => {
  await page.evaluate(() => kymo.store.update({event: 4}));
  await press(page, 'J');
  await until(page, () => document.querySelector('footer .said').textContent, text => /^Tracks are ordered by their next arg0 = 3/.test(text));
  assert.deepEqual(await names(page), ['clib two', 'clib one']);
  await page.evaluate(() => kymo.store.update({order: [], field: 'arg0', event: 5}));
  await press(page, 'J');
  await until(page, () => document.querySelector('footer .said').textContent, text => /next arg0 = 4/.test(text));
  assert.deepEqual(await names(page), ['clib one', 'clib two']);
}));

// ---- J: anomalies ----

const values = [...Array(9).fill(10), 100];
writeCpel('j.cpel', {tracks: ['one', 'two', 'none'], kinds: ['rx', 'tx'], events: [...values.map((value, i) => [i * 1000, 0, 0, value]), ...Array.from({length: 10}, (_, i) => [20_000 + i * 1000, 1, 0, i === 4 ? 1 : 50]), [40_000, 2, 1, 5], [41_000, 0, 1, 5]]});
const anomalies = async (page, {kind = 'rx', threshold = '', side = 'high'} = {}) => {
  const panel = await tab(page, /Anomaly/);
  await panel.getByLabel('Kind of event').selectOption(kind);
  await panel.getByLabel('Numeric field').selectOption('datum');
  await panel.getByLabel('Sides').selectOption(side);
  await panel.getByLabel('Threshold').fill(threshold || '2.5');
  await panel.getByLabel('Threshold').press('Tab');
  return panel;
};
const rows = async (page, done) => Object.fromEntries(await until(page, () => [...document.querySelectorAll('#panel-anomaly tbody tr')].map(row => [row.children[0].textContent, [...row.children].slice(1).map(cell => cell.textContent)]), list => done(Object.fromEntries(list))));
await test('J1, J3, J5: the statistics of each track are those of g2, in a table; the threshold is above 0 and at most 10', () => serving('j.cpel', async page => {
  await anomalies(page);
  let found = await rows(page, list => list.one?.[6] === '1');
  assert.deepEqual(found.one, ['10', '10', '100', '19', '27', '86.5', '1']);
  assert.equal(found.two[6], '0');
  assert.equal(found.none, undefined);
  await anomalies(page, {threshold: '3'});
  found = await rows(page, list => list.one?.[5] === '100'); // strict: 100 is not above 100
  assert.equal(found.one[6], '0');
  for (const wrong of ['0', '-1', '10.1']) {
    const panel = await anomalies(page, {threshold: wrong});
    await panel.getByText('The threshold is above 0 and at most 10.').waitFor();
  }
}));
await test('J1: values below the mean are found too, on one side or both, of any kind', () => serving('j.cpel', async page => {
  await anomalies(page, {side: 'low'});
  assert.deepEqual((await rows(page, list => list.two?.[6] === '1')).one[6], '0');
  await anomalies(page, {side: 'both'});
  await rows(page, list => list.one?.[6] === '1' && list.two?.[6] === '1');
  await anomalies(page, {kind: '', side: 'both'});
  await rows(page, list => list.none?.[0] === '1' && list.one?.[0] === '11');
}));
await test('J2, J4: next and previous go to them in both directions, around the end, and show them', () => serving('j.cpel', async page => {
  const panel = await anomalies(page, {side: 'both'});
  await rows(page, list => list.one?.[6] === '1' && list.two?.[6] === '1');
  await page.evaluate(() => kymo.store.update({begin: 30_000n, span: 5000n, found: null, event: null}, null));
  for (const [button, wanted] of [['Next', 10], ['Next', 15], ['Next', 10], ['Previous', 15], ['Previous', 10]]) {
    await panel.getByRole('button', {name: button, exact: true}).click();
    await until(page, () => kymo.store.state.found, found => found === wanted);
    const {begin, span} = await view(page), time = wanted === 10 ? 9000 : 24_000;
    assert.ok(begin <= time && begin + span > time);
  }
  await says(page, /Anomaly: rx on one, event 10/);
}));
await test('J6: after a chase and pushes the statistics are still of their tracks', () => serving('j.cpel', async page => {
  await anomalies(page);
  const before = await rows(page, list => list.one?.[6] === '1');
  await page.evaluate(() => { kymo.store.update({event: 12}); kymo.run('chase-event'); });
  await until(page, () => document.querySelector('footer .said').textContent, text => /^Tracks are ordered/.test(text));
  assert.equal((await names(page))[0], 'two');
  await page.evaluate(() => kymo.store.update({order: [2, 1, 0]}));
  await settled(page);
  assert.deepEqual(await rows(page, list => list.one), before);
}));

// ---- K, L ----

await test('K1: a snapshot keeps details, filter, kinds, ruler, marks, colours and shape too', () => serving('d.cpel', async page => {
  const state = {boxes: [5, 9], filter: 'datum < 3000', hides: true, kindsOff: ['tx'], selected: [3], hidden: [4], colour: 'track', shape: 'events', field: 'datum'};
  await page.evaluate(state => kymo.store.update({...state, selection: {begin: 5n, end: 500n}, markA: 7n, slew: new Map([[2, 77n]])}), state);
  await press(page, 'x');
  await page.evaluate(() => kymo.store.update({boxes: [], filter: '', hides: false, kindsOff: [], selected: [], hidden: [], colour: 'kind', shape: 'summary', field: '', selection: null, markA: null, slew: new Map()}));
  await press(page, 'z');
  const now = await page.evaluate(() => { const {boxes, filter, hides, kindsOff, selected, hidden, colour, shape, field, selection, markA, slew} = kymo.store.state; return [{boxes, filter, hides, kindsOff, selected, hidden, colour, shape, field}, Number(selection.end), Number(markA), [...slew].map(([track, ns]) => [track, Number(ns)])]; });
  assert.deepEqual(now, [state, 500, 7, [[2, 77]]]);
}));
await test('K4, K5: snapshots of another file open: tracks are found by name, those that are not there are named in the status line', async () => {
  let text = '';
  await serving('d.cpel', async page => {
    await page.evaluate(() => { const of = name => kymo.model.tracks.find(track => track.name === name).track; kymo.store.update({order: [of('t 30'), of('t 7')], selected: [of('t 9'), of('t 7')]}); });
    await press(page, 'x');
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('p')]);
    await download.saveAs('k.json');
    text = JSON.parse((await import('node:fs')).readFileSync('k.json', 'utf8')).kymo;
  });
  assert.equal(text, 'snapshots');
  writeCpel('k.cpel', {tracks: ['t 7', 't 30', 'other'], kinds: ['rx'], events: some(9).map(([time, track]) => [time, track, 0, 1])});
  await serving('k.cpel', async page => {
    page.on('filechooser', chooser => chooser.setFiles('k.json'));
    await press(page, 'w', '0', 'f', 'r'); // until the browser knows that somebody listens
    await page.keyboard.press('l');
    await until(page, () => document.querySelector('footer .said').textContent, text => /Read 1 snapshot; 1 track of them are not here/.test(text));
    await press(page, 'z');
    assert.deepEqual([(await names(page)).slice(0, 2), await page.evaluate(() => kymo.store.state.selected.map(track => kymo.model.trackName(track)))], [['t 30', 't 7'], ['t 7']]);
  });
});
await test('K4: snapshots have names, and are in the link', () => serving('d.cpel', async (page, server) => {
  await press(page, 'w', 'x', 'w', 'x');
  await page.evaluate(() => kymo.run('name-snapshot'));
  await page.getByRole('dialog').getByLabel('Name').fill('a,b:c & <b>d</b> %');
  await page.keyboard.press('Enter');
  const {span} = await view(page), list = await page.evaluate(() => kymo.snapshots.list);
  await until(page, () => location.hash, hash => hash.includes('snaps=a%2Cb'));
  const other = await open(server.address + '&' + new URL(page.url()).hash.slice(1));
  assert.deepEqual(await other.evaluate(() => kymo.snapshots.list), list);
  await press(other, '0', 'z');
  assert.equal((await view(other)).span, span);
  await says(other, /Snapshot 1 of 2: a,b:c & <b>d<\/b> %/);
  await other.goto(server.address + '&snaps=%,a,:,a:%zz,b:t=5');
  await other.reload();
  await settled(other);
  assert.deepEqual(other.errors, []);
  await other.context().close();
}));
await test('K6: a snapshot is gone to after the threshold of anomalies has changed', () => serving('j.cpel', async page => {
  await anomalies(page);
  await rows(page, list => list.one?.[6] === '1');
  await page.evaluate(() => kymo.run('snapshot'));
  await anomalies(page, {threshold: '3'});
  await rows(page, list => list.one?.[6] === '0');
  await page.evaluate(() => kymo.run('next-snapshot'));
  await settled(page);
  assert.equal((await rows(page, list => list.one)).one[6], '0');
}));
/** Colours and values of the legend, and the colour of each event on the screen. */
const coloured = page => page.evaluate(async () => {
  const canvas = document.querySelector('.picture canvas'), {rows} = kymo.timeline.rows, colourOf = text => text.match(/\d+/g).join();
  const steps = [...document.querySelectorAll('.legend .step')].map(step => { const [from, to = from] = step.textContent.split(' – ').map(Number); return {from, to, colour: colourOf(step.querySelector('.patch').style.backgroundColor)}; });
  const {kinds} = kymo.model, events = [];
  for (let number = 1; number <= kymo.model.server.events; number++) {
    const event = await kymo.source.event(number), {x} = kymo.timeline.place(event), row = rows.find(item => item.track?.track === event.track);
    const [red, green, blue] = canvas.getContext('2d').getImageData(Math.floor(x), Math.round(row.y - kymo.timeline.top() + row.strip) - 4, 1, 1).data;
    events.push({colour: [red, green, blue].join(), datum: event.fields.find(field => field.path === 'datum')?.text, kind: kinds[event.kind].name});
  }
  return {steps, events};
});
writeCpel('l4.cpel', {tracks: ['a', 'b'], kinds: ['rx', 'tx'], events: Array.from({length: 40}, (_, i) => [i * 1000, i % 2, i % 3 && 1, i])});
await test('L2: events have the colours of their values of a field, which a legend explains; the choice is in the URL, and follows the filter', () => serving('l4.cpel', async (page, server) => {
  await press(page, 'C');
  await page.getByLabel('Field of the colours', {exact: true}).selectOption('datum');
  await press(page, 'Enter');
  const expect = async (most, isShown) => {
    const {steps, events} = await coloured(page), valued = steps.slice(0, -1);
    assert.deepEqual([valued.length, valued[0].from, valued[valued.length - 1].to, new Set(valued.map(step => step.colour)).size], [6, 0, most, 6]);
    for (const {colour, datum} of events.filter(isShown))
      assert.equal(colour, valued.find(({from, to}) => from <= Number(datum) && Number(datum) <= to).colour, datum);
    for (const {colour, datum} of events.filter(event => !isShown(event)))
      assert.ok(!valued.some(step => step.colour === colour), datum);
  };
  await expect(39, () => true);
  await matches(page.getByRole('group', {name: 'Colours: datum'}), /^datum.*no value/);
  await until(page, () => location.hash, hash => /colour=field&by=datum/.test(hash));
  const shot = one => one.evaluate(() => document.querySelector('.picture canvas').toDataURL()), other = await open(server.address + '&' + new URL(page.url()).hash.slice(1));
  assert.equal(await shot(other), await shot(page));
  await other.context().close();
  const texts = () => page.evaluate(() => [...new DOMParser().parseFromString(kymo.timeline.paper(), 'image/svg+xml').querySelectorAll('text')].map(text => text.textContent));
  await page.evaluate(() => kymo.store.update({shape: 'events', begin: 0n, span: 8_000n}));
  await settled(page);
  for (const name of ['rx 3', 'tx 4', '0 – 6', 'no value'])
    assert.ok((await texts()).includes(name), name);
  await page.evaluate(() => kymo.store.update({shape: 'summary', begin: 0n, span: 0n, filter: 'datum < 24'}));
  await settled(page);
  await expect(23, event => Number(event.datum) < 24);
  await page.evaluate(() => kymo.store.update({filter: '', selected: kymo.model.tracks.filter(track => track.name === 'a').map(track => track.track)}));
  await settled(page);
  const {events} = await coloured(page);
  assert.equal(new Set(events.filter((_, i) => i % 2 === 0).map(event => event.colour)).size, 1); // a selected track is red, as in every mode
  await press(page, 'c', 'c');
  await becomes(() => page.locator('.legend').isVisible(), false);
  await press(page, 'c', 'c');
  await becomes(() => page.locator('.legend').isVisible(), true);
  await page.getByRole('button', {name: 'Change the field of the colours'}).click();
  await page.getByLabel('Field of the colours', {exact: true}).selectOption('');
  await press(page, 'Enter');
  assert.deepEqual(await page.evaluate(() => [kymo.store.state.colour, document.querySelector('.legend').hidden]), ['kind', true]);
}));
await test('L3: a name has the same colour in every file and place; the first track is not special', async () => {
  writeCpel('l1.cpel', {tracks: ['first', 'second', 'third'], kinds: ['rx', 'tx'], events: some(30)});
  writeCpel('l2.cpel', {tracks: ['x', 'third', 'y', 'second', 'first'], kinds: ['other', 'tx', 'rx'], events: some(30).map(([time, track, kind]) => [time, track + 1, kind + 1, 1])});
  const colours = [];
  for (const file of ['l1.cpel', 'l2.cpel'])
    await serving(file, async page => {
      const panel = await tab(page, /Kinds/);
      await panel.locator('tbody tr .swatch').first().waitFor();
      colours.push(await panel.locator('tbody tr').evaluateAll(rows => Object.fromEntries(rows.map(row => [row.querySelector('label').textContent.trim(), row.querySelector('.swatch').style.background]))));
      await page.evaluate(() => kymo.store.update({colour: 'track', shape: 'events', begin: 0n, span: 30_000n}));
      await settled(page);
      const svg = await page.evaluate(() => kymo.timeline.paper());
      colours[colours.length - 1].tracks = await page.evaluate(() => kymo.model.tracks.map(track => track.name));
      assert.ok(svg.includes('<rect'));
    });
  assert.deepEqual([colours[0].rx, colours[0].tx], [colours[1].rx, colours[1].tx]);
  assert.notEqual(colours[0].rx, colours[0].tx);
});

// ---- R: what g2 has not ----

writeCpel('r.cpel', {tracks: ['one', 'two'], kinds: ['work_begin', 'work_end', 'tick'], events: Array.from({length: 300}, (_, i) => [i * 1000 + (i % 3 === 1 ? 7 * i : 0), i % 2, i % 3, i])});
await test('R: durations of begins and ends, and statistics of what is selected', () => serving('r.cpel', async page => {
  await page.evaluate(() => kymo.store.update({latencyFrom: 'work_begin', latencyTo: 'work_end', tab: 'latency'}, null));
  const wanted = command('stat', 'latency', '--from', 'work_begin', '--to', 'work_end', '--json', 'r.cpel').split('\n').filter(Boolean).map(line => JSON.parse(line)).find(line => line.track === null).count;
  await until(page, () => Number(document.querySelector('#panel-latency [data-name="count"]')?.dataset.value), count => count === wanted);
  await page.evaluate(() => kymo.store.update({selection: {begin: 50_000n, end: 150_000n}, tab: 'selection'}));
  const inside = lines('r.cpel').filter(line => line.ts >= 50_000 && line.ts < 150_000).length;
  await until(page, () => Number(/: ([\d\u202f]+) events/.exec(document.querySelector('.selection-what')?.textContent ?? '')?.[1].replace(/\D/g, '')), count => count === inside);
}));
await test('Q: what perftool does of a CPEL file, kymo cat, stat and convert do', () => {
  assert.match(command('cat', '--format', 'cpeldump', 'r.cpel').split('\n').find(line => /tick/.test(line)), /^\d{3}:\d\d:\d\d:\d{3}:\d{3} /);
  for (const args of [['stat', 'latency', '--from', 'work_begin', '--to', 'work_end', '--scatter'], ['stat', 'state', '--event', 'tick'], ['stat', 'regression', '--from', 'work_begin', '--to', 'work_end'], ['info']])
    assert.ok(command(...args, 'r.cpel').length > 0, args.join(' '));
  command('convert', 'c8.clib', '--output', 'c8-converted.cpel');
  assert.equal(lines('c8-converted.cpel').length, lines('c8.clib').length);
});
await end();
