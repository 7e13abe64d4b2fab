// SPDX-License-Identifier: MIT
// The timeline on a CPEL file: a case for each function of g2 (the letters are those of its checklist: D screen, E time,
// F tracks, G events, H search, I chase, K snapshots, L modes, M slew, N status, P print).
import {spawnSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {inflateSync} from 'node:zlib';
import {KYMO, Server, assert, axe, becomes, end, inked, kymo, matches, names, open, placeOf, press, random, says, settled, test, until, view, writeCpel} from '../viewer/harness.mjs';

const TRACKS = 40, KINDS = ['rx', 'tx', 'state', 'hot'], rng = random(7), events = [];
for (let i = 0; i < 4000; i++)
  events.push([i * 25_000 + rng(20_000), Math.min(rng(TRACKS), rng(TRACKS)), rng(3), rng(50)]);
events[1234] = [1234 * 25_000, 5, 3, 7]; // the only one that is hot, …
events[1300] = [1300 * 25_000, 30, 0, 49]; // … and some that are known
events[3999] = [3999 * 25_000 + 20_000, 2, 1, 49];
events[0] = [0, 2, 0, 49];
writeCpel('g2.cpel', {tracks: Array.from({length: TRACKS}, (_, i) => `worker ${i}`), kinds: KINDS, events});
const LAST = events[3999][0];

const server = await Server.start(['g2.cpel']), page = await open(server.address);
const near = (a, b, by) => assert.ok(Math.abs(a - b) <= by, `${a} is not within ${by} of ${b}`);
const end_ = window => window.begin + window.span;
const fresh = async () => {
  await page.evaluate(() => {
    const {store} = kymo;
    store.update({begin: 0n, span: 0n, scroll: 0, rowHeight: 25, order: [], hidden: [], pinned: [], selected: [], collapsed: [], slew: new Map(), filter: '', hides: false, kindsOff: [], colour: 'kind', colourField: '', shape: 'summary',
      field: '', boxes: [], selection: null, markA: null, markB: null, focus: null, event: null, found: null, back: false, clock: 'relative', tab: 'about'});
    document.activeElement?.blur();
  });
  await settled(page);
};
/** The name of a track at the left; the number of a track by its name. */
const number = name => page.evaluate(name => kymo.model.tracks.find(track => track.name === name).track, name);
const label = async name => page.locator(`#row-${await number(name)}`);
const picture = () => page.locator('.picture').boundingBox();
const g2 = (row, what, work) => test(`${row}: ${what}`, async () => { await fresh(); await work(); assert.deepEqual(page.errors, []); });

// ---- C, D: the screen ----

await g2('C13', 'the whole trace is seen at first, with a margin', async () => {
  const window = await view(page);
  assert.ok(window.begin < 0 && end_(window) > LAST && window.span < LAST * 1.2);
});
await g2('C6, C7', 'tracks have the names of the file, in the order of their numbers, and the names fit', async () => {
  assert.equal((await names(page)).length, TRACKS);
  const cut = await page.evaluate(() => [...document.querySelectorAll('.label .name')].some(name => name.scrollWidth > name.clientWidth));
  assert.ok(!cut);
});
await g2('A10', 'the title of the document names the file', async () => assert.match(await page.title(), /g2\.cpel/));
await g2('D1', 'labels do not overlap at any height', async () => {
  for (const height of [1, 5, 9, 25]) {
    await page.evaluate(rowHeight => kymo.store.update({rowHeight}), height);
    await settled(page);
    const isOver = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll('.label')].filter(label => label.querySelector('.name').textContent.trim()).map(label => label.getBoundingClientRect()).sort((a, b) => a.top - b.top);
      return boxes.some((box, i) => i && box.top < boxes[i - 1].bottom - 0.5);
    });
    assert.ok(!isOver, `at ${height}`);
  }
});
await g2('D3, D8', 'an event is drawn where its time is', async () => {
  await page.evaluate(() => kymo.store.update({begin: 30_000_000n, span: 2_000_000n}));
  await settled(page);
  const number = await page.evaluate(async () => (await kymo.source.search({number: 0, back: false, kind: kymo.model.kinds.findIndex(kind => kind.name === 'hot')})).mark.number);
  const at = await page.evaluate(async number => {
    const event = await kymo.source.event(number), {x, y} = kymo.timeline.place(event), canvas = document.querySelector('.picture canvas');
    kymo.timeline.reveal(event.track);
    const column = canvas.getContext('2d').getImageData(Math.floor(x), Math.round(y), 1, 8).data, back = canvas.getContext('2d').getImageData(Math.floor(x) - 2, Math.round(y), 1, 8).data;
    return {column: [...column], back: [...back], x};
  }, number);
  assert.notDeepEqual(at.column.slice(-4, -1), [255, 255, 255]);
});
await g2('D5', 'counts are exact: the numbers beside the names sum up to all events', async () => {
  const sum = await page.evaluate(async () => {
    const {begin, span} = kymo.timeline.window(), picture = await kymo.source.tile({begin, end: begin + span, pixels: 500, tracks: kymo.model.tracks.map(track => track.track)});
    return picture.count.reduce((a, b) => a + b, 0);
  });
  assert.equal(sum, 4000);
  const shown = await page.evaluate(() => document.querySelector('.label .events').textContent), first = await page.evaluate(() => kymo.model.tracks[0].events);
  assert.equal(shown, String(first));
});
await g2('D6', 'details are never off the window', async () => {
  const numbers = await page.evaluate(() => [1, 2, 3, 3990, 3999]);
  await page.evaluate(boxes => kymo.store.update({boxes}), numbers);
  await settled(page);
  const bounds = await picture();
  for (const box of await page.locator('.box:visible').all()) {
    const {x, y, width, height} = await box.boundingBox();
    assert.ok(x >= bounds.x - 1 && y >= bounds.y - 1 && x + width <= bounds.x + bounds.width + 1 && y + height <= bounds.y + bounds.height + 1);
  }
});
await g2('D7', 'the axis has the unit of what is seen: seconds, down to nanoseconds, relative, absolute', async () => {
  await matches(page.locator('.corner'), /from the begin/);
  await press(page, '.');
  await matches(page.locator('.corner'), /clock/);
  await press(page, '.');
  await matches(page.locator('.corner'), /from the begin/);
});
await g2('D10', 'another size of the window keeps the time, and shows more tracks', async () => {
  await press(page, 'w');
  const before = await view(page), rows = () => page.locator('.label').count(), few = await rows();
  await page.setViewportSize({width: 1000, height: 1100});
  await until(page, () => document.querySelectorAll('.label').length, count => count > few);
  assert.deepEqual((await view(page)).span, before.span);
  await page.setViewportSize({width: 1200, height: 800});
  await settled(page);
});

