// SPDX-License-Identifier: MIT
// Which files the page shows: the command line, other files in place of those, definitions that are read again, clocks, the end
// (g2's rows A and B, and those of C that are about files).
import {spawnSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {KYMO, Server, assert, becomes, browse, end, matches, names, open, press, says, serving, settled, test, until, view, writeCpel, writeElog, writeGist} from './harness.mjs';

mkdirSync('more', {recursive: true});
writeCpel('a.cpel', {tracks: ['one', 'two', 'three'], kinds: ['rx', 'tx'], events: Array.from({length: 900}, (_, i) => [i * 1000, i % 3, i % 2, i % 10])});
writeCpel('more/b.cpel', {tracks: ['red', 'green'], kinds: ['up', 'down', 'tx'], events: Array.from({length: 500}, (_, i) => [i * 5000, i % 2, i % 3, i])});
writeElog('more/c.clib', {tracks: ['clib one', 'clib two'], types: ['port %d is up', 'idle: %d turns'], events: Array.from({length: 100}, (_, i) => [i * 0.001, i % 2, i % 2, i % 7])});
writeGist('more/d.ev', Array.from({length: 60}, (_, i) => [i * 1000, 7, 1 + i % 2, i]));
const define = (...lines) => writeFileSync('points.h', lines.map(([name, code, text]) => `#define ${name} ${code} /* ${text} */\n`).join(''));
define(['EV_A', 1, 'start: cpu %d'], ['EV_B', 2, 'stop: cpu %d']);
writeFileSync('more/no.txt', 'This is no trace.\n');

/** Closes the dialog, which takes Chromium a moment; keys that come before belong to the dialog. */
const escape = async page => {
  await page.keyboard.press('Escape');
  await until(page, () => document.querySelectorAll('dialog').length, count => count === 0);
};
const kinds = page => page.evaluate(() => kymo.model.kinds.map(kind => kind.name).sort());
const duration = page => page.evaluate(() => Number(kymo.model.server.end - kymo.model.server.begin));
const run = (...args) => spawnSync(KYMO, args, {encoding: 'utf8'});

// ---- A: the command line ----

await test('A1: a CPEL file is opened, with options before and after it', () => serving(['--begin', '+100us', 'a.cpel', '--filter', 'EVENT = "rx"', '--port', '0', '--end', '+0.5ms'], async page => {
  assert.deepEqual([await names(page), (await view(page)).filter, await page.evaluate(() => kymo.model.server.events)], [['one', 'two', 'three'], 'EVENT = "rx"', 900]);
  assert.equal((await view(page)).begin, 100_000);
}));
await test('A2: an elog of clib is opened in the same way', () => serving(['--track', 'class', 'more/c.clib'], async page => assert.deepEqual([await page.evaluate(() => kymo.model.server.events), (await kinds(page)).length], [100, 2])));
await test('A3: a Gist log is opened with its definitions, in any order', async () => {
  for (const args of [['--gist-header', 'points.h', 'more/d.ev'], ['more/d.ev', '--gist-header', 'points.h']])
    await serving(args, async page => assert.deepEqual(await kinds(page), ['start', 'stop']));
});
await test('A4: --gist-clock is in Hz, and 0 is refused', async () => {
  await serving(['--gist-clock', '1000000', 'more/d.ev'], async page => assert.equal(await duration(page), 59_000_000));
  const {status, stderr} = run('view', '--no-browser', '--gist-clock', '0', 'more/d.ev');
  assert.deepEqual([status, /--gist-clock is a number from 1/.test(stderr)], [2, true]);
});
await test('A6: without a trace the page says how to open one, and lists what is in the folder', async () => {
  const server = await Server.start([], {cwd: 'more'}), page = await open(server.address), dialog = page.getByRole('dialog', {name: 'Open another trace'});
  await dialog.waitFor();
  await becomes(async () => (await dialog.getByRole('row').locator('button').allTextContents()).sort(), ['b.cpel', 'c.clib', 'd.ev', 'no.txt']);
  await escape(page);
  await matches(page.locator('.empty'), /No trace is open.*kymo view TRACE/);
  for (const key of ['w', 's', 'x', 'z', 'j', 'n', 'Alt+r', 'A', 'T'])
    await page.keyboard.press(key);
  await escape(page);
  await page.keyboard.press('Control+o');
  await dialog.getByRole('button', {name: 'b.cpel'}).click();
  await until(page, () => kymo.model.server.events, events => events === 500);
  await settled(page);
  assert.deepEqual(await names(page), ['red', 'green']);
  assert.deepEqual(page.errors, []);
  await page.context().close();
  await server.stop();
});
await test('A7: an option that is not known is refused with the usage, and exit status 2', () => {
  const {status, stdout, stderr} = run('view', '--no-browser', '--nonsense', 'a.cpel');
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /unknown option "--nonsense"[\s\S]*--help/);
});

