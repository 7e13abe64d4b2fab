// SPDX-License-Identifier: MIT
// The workbench in Chromium: a click or a key on bytes, a field or a line marks the others.
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {assert, axe, browse, end, kymo} from '../viewer/harness.mjs';

const same = assert.deepEqual;

async function test(name, work) {
  try {
    await work();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(String(error?.stack ?? error).split('\n').slice(0, 12).map(line => `    ${line}`).join('\n'));
    console.log(`not ok ${name}: ${String(error?.message ?? error).split('\n')[0].slice(0, 150)}`);
  }
}

async function open(out, args, options = {}) {
  kymo('explain', '--html', out, ...args);
  const context = await (await browse()).newContext({viewport: {width: 1500, height: 900}, colorScheme: 'light', ...options}), page = await context.newPage();
  page.errors = [];
  page.requests = [];
  page.on('pageerror', error => page.errors.push(error.message));
  page.on('console', message => { if (message.type() === 'error') page.errors.push(message.text()); });
  page.on('dialog', dialog => { page.errors.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', request => page.requests.push(request.url()));
  await page.goto(pathToFileURL(join(process.cwd(), out)).href);
  return page;
}

/** What is marked: texts of bytes, names of fields, numbers of lines. */
const marked = page => page.evaluate(() => {
  const all = pane => [...document.querySelectorAll(`#${pane} [aria-selected=true]`)];
  return {bytes: all('hex').map(each => each.textContent), fields: all('tree').map(each => each.querySelector('.name').textContent), lines: all('source').map(each => Number(each.dataset.line))};
});
const lineOf = (page, text) => page.evaluate(text => Number([...document.querySelectorAll('#source .line')].find(line => line.textContent.includes(text)).dataset.line), text);
const field = (page, name, nth = 0) => page.locator('#tree .name', {hasText: new RegExp(`^${name}$`)}).nth(nth);
const focused = page => page.evaluate(() => document.activeElement.closest('#hex, #tree, #source')?.id);

// ---- a file that fits ----

const page = await open('good.html', ['--key', 'lift.tdl', 'good.log']);

await test('the page needs nothing but itself, and its policy allows its own script alone', async () => {
  same(page.requests.filter(url => !url.startsWith('data:')), [page.url()]);
  same(page.errors, []);
  await page.evaluate(() => { const script = document.createElement('script'); script.textContent = 'window.injected = 1'; document.body.append(script); });
  assert.equal(await page.evaluate(() => window.injected), undefined);
  page.errors.length = 0;
});

await test('a click on bytes marks their field and its line', async () => {
  await page.locator('#hex [role=option]', {hasText: /^f4 01$/}).click();
  same(await marked(page), {bytes: ['f4 01'], fields: ['(time)'], lines: [await lineOf(page, 'ACQUISITION')]});
  assert.match(await page.locator('#state').textContent(), /^\(time\) 500 byte 10, 2 bytes, line 13$/);
});

await test('a click on a byte of two fields marks both', async () => {
  await page.locator('#hex [role=option]', {hasText: /^21$/}).click();
  same(await marked(page), {bytes: ['21'], fields: ['a', 'b'], lines: [await lineOf(page, 'a,b')]});
});

await test('a click on a field marks its bytes and its line', async () => {
  await field(page, 'note').click();
  same(await marked(page), {bytes: ['68 69'], fields: ['note'], lines: [await lineOf(page, 'note:')]});
});

await test('a click on a line marks all fields that come from it, with their bytes', async () => {
  const line = await lineOf(page, 'x: UNSIGNED');
  await page.locator(`#source [data-line="${line}"]`).click();
  same(await marked(page), {bytes: ['01', '03'], fields: ['x', 'x'], lines: [line]});
  assert.match(await page.locator('#state').textContent(), /, and 1 more$/);
});

await test('a click on a line that nothing comes from says so', async () => {
  await page.locator('#source .line', {hasText: 'END TRACE'}).click();
  same((await marked(page)).fields, []);
  assert.match(await page.locator('#state').textContent(), /no field here comes from it$/);
});

await test('bytes that no field covers are marked as such, in words', async () => {
  await page.locator('#hex .unread').click();
  same(await marked(page), {bytes: ['3f'], fields: ['(not read)'], lines: []});
});

await test('a click on a record marks its line, and its bytes are framed', async () => {
  await page.locator('#tree .head', {hasText: 'ride'}).click();
  same((await page.evaluate(() => [...document.querySelectorAll('#source [aria-selected=true]')].map(each => each.textContent))).length, 1);
  same(await page.locator('.record.marked').getAttribute('aria-label'), 'ride (event), 13 bytes at 14');
});

// ---- keys ----

await test('three stops of Tab, and arrows in each of them', async () => {
  await page.reload();
  const stops = [];
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press('Tab');
    stops.push(await focused(page));
  }
  same(stops, ['hex', 'tree', 'source']);
  await page.locator('#hex [tabindex="0"]').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  same(await marked(page), {bytes: ['00 00'], fields: ['(filler)'], lines: [await lineOf(page, 'FILLER')]});
});

await test('Enter goes from bytes to the field, to the line, and to the fields of the line', async () => {
  await page.locator('#hex [role=option]', {hasText: /^03$/}).click();
  await page.keyboard.press('Enter');
  same([await focused(page), (await marked(page)).fields], ['tree', ['x']]);
  await page.keyboard.press('Enter');
  const line = await lineOf(page, 'x: UNSIGNED');
  same([await focused(page), (await marked(page)).lines], ['source', [line]]);
  await page.keyboard.press('Enter');
  const first = (await marked(page)).bytes;
  assert.equal(await focused(page), 'tree');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  same([first, (await marked(page)).bytes].flat().sort(), ['01', '03']);
});

await test('left closes a record in the tree and right opens it; a mark in it opens it', async () => {
  await page.locator('#tree > li').nth(1).locator(':scope > .node').click();
  await page.keyboard.press('ArrowLeft');
  const seen = () => page.locator('#tree > li').nth(1).locator('li').first().isVisible();
  same([await page.locator('#tree > li').nth(1).getAttribute('aria-expanded'), await seen()], ['false', false]);
  await page.keyboard.press('ArrowDown');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /^ride/);
  await page.locator('#hex [role=option]', {hasText: /^f4 01$/}).click();
  assert.equal(await seen(), true);
});