// ---- E: time ----

await g2('E1', 'w makes the window two thirds and keeps its centre', async () => {
  const before = await view(page);
  await press(page, 'w');
  const after = await view(page);
  near(after.span, before.span * 2 / 3, 2);
  near(after.begin + after.span / 2, before.begin + before.span / 2, 200);
  for (let i = 0; i < 60; i++)
    await page.keyboard.press('w');
  await settled(page);
  assert.equal((await view(page)).span, 1);
});
await g2('E1', 'Ctrl and the wheel zoom at the pointer', async () => {
  const bounds = await picture(), before = await view(page), part = 0.25, at = before.begin + before.span * part;
  await page.mouse.move(bounds.x + bounds.width * part, bounds.y + 50);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -400);
  await page.keyboard.up('Control');
  await until(page, () => Number(kymo.timeline.window().span), span => span < before.span);
  await settled(page);
  const after = await view(page);
  near(after.begin + after.span * part, at, before.span / 500);
});
await g2('E2', 's makes it four thirds, never beyond the whole', async () => {
  await page.evaluate(() => kymo.store.update({begin: 50_000_000n, span: 600n}));
  await press(page, 's');
  assert.equal((await view(page)).span, 800);
  for (let i = 0; i < 60; i++)
    await page.keyboard.press('s');
  await settled(page);
  const window = await view(page);
  assert.ok(window.begin < 0 && end_(window) > LAST && window.span < LAST * 1.2);
});
await g2('E3', 'a moves left by a sixth, to the start', async () => {
  await page.evaluate(() => kymo.store.update({begin: 50_000_000n, span: 6_000_000n}));
  await press(page, 'a');
  assert.equal((await view(page)).begin, 49_000_000);
  for (let i = 0; i < 80; i++)
    await page.keyboard.press('a');
  await settled(page);
  const window = await view(page);
  assert.ok(window.begin <= 0 && end_(window) > 0);
});
await g2('E4', 'd moves right, reaches the last event, and never moves back', async () => {
  await page.evaluate(() => kymo.store.update({begin: 50_000_000n, span: 6_000_000n}));
  await press(page, 'd');
  assert.equal((await view(page)).begin, 51_000_000);
  let last = 0;
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('d');
    const {begin} = await view(page);
    assert.ok(begin >= last);
    last = begin;
  }
  assert.ok(end_(await view(page)) > LAST);
});
await g2('E5, E6', 'Home and End go to the ends and keep the width', async () => {
  await page.evaluate(() => kymo.store.update({begin: 50_000_000n, span: 3_200_000n}));
  await press(page, 'End');
  let window = await view(page);
  assert.ok(window.span === 3_200_000 && window.begin < LAST && end_(window) > LAST);
  await press(page, 'Home');
  window = await view(page);
  assert.ok(window.span === 3_200_000 && window.begin <= 0 && end_(window) > 0);
});
await g2('E7', 'the strip above is the scroll bar: keys, a click, a drag', async () => {
  await page.evaluate(() => kymo.store.update({begin: 50_000_000n, span: 6_000_000n}));
  await settled(page);
  const bar = page.getByRole('scrollbar', {name: 'Time window'});
  await bar.focus();
  await press(page, 'ArrowRight');
  assert.equal((await view(page)).begin, 51_000_000);
  await press(page, 'PageDown');
  assert.equal((await view(page)).begin, 53_000_000);
  assert.match(await bar.getAttribute('aria-valuetext'), /to/);
  const {x, y, width, height} = await bar.boundingBox();
  await page.mouse.click(x + width * 0.2, y + height / 2);
  near((await view(page)).begin + 3_000_000, LAST * 0.2, LAST * 0.05);
  await page.mouse.move(x + width * 0.2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.6, y + height / 2, {steps: 4});
  await page.mouse.up();
  near((await view(page)).begin + 3_000_000, LAST * 0.6, LAST * 0.05);
});
await g2('E8', 'a drag zooms to the interval in either direction; Escape cancels; Backspace goes back', async () => {
  const bounds = await picture(), before = await view(page), drag = async (from, to, cancel) => {
    await page.mouse.move(bounds.x + bounds.width * from, bounds.y + 60);
    await page.mouse.down();
    await page.mouse.move(bounds.x + bounds.width * to, bounds.y + 70, {steps: 5});
    if (cancel)
      await page.keyboard.press('Escape');
    await page.mouse.up();
    await settled(page);
  };
  await drag(0.3, 0.5, true);
  assert.deepEqual(await view(page), before);
  for (const [from, to] of [[0.3, 0.5], [0.5, 0.3]]) {
    await drag(from, to, false);
    const after = await view(page);
    near(after.begin, before.begin + before.span * 0.3, before.span / 300);
    near(after.span, before.span * 0.2, before.span / 300);
    await press(page, 'Backspace');
    assert.equal((await view(page)).span, before.span);
  }
  await press(page, 'Shift+Backspace');
  near((await view(page)).span, before.span * 0.2, before.span / 300);
});
await g2('E8', 'a move of less than ten places is a click', async () => {
  const bounds = await picture(), before = await view(page);
  await page.mouse.move(bounds.x + 300, bounds.y + 60);
  await page.mouse.down();
  await page.mouse.move(bounds.x + 308, bounds.y + 60);
  await page.mouse.up();
  await settled(page);
  assert.equal((await view(page)).span, before.span);
});
await g2('E9', 'the right button measures: the ruler snaps to events and stays until Escape', async () => {
  await page.evaluate(() => kymo.store.update({begin: 32_000_000n, span: 1_000_000n, scroll: 0}));
  await page.evaluate(() => kymo.timeline.reveal(kymo.model.tracks.find(track => track.name === 'worker 30').track));
  await settled(page);
  const a = await placeOf(page, 1301);
  await page.mouse.move(a.x + 3, a.y);
  await page.mouse.down({button: 'right'});
  await page.mouse.move(a.x + 200, a.y, {steps: 5});
  await page.mouse.up({button: 'right'});
  const selection = () => page.evaluate(() => kymo.store.state.selection && [Number(kymo.store.state.selection.begin), Number(kymo.store.state.selection.end)]);
  await until(page, () => Number(kymo.store.state.selection?.begin), begin => begin === events[1300][0]);
  await matches(page.locator('footer'), /ruler \d/);
  await press(page, 'w', 's');
  assert.equal((await selection())[0], events[1300][0]);
  const [from, to] = await selection();
  await press(page, 'Z');
  const window = await view(page);
  assert.deepEqual([window.begin, window.span], [from, to - from]);
  await press(page, 'Escape');
  assert.equal(await selection(), null);
});
await g2('E9', 'a drag on the axis measures too', async () => {
  const {x, y, width} = await page.locator('.axis').boundingBox(), window = await view(page);
  await page.mouse.move(x + width * 0.2, y + 10);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.4, y + 10, {steps: 4});
  await page.mouse.up();
  const [from, to] = await page.evaluate(() => [Number(kymo.store.state.selection.begin), Number(kymo.store.state.selection.end)]);
  near(from, window.begin + window.span * 0.2, window.span / 300);
  near(to - from, window.span * 0.2, window.span / 300);
});
await g2('E', 'G goes to a time', async () => {
  await press(page, 'w', 'w', 'w', 'G');
  await page.keyboard.type('+20 ms');
  await press(page, 'Enter');
  const window = await view(page);
  near(window.begin + window.span / 2, 20_000_000, window.span / 100);
});