await test('A8, A9: threshold and sizes are set in the page, and are there in the next run; what is kept and not valid does no harm', async () => {
  const first = await Server.start(['a.cpel']), second = await Server.start(['more/b.cpel']), page = await open(first.address), context = page.context();
  const sizes = page => page.evaluate(() => [document.querySelector('.label-resizer').getAttribute('aria-valuenow'), document.querySelector('section.tabs').offsetHeight, kymo.store.state.rowHeight, getComputedStyle(document.querySelector('main')).getPropertyValue('--labels')]);
  await press(page, 't', 't');
  await page.getByRole('separator', {name: 'Width of the names'}).focus();
  await press(page, 'ArrowRight', 'ArrowRight', 'ArrowRight');
  await page.getByRole('separator', {name: 'Height of the tabs'}).focus();
  await press(page, 'ArrowUp', 'ArrowUp');
  await page.getByRole('tab', {name: 'Anomaly'}).click();
  await page.getByLabel('Threshold: number of standard deviations').fill('3.5');
  await page.keyboard.press('Tab');
  await settled(page);
  const chosen = await sizes(page), other = await context.newPage();
  assert.equal(chosen[2], 27);
  await other.goto(second.address);
  await settled(other);
  await other.getByRole('tab', {name: 'Anomaly'}).click();
  await becomes(async () => [(await sizes(other)).slice(1), await other.getByLabel('Threshold: number of standard deviations').inputValue()], [chosen.slice(1), '3.5']);
  for (const value of ['h=99999&theme=pink&names-width=1e9&tabs-height=-5&tabs=anomaly.threshold=99', '%%%&=&h', 'x'.repeat(3000)]) {
    await context.clearCookies();
    await context.addCookies([{name: 'kymo-view', value, url: `http://127.0.0.1:${second.port}`}]);
    await other.goto('about:blank');
    await other.goto(second.address);
    await settled(other);
    await other.getByRole('tab', {name: 'Anomaly'}).click();
    await becomes(async () => [(await sizes(other))[2], await other.getByLabel('Threshold: number of standard deviations').inputValue()], [25, '2.5']);
  }
  assert.deepEqual(page.errors, []);
  await context.close();
  await first.stop();
  await second.stop();
});

// ---- B: the menus ----