// ---- what does not fit ----

await test('a record that does not fit: the place, the line, and what was read before', async () => {
  const bad = await open('bad.html', ['--key', 'lift.tdl', 'bad.log']);
  const problems = await bad.locator('.problems button').allTextContents();
  same(problems, ['byte 32: R4: there is no such floor (line 21)', 'byte 36: R2: 8 bits of a field in a window with 0 left, in ride after m.y; not read from here: 19 bytes (line 27)']);
  await bad.locator('.problems button').last().click();
  const now = await marked(bad);
  same(now.lines, [await lineOf(bad, 'note:')]);
  assert.match(now.fields[0], /^✗ R2/);
  same(await bad.evaluate(() => [...document.querySelectorAll('#source .fault')].map(line => Number(line.dataset.line))), [21, 27]);
  same(await bad.evaluate(() => [...document.querySelectorAll('#tree > li')].at(-1).querySelector('.head').textContent), 'Reading stops at 27');
  await bad.context().close();
});

await test('names and texts that are HTML are shown as they are', async () => {
  const evil = await open('evil.html', ['--key', 'names.tdl', 'a<b>&.log']);
  same(evil.errors, []);
  assert.equal(await evil.locator('h1').textContent(), 'a<b>&.log');
  same(await evil.evaluate(() => [document.querySelectorAll('main img, main i, main b, main u, main script').length, document.scripts.length]), [0, 1]);
  assert.equal(await evil.locator('#tree .name', {hasText: `<i>"it's"`}).count(), 1);
  assert.equal(await evil.locator('#tree .name', {hasText: '<u>x</u>'}).count(), 1);
  await evil.locator('#tree .name', {hasText: `<i>"it's"`}).click();
  assert.match(await evil.locator('#state').textContent(), /<img src=x onerror=alert\(1\)>/);
  same(evil.errors, []);
  await evil.context().close();
});

// ---- light and dark ----

for (const colorScheme of ['light', 'dark'])
  await test(`axe finds nothing serious, ${colorScheme}`, async () => {
    const each = await open(`${colorScheme}.html`, ['--key', 'lift.tdl', 'bad.log'], {colorScheme, bypassCSP: true});
    await field(each, 'floor').click();
    if (process.env.KYMO_SHOTS)
      writeFileSync(join(process.env.KYMO_SHOTS, `workbench-${colorScheme}.png`), await each.screenshot());
    same(await axe(each), []);
    await each.context().close();
  });

await end();