// ---- F: tracks ----

const topTrack = () => page.evaluate(() => kymo.timeline.rows.rows.find(row => row.y + row.height > kymo.timeline.top())?.track.name);

await g2('F1', 'r and f scroll by a track, R and F by ten, to both ends', async () => {
  const all = await names(page);
  await press(page, 'f', 'f');
  assert.equal(await topTrack(), all[2]);
  await press(page, 'F');
  assert.equal(await topTrack(), all[12]);
  await press(page, 'r');
  assert.equal(await topTrack(), all[11]);
  await press(page, 'R');
  assert.equal(await topTrack(), all[1]);
  await press(page, 'R', 'r');
  assert.equal(await topTrack(), all[0]);
});
await g2('F1', 'the wheel scrolls, with Shift by ten tracks', async () => {
  const bounds = await picture(), all = await names(page);
  await page.mouse.move(bounds.x + 200, bounds.y + 100);
  await page.mouse.wheel(0, 100);
  await until(page, () => kymo.timeline.top(), top => top > 0);
  await page.evaluate(() => kymo.timeline.scrollTo(0));
  await page.keyboard.down('Shift');
  await page.mouse.wheel(0, 100);
  await page.keyboard.up('Shift');
  await until(page, () => kymo.timeline.top(), top => top > 200);
  assert.equal(await topTrack(), all[10]);
});
await g2('F2', 'Ctrl+End and Ctrl+Home go to the last and the first track', async () => {
  const all = await names(page);
  await press(page, 'Control+End');
  await becomes(() => page.getByText(all[TRACKS - 1], {exact: true}).first().isVisible(), true);
  await press(page, 'Control+Home');
  assert.equal(await topTrack(), all[0]);
});
await g2('F4', 'g shows more tracks, t fewer, and the first track that is seen stays', async () => {
  await press(page, 'F', 'f');
  const first = await topTrack();
  await press(page, 'g', 'g', 'g');
  assert.deepEqual([(await view(page)).rowHeight, await topTrack()], [22, first]);
  await press(page, 't', 't', 't', 't');
  assert.deepEqual([(await view(page)).rowHeight, await topTrack()], [26, first]);
  await page.evaluate(() => kymo.store.update({rowHeight: 1}));
  await press(page, 'g');
  assert.equal((await view(page)).rowHeight, 1);
  await page.evaluate(() => kymo.store.update({rowHeight: 80}));
  await press(page, 't');
  assert.equal((await view(page)).rowHeight, 80);
});
await g2('F5, F6', 'Ctrl+click puts a track last, Shift+click first; others keep their order', async () => {
  const all = await names(page);
  const click = async (name, key) => {
    const box = await (await label(name)).boundingBox();
    await page.keyboard.down(key);
    await page.mouse.click(box.x + 20, box.y + box.height / 2);
    await page.keyboard.up(key);
    await settled(page);
  };
  await click(all[3], 'Shift');
  const first = [all[3], ...all.filter(name => name !== all[3])];
  assert.deepEqual(await names(page), first);
  await click(all[1], 'Control');
  assert.deepEqual(await names(page), [...first.filter(name => name !== all[1]), all[1]]);
  await press(page, 'O');
  assert.deepEqual(await names(page), all);
});
await g2('F5, F6', 'a drag of the name moves a track, and keys do', async () => {
  const all = await names(page), box = async name => (await label(name)).boundingBox();
  const from = await box(all[1]), to = await box(all[5]);
  await page.mouse.move(from.x + 20, from.y + 12);
  await page.mouse.down();
  await page.mouse.move(to.x + 20, to.y + to.height - 3, {steps: 6});
  await page.mouse.up();
  await settled(page);
  assert.deepEqual((await names(page)).slice(0, 7), [all[0], all[2], all[3], all[4], all[5], all[1], all[6]]);
  await press(page, 'O', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'Alt+ArrowUp');
  const focus = await page.evaluate(() => kymo.model.tracks[kymo.store.state.focus].name), at = (await names(page)).indexOf(focus);
  await press(page, '>');
  assert.equal((await names(page))[TRACKS - 1], focus);
  await press(page, '<');
  assert.equal((await names(page))[0], focus);
  assert.ok(at >= 0);
});
await g2('F7', 'a click on a name selects a track, several at once; they are red and say so', async () => {
  const all = await names(page);
  for (const name of [all[1], all[4]])
    await (await label(name)).click();
  await settled(page);
  assert.equal((await view(page)).selected.length, 2);
  await becomes(() => page.locator('.label[aria-selected="true"]').count(), 2);
  const {colours} = await inked(page, all[1]), red = colours.filter(colour => { const [r, g, b] = colour.split(',').map(Number); return r > g + 40 && r > b + 40; });
  assert.ok(red.length > 0 && red.length >= colours.length - 2, colours.join(' '));
  await press(page, ' ');
  assert.equal((await view(page)).selected.length, 1);
});
await g2('F8', 'the order is by number, by name, or by activity', async () => {
  const all = await names(page);
  await page.evaluate(() => kymo.run('order-name'));
  await settled(page);
  assert.deepEqual(await names(page), [...all].sort((a, b) => a.localeCompare(b, 'en', {numeric: true})));
  await press(page, 'A');
  await until(page, () => document.querySelector('footer .said').textContent, text => /by their events/.test(text));
  const counts = await page.evaluate(() => kymo.timeline.rows.rows.map(row => row.track.events));
  assert.deepEqual(counts, [...counts].sort((a, b) => b - a));
  await page.evaluate(() => kymo.run('order-value'));
  assert.deepEqual(await names(page), all);
});
await g2('F9', 'h hides a track, H shows all', async () => {
  const all = await names(page);
  await press(page, 'ArrowDown', 'h');
  assert.deepEqual(await names(page), all.slice(1));
  await press(page, 'H');
  assert.deepEqual(await names(page), all);
});
await g2('F', 'P pins a track above the others', async () => {
  const all = await names(page);
  await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown', 'P');
  assert.equal((await names(page))[0], all[2]);
});