const choose = async (page, name) => {
  await page.keyboard.press('Control+o');
  const dialog = page.getByRole('dialog', {name: 'Open another trace'});
  await dialog.getByLabel('Find a trace').fill(name);
  await page.keyboard.press('Enter');
  return dialog;
};
await test('B1: another CPEL file is opened without a restart; nothing of the one before stays', () => serving(['--offer', 'more', 'a.cpel'], async page => {
  await press(page, 'w', 'w', 'ArrowDown', '>', 'h', 'x');
  await page.evaluate(() => kymo.store.update({filter: 'EVENT = "rx"', boxes: [5], kindsOff: ['tx'], selection: {begin: 1n, end: 5n}}));
  await settled(page);
  await choose(page, 'b.cpel');
  await until(page, () => kymo.model.server.events, events => events === 500);
  await settled(page);
  assert.deepEqual([await names(page), await kinds(page)], [['red', 'green'], ['down', 'tx', 'up']]);
  const now = await view(page);
  assert.deepEqual([now.filter, now.boxes, now.order, now.focus, now.event], ['', [], [], null, null]);
  assert.ok(now.begin < 0 && now.begin + now.span > 499 * 5000);
  assert.match(await page.title(), /b\.cpel/);
  assert.equal(await page.evaluate(async () => { const {begin, span} = kymo.timeline.window(), picture = await kymo.source.tile({begin, end: begin + span, pixels: 100, tracks: [0, 1]}); return picture.count.reduce((a, b) => a + b, 0); }), 500);
  await press(page, 'Backspace');
  await says(page, /nothing to undo/);
}));
await test('B1: a file that is no trace is refused with the reason, and what is shown stays', () => serving(['--offer', 'more', '--offer', 'a.cpel', 'a.cpel'], async page => {
  const dialog = await choose(page, 'no.txt');
  await dialog.getByText('no trace found here').waitFor();
  assert.deepEqual(await names(page), ['one', 'two', 'three']);
  assert.equal(await page.evaluate(() => kymo.model.server.events), 900);
  await escape(page);
  writeFileSync('more/no.txt', 'It is still no trace.\n');
  assert.equal(await page.evaluate(async () => { const {list} = await kymo.source.offers(); await kymo.source.offers(); return kymo.source.open(list, 0).then(() => 'open', error => error.message); }), 'the list of traces is older than the newest one: ask for it again');
  assert.equal(await page.evaluate(async () => { const {list} = await kymo.source.offers(); return kymo.source.open(list, 99).then(() => 'open', error => error.message); }), 'there is no such trace in the list');
}));
await test('B2: an elog is opened in place of a CPEL file, and the CPEL file again', () => serving(['--offer', 'more', '--offer', 'a.cpel', 'a.cpel'], async page => {
  for (const [file, tracks, events] of [['c.clib', ['clib one', 'clib two'], 100], ['d.ev', ['7'], 60], ['a.cpel', ['one', 'two', 'three'], 900]]) {
    await choose(page, file);
    await until(page, () => kymo.model.server.title, title => title === file);
    await until(page, () => kymo.model.server.events, count => count === events);
    await settled(page);
    assert.deepEqual((await names(page)).map(name => name.trim()), tracks);
  }
}));
await test('B3: definitions are read again from their file; events, window and order stay', () => serving(['--gist-header', 'points.h', 'more/d.ev'], async page => {
  assert.deepEqual(await kinds(page), ['start', 'stop']);
  await press(page, 'w', 'w', 'd', 't');
  await page.evaluate(() => kymo.store.update({boxes: [31], selection: {begin: 5n, end: 500n}}));
  await settled(page);
  const before = await view(page), text = page.locator('.box');
  await matches(text, /cpu 30/);
  define(['EV_A', 1, 'begin: core %d'], ['EV_B', 2, 'stop: cpu %d']);
  await page.keyboard.press('Alt+r');
  await until(page, () => kymo.model.kinds.map(kind => kind.name).sort().join(), names => names === 'begin,stop');
  await settled(page);
  assert.deepEqual(await view(page), before);
  await matches(text, /core 30/);
  define(['EV_A', 1, 'start: cpu %d'], ['EV_B', 2, 'stop: cpu %d']);
}));
await test('B3: a CPEL file that was written again is read again; chosen tracks are found by their names', async () => {
  const write = tracks => writeCpel('again.cpel', {tracks, kinds: ['rx'], events: Array.from({length: 300}, (_, i) => [i * 1000, i % tracks.length, 0, i])});
  write(['x', 'y', 'z']);
  await serving(['again.cpel'], async page => {
    await page.evaluate(() => { const of = name => kymo.model.tracks.find(track => track.name === name).track; kymo.store.update({selected: [of('z')], order: [of('z'), of('x'), of('y')], focus: of('y'), slew: new Map([[of('x'), 5n]])}); });
    await press(page, 'x', 'w');
    write(['new', 'z', 'y', 'x']);
    await page.evaluate(() => kymo.run('reload'));
    await until(page, () => kymo.model.tracks.length, count => count === 4);
    await settled(page);
    assert.deepEqual((await names(page)).slice(0, 3), ['z', 'x', 'y']);
    const state = () => page.evaluate(() => { const {selected, focus, slew} = kymo.store.state, name = track => kymo.model.trackName(track); return [selected.map(name), name(focus), [...slew].map(([track, ns]) => [name(track), Number(ns)])]; });
    assert.deepEqual(await state(), [['z'], 'y', [['x', 5]]]);
    await press(page, 'z');
    assert.deepEqual([(await names(page)).slice(0, 3), (await state())[0]], [['z', 'x', 'y'], ['z']]);
  });
});
const setClocks = async (page, change) => {
  await page.evaluate(() => kymo.run('clocks'));
  const dialog = page.getByRole('dialog', {name: 'Clocks'});
  await change(dialog);
  await dialog.getByRole('button', {name: 'Read again'}).click();
  return dialog;
};
await test('B4: the clock of a Gist log is asked for, filled in with the one in use; what is no clock is refused', () => serving(['--gist-clock', '2000000', 'more/d.ev'], async page => {
  const dialog = await setClocks(page, async dialog => {
    await becomes(() => dialog.getByLabel('Ticks per second of Gist logs').inputValue(), '2000000');
    await dialog.getByLabel('Ticks per second of Gist logs').fill('0');
  });
  await dialog.getByText('is a number from 1').waitFor();
  assert.equal(await duration(page), 29_500_000);
}));
await test('B5: the clock changes while the file is shown: of a Gist log, and of a CPEL file', async () => {
  await serving(['--offer', 'more', 'more/d.ev'], async page => {
    assert.equal(await duration(page), 59_000);
    await press(page, 'w', 'w');
    await setClocks(page, dialog => dialog.getByLabel('Ticks per second of Gist logs').fill('1000'));
    await until(page, () => Number(kymo.model.server.end - kymo.model.server.begin), ns => ns === 59_000_000_000);
    await settled(page);
    const {begin, span} = await view(page);
    assert.ok(begin <= 0 && begin + span > 59_000_000_000);
    assert.match(await page.evaluate(() => kymo.model.server.command), /--gist-clock 1000( |$)/);
    await page.keyboard.press('Alt+r');
    await until(page, () => document.querySelector('footer .said').textContent, text => /read again/.test(text));
    await settled(page);
    assert.equal(await duration(page), 59_000_000_000);
  });
  await serving(['a.cpel'], async page => {
    assert.equal(await duration(page), 899_000);
    await setClocks(page, dialog => dialog.getByLabel('Clocks of CPEL files').selectOption('us'));
    await until(page, () => Number(kymo.model.server.end - kymo.model.server.begin), ns => ns !== 899_000);
    await settled(page);
    await setClocks(page, dialog => dialog.getByLabel('Clocks of CPEL files').selectOption('as their numbers say'));
    await until(page, () => Number(kymo.model.server.end - kymo.model.server.begin), ns => ns === 899_000);
  });
});
await test('B7: the page ends the server, after a question; the picture stays', async () => {
  const server = await Server.start(['a.cpel']), page = await open(server.address), shot = () => page.evaluate(() => document.querySelector('.picture canvas').toDataURL());
  const before = await shot(), status = new Promise(resolve => server.process.on('exit', resolve));
  await page.keyboard.press('Control+q');
  await escape(page);
  await press(page, 'w', '0');
  assert.equal(server.process.exitCode, null);
  await page.keyboard.press('Q');
  await page.getByRole('dialog').getByRole('button', {name: 'End kymo view'}).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({hasText: 'kymo view has ended'}).waitFor();
  assert.equal(await status, 0);
  assert.equal(await shot(), before);
  assert.deepEqual(page.errors, []);
  await page.context().close();
  await server.stop();
});
await test('B9: About lists what g2 lists: visible times, strip height, snapshots, definitions, events, clock, version', () => serving(['a.cpel'], async page => {
  await page.evaluate(() => kymo.store.update({begin: 100_000n, span: 300_000n, rowHeight: 31, tab: 'about'}));
  await press(page, 'x', 'x');
  const facts = await until(page, () => Object.fromEntries([...document.querySelectorAll('#panel-about dt')].map(item => [item.textContent, item.nextElementSibling.textContent])), facts => facts.Snapshots === '2');
  assert.equal(facts.Window, '+0.000100000 to +0.000400000, 300 us'.replace('300 us', facts.Window.split(', ')[1]));
  assert.deepEqual([facts['Row height'], facts['Kinds of events'], facts.Events, facts['Clock rate']], ['31 px', '2; 0 off', '900', '1\u202f000\u202f000\u202f000 Hz, 1000.000 ticks/us']);
  assert.match(facts.Version, /^kymo \d+\.\d+/);
}));
await end();