// ---- G: events ----

await g2('G1', 'a click on an event opens its details, the nearest one; several stay; a second click closes', async () => {
  await page.evaluate(() => { kymo.store.update({begin: 30_800_000n, span: 100_000n, rowHeight: 9}); kymo.timeline.reveal(kymo.model.tracks.find(track => track.name === 'worker 5').track); });
  await settled(page);
  const at = await placeOf(page, 1235);
  await page.mouse.click(at.x + 2, at.y);
  await until(page, () => kymo.store.state.boxes.length, length => length === 1);
  await settled(page);
  const box = page.locator('.box:visible');
  await matches(box, /hot/);
  await matches(box, /7/);
  assert.equal((await view(page)).event, 1235);
  await page.evaluate(() => kymo.store.update({boxes: [...kymo.store.state.boxes, 1236]}));
  await settled(page);
  await becomes(() => page.locator('.box').count(), 2);
  await page.getByRole('button', {name: 'Close the details of event 1236'}).evaluate(button => button.click());
  await settled(page);
  assert.equal((await view(page)).boxes.length, 1);
  await page.mouse.click(at.x + 2, at.y);
  await until(page, () => kymo.store.state.boxes.length, length => length === 0);
});
await g2('G2', 'the details have the text of the event', async () => {
  const [, line] = kymo('cat', '--filter', 'EVENT = "hot"', 'g2.cpel').trim().split('\n').slice(-1)[0].match(/ hot (.*?) \|/) ?? [];
  const text = await page.evaluate(async () => { const event = await kymo.source.event(1235); return event.text + event.fields.map(field => field.path + field.text).join(' '); });
  assert.ok(text.includes((line ?? '7').replace(/^"|"$/g, '')), `${line} ${text}`);
});
await g2('G4', 'details hide while their kind is off, and come again', async () => {
  await page.evaluate(() => kymo.store.update({boxes: [1235], begin: 30_800_000n, span: 100_000n}));
  await page.evaluate(() => kymo.timeline.reveal(kymo.model.tracks.find(track => track.name === 'worker 5').track));
  await settled(page);
  await becomes(() => page.locator('.box:visible').count(), 1);
  await page.evaluate(() => kymo.store.update({kindsOff: ['hot']}));
  await settled(page);
  await becomes(() => page.locator('.box:visible').count(), 0);
  await page.evaluate(() => kymo.store.update({kindsOff: []}));
  await settled(page);
  await becomes(() => page.locator('.box:visible').count(), 1);
});
await g2('G5, G6', 'kinds have counts, and are switched on and off: all, none, invert, only one', async () => {
  await page.getByRole('tab', {name: /Kinds/}).click();
  const panel = page.getByRole('tabpanel', {name: /Kinds/}), off = () => page.evaluate(() => [...kymo.store.state.kindsOff].sort());
  for (const kind of KINDS) {
    const count = events.filter(event => KINDS[event[2]] === kind).length, row = panel.locator('tr', {hasText: kind}).first();
    await matches(row, new RegExp(String(count).replace(/\B(?=(\d{3})+$)/g, '\\D')));
  }
  const total = () => page.evaluate(async () => { const {begin, span} = kymo.timeline.window(), picture = await kymo.source.tile({begin, end: begin + span, pixels: 100, tracks: kymo.model.tracks.map(track => track.track), filter: kymo.model.base?.id ?? undefined}); return picture.count.reduce((a, b) => a + b, 0); });
  await panel.getByLabel('tx', {exact: true}).uncheck();
  await settled(page);
  assert.deepEqual(await off(), ['tx']);
  assert.equal(await total(), events.filter(event => event[2] !== 1).length);
  await panel.getByRole('button', {name: 'Invert', exact: true}).click();
  assert.deepEqual(await off(), ['hot', 'rx', 'state']);
  await panel.getByRole('button', {name: 'None', exact: true}).click();
  await settled(page);
  assert.equal(await total(), 0);
  await panel.getByRole('button', {name: 'All', exact: true}).click();
  assert.deepEqual(await off(), []);
  await panel.getByRole('button', {name: 'Only hot'}).click();
  await settled(page);
  assert.equal(await total(), 1);
});

// ---- H, I: search and chase ----

const search = async (mode, text) => {
  await page.getByLabel('How the text is searched').selectOption(mode);
  await page.getByLabel('Search or filter').fill(text);
  await page.keyboard.press('Enter');
};
await g2('H1, H3, H4', 'a search finds by filter, name and text, shows where, and n and N go on', async () => {
  await press(page, 'w', 'w', 'w', 'w', 'w', 'w', 'Home', '/');
  for (const [mode, text] of [['filter', 'EVENT = "hot"'], ['name', 'ho']]) {
    await page.evaluate(() => kymo.store.update({found: null, filter: ''}, null));
    await search(mode, text);
    await until(page, () => kymo.model.filter?.state, state => state === 'done');
    await page.getByLabel('Next match', {exact: true}).click();
    await until(page, () => kymo.store.state.found, found => found === 1235);
    await settled(page);
    const window = await view(page);
    assert.ok(window.begin <= events[1234][0] && end_(window) > events[1234][0]);
    await becomes(() => page.locator('#filter-state').textContent(), '1');
  }
  assert.equal((await view(page)).focus !== null, true);
  await search('filter', 'EVENT = "rx"');
  await until(page, () => kymo.model.filter?.state, state => state === 'done');
  await page.keyboard.press('Tab');
  await page.evaluate(() => document.activeElement.blur());
  const rx = events.map((event, i) => event[2] === 0 ? i + 1 : 0).filter(Boolean);
  await page.evaluate(() => kymo.store.update({found: 1235}, null));
  await press(page, 'n');
  await until(page, () => kymo.store.state.found, found => found === rx.find(item => item > 1235));
  await press(page, 'N');
  await until(page, () => kymo.store.state.found, found => found === [...rx].reverse().find(item => item < 1236));
});
await g2('H2', 'a search is cyclic both ways', async () => {
  const rx = events.map((event, i) => event[2] === 0 ? i + 1 : 0).filter(Boolean), last = rx[rx.length - 1];
  await page.evaluate(() => kymo.store.update({filter: 'EVENT = "rx"'}));
  await until(page, () => kymo.model.filter?.state, state => state === 'done');
  await page.evaluate(last => kymo.store.update({found: last}, null), last);
  await press(page, 'n');
  await until(page, () => kymo.store.state.found, found => found === rx[0]);
  await press(page, 'N');
  await until(page, () => kymo.store.state.found, found => found === last);
});
await g2('H5, N', 'a search that fails says so in the status line, which is read aloud', async () => {
  await page.evaluate(() => kymo.store.update({filter: 'EVENT = "rx" AND datum > 1000'}));
  await until(page, () => kymo.model.filter?.state, state => state === 'done');
  await press(page, 'n');
  await until(page, () => document.querySelector('footer .said').textContent, text => /no event matches/.test(text));
  await becomes(() => page.locator('footer .said').getAttribute('aria-live'), 'polite');
});
await g2('H6', 'b turns the direction of search and chase', async () => {
  await page.evaluate(() => kymo.store.update({filter: 'EVENT = "rx"', found: 2000}));
  await until(page, () => kymo.model.filter?.state, state => state === 'done');
  await press(page, 'b', 'n');
  await until(page, () => kymo.store.state.found, found => found < 2000);
});
const firstMatch = (accept, from, step) => {
  const order = [], seen = new Set();
  for (let i = from; i >= 0 && i < events.length; i += step)
    if (accept(events[i]) && !seen.has(events[i][1])) { seen.add(events[i][1]); order.push(events[i][1]); }
  for (const event of events)
    if (!seen.has(event[1])) { seen.add(event[1]); order.push(event[1]); }
  return order.map(track => `worker ${track}`);
};
await g2('I1', 'a chase orders tracks by their first match from the event on, the others by their first event; time stays, selections too', async () => {
  for (const [back, step] of [[false, 1], [true, -1]]) {
    await page.evaluate(back => kymo.store.update({event: 1301, back, order: [], selected: [3]}), back);
    const before = await view(page);
    await press(page, 'j');
    await until(page, () => document.querySelector('footer .said').textContent, text => /^Tracks are ordered/.test(text));
    await settled(page);
    assert.deepEqual(await names(page), firstMatch(event => event[2] === 0, 1300, step));
    const after = await view(page);
    assert.deepEqual([after.begin, after.span, after.scroll, after.selected], [before.begin, before.span, 0, [3]]);
    await page.evaluate(() => kymo.say(''));
  }
  await page.evaluate(() => kymo.store.update({event: 1301, back: false, order: []}));
  await press(page, 'J');
  await until(page, () => document.querySelector('footer .said').textContent, text => /^Tracks are ordered/.test(text));
  assert.deepEqual(await names(page), firstMatch(event => event[3] === 49, 1300, 1));
  await page.evaluate(() => kymo.run('chase-track'));
  await until(page, () => document.querySelector('footer .said').textContent, text => text === 'worker 30 is the first track.');
  assert.equal((await names(page))[0], 'worker 30');
});
await g2('I2', 'O undoes a chase and all pushes, and so does Backspace', async () => {
  const all = await names(page);
  await press(page, 'ArrowDown', 'ArrowDown', '>');
  assert.notDeepEqual(await names(page), all);
  await press(page, 'Backspace');
  assert.deepEqual(await names(page), all);
  await press(page, '>', 'O');
  assert.deepEqual(await names(page), all);
});

// ---- K: snapshots ----

await g2('K1, K2, K3', 'x takes snapshots of the view, z goes around them, Delete removes one', async () => {
  await press(page, 'w', 'x');
  const one = await view(page);
  await press(page, 'w', 'ArrowDown', '>', 't', 'x');
  const two = await view(page);
  await press(page, '0', 'O');
  const shown = async () => { const {begin, span, order, rowHeight} = await view(page); return {begin, span, order, rowHeight}; };
  const pick = ({begin, span, order, rowHeight}) => ({begin, span, order, rowHeight});
  await press(page, 'z');
  assert.deepEqual(await shown(), pick(one));
  await press(page, 'z');
  assert.deepEqual(await shown(), pick(two));
  await press(page, 'Delete', 'z');
  assert.deepEqual(await shown(), pick(one));
  await press(page, 'Delete', 'z');
  await says(page, /no snapshots/);
});
await g2('K4, K5', 'p writes the snapshots to a file, l reads them again, in the same order', async () => {
  // A listener that stays: the browser would close a dialog that opens before it knows that somebody listens.
  let chosen;
  page.on('filechooser', async chooser => chooser.setFiles(chosen));
  await press(page, 'w', 'x', 'w', 'x');
  const two = await view(page), [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('p')]);
  await download.saveAs('snapshots.json');
  await says(page, /Wrote 2 snapshots/);
  await press(page, 'Delete', 'Delete', '0');
  chosen = 'snapshots.json';
  await page.keyboard.press('l');
  await until(page, () => document.querySelector('footer .said').textContent, text => /Read 2 snapshots/.test(text));
  await press(page, 'z');
  assert.equal((await view(page)).span, two.span);
  writeFileSync('bad.json', '{"kymo": 1}');
  chosen = 'bad.json';
  await page.keyboard.press('l');
  await until(page, () => document.querySelector('footer .said').textContent, text => /has no snapshots/.test(text));
  await press(page, 'Delete', 'Delete');
});

// ---- L: modes ----

await g2('L1', 'e shows density, or events with their names', async () => {
  await page.evaluate(() => kymo.store.update({begin: 30_800_000n, span: 100_000n}));
  await settled(page);
  const texts = () => page.evaluate(() => { const canvas = document.querySelector('canvas.overlay'); return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.reduce((sum, value) => sum + (value ? 1 : 0), 0); });
  await page.mouse.move(5, 5);
  await settled(page);
  const before = await texts();
  await press(page, 'e');
  assert.ok(await texts() > before + 100);
  await press(page, 'e');
  assert.equal(await texts(), before);
});
await g2('L2, L3', 'c takes the colours of kinds, of tracks, or none', async () => {
  const [first] = await names(page), count = async () => { const {colours} = await inked(page, first); return new Set(colours.map(colour => { const [r, g, b] = colour.split(',').map(Number), most = Math.max(r, g, b), least = Math.min(r, g, b); return most - least < 32 ? 'grey' : r === most ? g > b ? 'warm' : 'red' : g === most ? 'green' : 'blue'; })).size; };
  assert.ok(await count() >= 2);
  await press(page, 'c');
  assert.ok(await count() <= 2);
  await press(page, 'c');
  assert.deepEqual(await count(), 1);
});

// ---- M: slew ----

await g2('M', 'selected tracks are slewed by the ruler, exactly, and back; others stay; it is undone', async () => {
  const five = await number('worker 5');
  await page.evaluate(five => kymo.store.update({selected: [five], selection: {begin: 1000n, end: 24_691_357n}}), five);
  await press(page, '{');
  assert.equal(await page.evaluate(five => String(kymo.store.state.slew.get(five)), five), '-24690357');
  await page.evaluate(() => kymo.store.update({boxes: [1235]}));
  await settled(page);
  const place = await placeOf(page, 1235), expected = await page.evaluate(time => { const window = kymo.timeline.window(); return (time - Number(window.begin)) / Number(window.span) * kymo.timeline.width + document.querySelector('.picture').getBoundingClientRect().left; }, events[1234][0] - 24690357);
  near(place.x, expected, 1);
  await press(page, '}');
  assert.equal(await page.evaluate(() => kymo.store.state.slew.size), 0);
  await press(page, '}', 'Backspace');
  assert.equal(await page.evaluate(() => kymo.store.state.slew.size), 0);
  await page.evaluate(() => kymo.store.update({selection: null}));
  await press(page, '}');
  await says(page, /No time interval is set/);
});

await g2('M', 'the table of events is merged by the new times, the details have them, and a command opens the same', async () => {
  const five = await number('worker 5'), ns = -24_690_357, shown = event => event[0] + (event[1] === 5 ? ns : 0);
  await page.evaluate(({five, ns}) => kymo.store.update({slew: new Map([[five, BigInt(ns)]]), tab: 'events', boxes: [1235]}), {five, ns});
  await settled(page);
  const order = events.map((event, i) => [shown(event), i + 1]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, number]) => number), at = order.indexOf(1235);
  await page.evaluate(() => kymo.store.update({event: 1235}, null));
  const rows = await until(page, () => { const now = document.querySelector('.events-grid [aria-selected="true"]'); return now && !now.querySelector('.time').textContent.includes('…') && [...document.querySelectorAll('.events-grid .rows .row:not([hidden])')].map(row => [Number(row.dataset.row), row.querySelector('.time').textContent, row.children[1].textContent]); });
  assert.ok(rows.some(([row]) => row === at), `${at} of ${rows}`);
  const time = ns => `+${(ns / 1e9).toFixed(9)}`;
  for (const [row, text, track] of rows)
    assert.deepEqual([text, track], [time(shown(events[order[row] - 1])), `worker ${events[order[row] - 1][1]}`]);
  await matches(page.locator('.box-facts'), new RegExp(`^\\${time(shown(events[1234]))} `));
  await page.evaluate(() => kymo.run('slew-copy'));
  const text = await until(page, () => document.querySelector('footer .said').textContent, text => /is copied/.test(text)), [, file, option] = /copied: kymo view (\S+) --slew '(.*)'$/.exec(text);
  assert.deepEqual([file, option], ['g2.cpel', `worker 5=${ns}`]);
  const other = await Server.start([file, '--slew', option]), opened = await open(other.address);
  await until(opened, () => kymo.store.state.slew.size, size => size === 1);
  assert.deepEqual(await opened.evaluate(() => [...kymo.store.state.slew].map(([track, ns]) => [kymo.model.trackName(track), Number(ns)])), [['worker 5', ns]]);
  await opened.context().close();
  await other.stop();
  await press(page, 'Backspace');
  assert.equal(await page.evaluate(() => kymo.store.state.boxes.length), 0);
  assert.equal(await page.evaluate(() => kymo.store.state.slew.size), 0);
});
await g2('M, H1, I1', 'search and chase go by the times that are shown', async () => {
  const five = await number('worker 5'), ns = -24_690_357, shown = i => events[i][0] + (events[i][1] === 5 ? ns : 0), before = (a, b) => shown(a) - shown(b) || a - b;
  const rx = events.map((_, i) => i).filter(i => events[i][2] === 0).sort(before), at = rx.findIndex((event, i) => events[event][1] === 5 && i > 0 && i + 1 < rx.length && events[rx[i + 1]][1] !== 5);
  assert.notEqual(rx[at + 1], rx.find(event => event > rx[at]), 'the numbers are in the same order');
  await page.evaluate(({five, ns}) => kymo.store.update({slew: new Map([[five, BigInt(ns)]]), filter: 'EVENT = "rx"'}), {five, ns});
  await until(page, () => kymo.model.filter?.state, state => state === 'done');
  await page.evaluate(found => kymo.store.update({found}, null), rx[at] + 1);
  for (const [key, wanted] of [['n', at + 1], ['N', at], ['N', at - 1]]) {
    await press(page, key);
    await until(page, () => kymo.store.state.found, found => found === rx[wanted] + 1);
  }
  const first = rx.slice(at).map(event => events[event][1]), order = [...new Set([...first, ...events.map(event => event[1])])];
  await page.evaluate(event => kymo.store.update({event, filter: ''}), rx[at] + 1);
  await press(page, 'j');
  await until(page, () => document.querySelector('footer .said').textContent, text => /^Tracks are ordered/.test(text));
  await settled(page);
  assert.deepEqual((await names(page)).map(name => name.split(' ').slice(0, 2).join(' ')), order.map(track => `worker ${track}`));
});
await test('M: a --slew that is no offset of a track is refused', () => {
  for (const text of ['worker 5', 'worker 5=', 'worker 5=x', 'worker 5=99999999999999999999'])
    assert.match(spawnSync(KYMO, ['view', '--no-browser', '--slew', text, 'g2.cpel'], {encoding: 'utf8'}).stderr, /--slew is TRACK=NANOSECONDS/);
});

// ---- P, B8, and what g2 has not ----

await g2('B6, P', 'the picture is printed: one page, in light colours, as lines and areas and not as dots; nothing else is', async () => {
  await page.evaluate(() => kymo.store.update({theme: 'dark', selection: {begin: 10_000_000n, end: 30_000_000n}, markA: 40_000_000n}));
  await settled(page);
  await page.emulateMedia({media: 'print'});
  const sheet = await until(page, () => { const picture = document.querySelector('.sheet svg'); return picture && {text: picture.textContent, rects: picture.querySelectorAll('rect').length, back: picture.querySelector('rect').getAttribute('fill'), seen: [...document.body.children].filter(item => getComputedStyle(item).display !== 'none').map(item => item.className)}; });
  assert.deepEqual([sheet.back, sheet.seen], ['#ffffff', ['sheet']]);
  assert.ok(sheet.rects > 100);
  for (const name of [...(await names(page)).slice(0, 5), 'g2.cpel', '20 ms', 'A'])
    assert.ok(sheet.text.includes(name), name);
  await page.emulateMedia({media: null});
  await until(page, () => document.querySelector('.sheet').childElementCount === 0);
  const pdf = await page.pdf({preferCSSPageSize: true}), text = pdf.toString('latin1');
  assert.match(text, /^%PDF/);
  assert.equal((text.match(/\/Type\s*\/Page\b(?!s)/g) ?? []).length, 1);
  let areas = 0;
  for (const {index, 0: head} of text.matchAll(/stream\r?\n/g))
    try {
      areas += (inflateSync(pdf.subarray(index + head.length)).toString('latin1').match(/\bre\b/g) ?? []).length;
    } catch { /* no packed stream begins here */ }
  assert.ok(areas > 100, `${areas} areas`);
  await page.evaluate(() => kymo.store.update({theme: 'auto'}));
  await settled(page);
});

await g2('P', 'the picture is saved as PNG and SVG', async () => {
  for (const type of ['png', 'svg']) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.evaluate(type => kymo.run(`export-${type}`), type)]);
    await download.saveAs(`picture.${type}`);
  }
  assert.deepEqual([...readFileSync('picture.png').subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  const svg = readFileSync('picture.svg', 'utf8'), isXml = await page.evaluate(svg => new DOMParser().parseFromString(svg, 'image/svg+xml').querySelector('parsererror') === null, svg);
  assert.ok(isXml && svg.includes((await names(page))[0]) && (svg.match(/<rect/g) ?? []).length > 100);
});
await g2('B8', '? shows all keys', async () => {
  await press(page, '?');
  const text = await page.getByRole('dialog').textContent();
  for (const word of ['Zoom in', 'Chase', 'snapshot', 'Drag'])
    assert.ok(text.includes(word), word);
  await page.keyboard.press('Escape');
  await becomes(() => page.getByRole('dialog').count(), 0);
});
await g2('filter', 'dims or hides the others, with the count of kymo cat --filter', async () => {
  const wanted = kymo('cat', '--filter', 'datum < 5', 'g2.cpel').trim().split('\n').length, [first] = await names(page);
  const all = (await inked(page, first)).total;
  await page.evaluate(() => kymo.store.update({filter: 'datum < 5'}));
  await settled(page);
  await becomes(async () => (await page.locator('#filter-state').textContent()).replace(/\D/g, ''), String(wanted));
  const dimmed = (await inked(page, first)).total;
  await press(page, '\\');
  const hidden = (await inked(page, first)).total;
  assert.ok(dimmed >= all * 0.9 && hidden < all * 0.6 && hidden > 0, `${all} ${dimmed} ${hidden}`);
  await page.evaluate(() => kymo.store.update({filter: 'datum <'}));
  await until(page, () => document.body.textContent, text => /E\d+ expected/.test(text));
  await becomes(() => page.getByLabel('Search or filter').getAttribute('aria-invalid'), 'true');
});
await g2('URL', 'a link opens the same picture in a second page', async () => {
  await press(page, 'w', 'w', 'w', 'ArrowDown', 'ArrowDown', '>', 'm');
  await page.evaluate(() => kymo.store.update({filter: 'EVENT = "tx" AND datum > 3', kindsOff: ['state'], rowHeight: 31, boxes: [1500]}));
  await settled(page);
  await page.waitForTimeout(400);
  const hash = await page.evaluate(() => location.hash), other = await open(server.address + '&' + hash.slice(1));
  await page.mouse.move(5, 5);
  const shot = one => one.evaluate(() => document.querySelector('.picture canvas').toDataURL());
  await settled(page);
  assert.equal(await shot(other), await shot(page));
  assert.ok(!(await other.evaluate(() => location.href)).includes('token'));
  await other.context().close();
});
await g2('values', 'a numeric field is drawn as a line', async () => {
  await press(page, 'V');
  await page.getByLabel('Field', {exact: true}).selectOption('datum');
  await press(page, 'Enter');
  const blue = await page.evaluate(() => {
    const row = kymo.timeline.rows.rows[0], canvas = document.querySelector('.picture canvas'), {data} = canvas.getContext('2d').getImageData(0, row.strip + 1, canvas.width, row.line - 3);
    let sum = 0;
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 2] > data[i] + 40) sum++;
    return sum;
  });
  assert.ok(blue > 500, `${blue} blue picture elements`);
});
await g2('values', 'the line is that of the events that the filter selects, dimmed or hidden', async () => {
  const least = new Map(), most = new Map(), filter = 'datum > 3 AND datum < 40 AND EVENT <> "rx"';
  for (const {context: {track: {label}}, fields: {datum}} of kymo('cat', '-f', 'json', '--filter', filter, 'g2.cpel').split('\n').filter(line => line.includes('"event":')).map(line => JSON.parse(line))) {
    least.set(label, Math.min(least.get(label) ?? datum, datum));
    most.set(label, Math.max(most.get(label) ?? datum, datum));
  }
  for (const hides of [false, true]) {
    await page.evaluate(({filter, hides}) => kymo.store.update({field: 'datum', filter, hides}), {filter, hides});
    await settled(page);
    const drawn = await page.evaluate(() => [...new DOMParser().parseFromString(kymo.timeline.paper(), 'image/svg+xml').querySelectorAll('g text')].map(item => Number(item.textContent)));
    const tracks = (await names(page)).slice(0, drawn.length / 2);
    assert.ok(tracks.length > 5);
    assert.deepEqual(drawn, tracks.flatMap(name => [most.get(name), least.get(name)]));
  }
});
await g2('latency', 'two kinds give a track of their pairs, as many as kymo stat says, above all others', async () => {
  await page.evaluate(() => kymo.store.update({event: 1301}, null));
  await press(page, 'k');
  await page.evaluate(event => kymo.store.update({event}, null), events.findIndex(event => event[2] === 1) + 1);
  await press(page, 'K');
  await until(page, () => kymo.model.pairs.current?.reply.state, state => state === 'done');
  await settled(page);
  assert.equal(await page.evaluate(() => kymo.model.pairs.current.reply.count), kymo('stat', 'latency', '--from', 'rx', '--to', 'tx', '--scatter', 'g2.cpel').trim().split('\n').filter(text => /^-?\d/.test(text)).length);
  await matches(page.locator('.label.pairs'), /^rx → tx/);
  const drawn = await page.evaluate(() => { const row = kymo.timeline.rows.rows[0], canvas = document.querySelector('.picture canvas'), {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, row.height - 2); let sum = 0; for (let i = 0; i < data.length; i += 4) if (data[i + 2] > data[i] + 40) sum++; return sum; });
  assert.ok(drawn > 100, `${drawn}`);
  await page.evaluate(() => kymo.store.update({latencyFrom: '', latencyTo: '', tab: 'about'}));
  await settled(page);
  await becomes(() => page.locator('.label.pairs').count(), 0);
});
await g2('track by', 'T makes other tracks: of kinds, and of threads again', async () => {
  const all = await names(page), by = async what => {
    await press(page, 'T');
    await page.getByLabel('A track for each').selectOption(what);
    await page.keyboard.press('Enter');
  };
  await by('class');
  await until(page, () => kymo.model.tracks.map(track => track.name).sort().join(), names => names === [...KINDS].sort().join());
  await settled(page);
  await by('thread');
  await until(page, () => kymo.model.tracks.length, count => count === TRACKS);
  await settled(page);
  assert.deepEqual((await names(page)).sort(), all.sort());
});
await g2('frames', 'zooming and moving never shows a row without a picture', async () => {
  const before = await page.evaluate(() => kymo.timeline.measures.blankFrames);
  for (let i = 0; i < 12; i++)
    await page.keyboard.press('w');
  for (let i = 0; i < 12; i++)
    await page.keyboard.press('dadddsaawf'[i % 10]);
  await settled(page);
  assert.equal(await page.evaluate(() => kymo.timeline.measures.blankFrames), before);
});
await g2('keyboard', 'the grid says track, event and count; every part of the page is reached', async () => {
  await press(page, 'ArrowDown', 'ArrowDown', 'ArrowRight');
  await until(page, () => document.querySelector('footer .said').textContent, text => /worker \d+: (rx|tx|state|hot) at \+?-?\d/.test(text));
  const grid = page.getByRole('grid', {name: /Tracks/}), id = await grid.getAttribute('aria-activedescendant'), text = await page.locator(`#${id}`).textContent();
  assert.match(text, /worker \d+.*events in the window.* in all/);
  const regions = new Set();
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press('F6');
    regions.add(await page.evaluate(() => document.activeElement.closest('[data-region]')?.dataset.region));
  }
  assert.deepEqual([...regions].sort(), ['header', 'tabs', 'timeline']);
});
for (const options of [{colorScheme: 'light'}, {colorScheme: 'dark'}, {colorScheme: 'light', contrast: 'more'}, {colorScheme: 'dark', forcedColors: 'active', reducedMotion: 'reduce'}])
  await test(`axe has no serious finding: ${Object.values(options).join(', ')}`, async () => {
    const opened = await open(server.address, {...options, bypassCSP: true}), states = {
      'at the beginning': () => {},
      'details, ruler, marks, a filter, selected tracks': () => kymo.store.update({boxes: [1235, 1301], selection: {begin: 10_000_000n, end: 30_000_000n}, markA: 5n, markB: 70_000_000n, filter: 'datum < 10', selected: [1, 2], focus: 2, event: 1235, found: 1301}),
      'colours by a field': () => kymo.store.update({colour: 'field', colourField: 'datum', filter: '', boxes: []}),
      'a filter that is wrong': () => kymo.store.update({filter: 'datum <'}),
      'keys': () => kymo.run('help'),
    };
    for (const [state, change] of Object.entries(states)) {
      await opened.evaluate(change);
      await settled(opened);
      await opened.waitForTimeout(200);
      assert.deepEqual(await axe(opened), [], state);
    }
    await opened.context().close();
  });
await test('colours of the reader: the canvas has them, and what is chosen is seen', async () => {
  const opened = await open(server.address), look = () => opened.evaluate(() => {
    const probe = document.createElement('span'), colour = name => { probe.style.color = name; return getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number); };
    document.body.append(probe);
    const of = selector => { const {backgroundColor, color} = getComputedStyle(document.querySelector(selector)); return `${backgroundColor} ${color}`; };
    const canvas = document.querySelector('.picture canvas'), seen = {palette: kymo.palette.background, text: kymo.palette.text, system: colour('Canvas'), systemText: colour('CanvasText'),
      pixel: [...canvas.getContext('2d').getImageData(canvas.width - 1, canvas.height - 1, 1, 1).data.slice(0, 3)], focused: of('.label.focused'), other: of('.label:not(.focused)')};
    probe.remove();
    return seen;
  });
  await opened.evaluate(() => kymo.store.update({focus: kymo.model.tracks[1].track, rowHeight: 10}));
  for (const [forcedColors, colorScheme] of [['active', 'dark'], ['active', 'light'], ['none', 'light']]) {
    await opened.emulateMedia({forcedColors, colorScheme});
    await opened.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    await settled(opened);
    const seen = await look();
    assert.deepEqual(seen.pixel, seen.palette, `${forcedColors}, ${colorScheme}`);
    if (forcedColors === 'active')
      assert.deepEqual([seen.palette, seen.text], [seen.system, seen.systemText], colorScheme);
    assert.notEqual(seen.focused, seen.other, `${forcedColors}, ${colorScheme}`);
  }
  assert.deepEqual(opened.errors, []);
  await opened.context().close();
});
await test('A1, --begin and --filter: the page begins with what the command says', async () => {
  const other = await Server.start(['--filter', 'EVENT = "hot"', '--begin', '0.02', '--end', '0.04', 'g2.cpel']), opened = await open(other.address), window = await view(opened);
  assert.equal(window.filter, 'EVENT = "hot"');
  near(window.begin, 20_000_000, 1000);
  near(window.span, 20_000_000, 1000);
  await opened.context().close();
  await other.stop();
});
await test('wrong token: the page says how to reopen', async () => {
  const other = await open(server.address).then(async opened => { await opened.context().close(); return (await import('../viewer/harness.mjs')).browse(); });
  const context = await other.newContext(), bad = await context.newPage();
  await bad.goto(`http://127.0.0.1:${server.port}/#token=${'0'.repeat(32)}`);
  await bad.getByRole('alert').filter({hasText: 'does not accept'}).waitFor({timeout: 30_000});
  await context.close();
});
await test('the server goes and comes back: a banner, the picture stays, and the page goes on', async () => {
  await fresh();
  const before = await page.evaluate(() => document.querySelector('.picture canvas').toDataURL());
  await server.stop();
  await page.keyboard.press('w');
  await page.getByRole('alert').filter({hasText: 'server is gone'}).waitFor({timeout: 30_000});
  await page.keyboard.press('0');
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(() => document.querySelector('.picture canvas').toDataURL()), before);
  const again = await Server.start(['--port', server.port, 'g2.cpel']);
  await page.getByRole('alert').filter({hasText: 'does not accept'}).waitFor({timeout: 30_000});
  await page.goto('about:blank');
  await page.goto(again.address);
  await settled(page);
  await becomes(() => page.getByRole('alert').isHidden(), true);
  await again.stop();
});
await end();
