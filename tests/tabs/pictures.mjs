// SPDX-License-Identifier: MIT
// The pictures of docs/viewing.md: one of each state of the page, small, light or dark, of traces that demo.py makes. To make
// them again:  KYMO_REWRITE=1 tests/run --rung plain '^tabs$'  (then look at each of them; KYMO_BOTH=1 makes all in both themes).
// Otherwise they are thrown away: what is checked is that each state is reached, that no text is cut, and that they stay small.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {KYMO_SHOTS, check, finish, open, run, serve, setFilter, start, tab, until} from './page.mjs';
import {small} from './png.mjs';

const SIZE = {width: 1200, height: 780}, BYTES_MAX = 60 << 10;
const DARK = new Set(['zoomed', 'filter', 'anomaly']); // of the others the page has the light one

/** Elements of the page whose text is cut without dots, or that are wider than the page. */
function cut() {
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth)
    wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const item of document.querySelectorAll('button, label, h3, th, .note, .filter-said')) {
    const style = getComputedStyle(item), box = item.getBoundingClientRect();
    if (item.checkVisibility() && box.width > 1 && !item.closest('.hidden-visually') && style.textOverflow !== 'ellipsis' && style.overflowX !== 'visible' && item.scrollWidth > item.clientWidth + 1)
      wrong.push(`${item.className || item.tagName}: ${item.textContent.slice(0, 40)}`);
  }
  return wrong;
}

async function picture(page, name, scheme) {
  if (KYMO_SHOTS ? (scheme === 'dark') !== DARK.has(name) && !process.env.KYMO_BOTH : scheme === 'dark')
    return;
  await page.mouse.move(1, 1);
  await until(page, () => document.querySelector('.said, [role="status"]') && !window.kymo.model.isFilterPending);
  await page.waitForTimeout(400); // the pictures of the time line come after the state
  const bytes = small(await page.screenshot());
  assert.ok(bytes.length <= BYTES_MAX, `${name} has ${bytes.length} bytes`);
  assert.deepEqual([name, await page.evaluate(cut)], [name, []]);
  if (KYMO_SHOTS)
    writeFileSync(`${KYMO_SHOTS}/view-${name}${process.env.KYMO_BOTH ? `-${scheme}` : ''}.png`, bytes);
}
const update = (page, work) => page.evaluate(work);
/** Back to the begin. */
const clear = page => page.evaluate(() => window.kymo.store.update({begin: 0n, span: 0n, filter: '', kindsOff: [], selection: null, markA: null, markB: null, event: null, found: null, boxes: [], focus: null, field: '', latencyFrom: '', latencyTo: '', latencyKey: '', hides: false, tabState: new Map(), tab: 'events'})).then(() => page.evaluate(() => { window.kymo.say(''); document.querySelector('.events-grid').scrollTop = 0; }));

/** Each state: how it is reached. The page is as at the begin. */
const STATES = {
  async timeline(page) {
    await update(page, () => window.kymo.store.update({event: 4000}, null));
    await until(page, () => document.querySelector('.detail h3')?.textContent.endsWith('4000') || /4.?000/.test(document.querySelector('.detail h3')?.textContent ?? ''));
  },
  async zoomed(page) {
    await update(page, () => { const {server} = window.kymo.model; window.kymo.store.update({begin: server.begin + 236_000_000n, span: 14_000_000n, event: 5800, focus: 0}); });
  },
  async selection(page) {
    await update(page, () => { const {server} = window.kymo.model; window.kymo.store.update({begin: server.begin + 200_000_000n, span: 100_000_000n, selection: {begin: server.begin + 230_000_000n, end: server.begin + 262_000_000n}}); });
    await tab(page, 'selection');
    await until(page, () => document.querySelectorAll('#panel-selection tbody tr').length > 8);
  },
  async latency(page) {
    const panel = await tab(page, 'latency');
    await panel.locator('input[aria-label="From db:query_begin"]').click();
    await panel.locator('input[aria-label="To db:query_end"]').click();
    await panel.locator('.bar-column').nth(-2).click();
    await panel.locator('[data-limited]').waitFor();
    await update(page, () => { document.querySelector('.latency-results').scrollTop = 0; });
  },
  async histogram(page) {
    await update(page, () => window.kymo.store.update({tabState: new Map([['histogram.field', 'size']])}, null));
    await tab(page, 'histogram');
    await page.locator('#panel-histogram .bar-column').first().waitFor();
  },
  async anomaly(page) {
    await update(page, () => window.kymo.store.update({tabState: new Map([['anomaly.field', 'size'], ['anomaly.kind', 'http:request_end'], ['anomaly.threshold', '5']])}, null));
    const panel = await tab(page, 'anomaly');
    await until(page, () => /beyond/.test(document.querySelector('#panel-anomaly .note').textContent));
    await panel.locator('button', {hasText: 'Next'}).click();
    await until(page, () => window.kymo.store.state.found !== null);
  },
  async line(page) {
    await update(page, () => window.kymo.store.update({field: 'size', tabState: new Map([['histogram.field', 'path']])}, null));
    await tab(page, 'histogram');
    await until(page, () => document.querySelectorAll('#panel-histogram tbody tr').length > 4);
    await page.waitForTimeout(600);
  },
  async compare(page) {
    await tab(page, 'compare');
    await until(page, () => document.querySelectorAll('#panel-compare tbody tr').length > 6);
  },
  async kinds(page) {
    await update(page, () => window.kymo.store.update({kindsOff: ['net:rx', 'net:tx']}));
    await tab(page, 'kinds');
    await until(page, () => window.kymo.model.base?.state === 'done');
  },
  async filter(page) {
    await update(page, () => { const {server} = window.kymo.model; window.kymo.store.update({begin: server.begin + 180_000_000n, span: 60_000_000n}); });
    await setFilter(page, 'path = "/search" AND size > 2000');
    await until(page, () => [...document.querySelectorAll('.events-grid .row:not([hidden]) .time')].some(cell => /^\+0\.(18|19|20)/.test(cell.textContent))); // rows of the window
    await page.locator('.events-grid .rows .row:not([hidden])').first().click();
    await until(page, () => window.kymo.store.state.event !== null);
  },
  async 'wrong-filter'(page) {
    await page.locator('input.search').fill('path = "/search" AND length > 2000');
    await until(page, () => document.querySelector('.filter-bar mark'));
  },
  async about(page) {
    await tab(page, 'about');
  },
  async keys(page) {
    await update(page, () => window.kymo.run('help'));
    await page.locator('dialog[open]').waitFor();
  },
};

const server = await serve('server', '--compare', 'before'), torn = await serve('torn');
for (const colorScheme of ['light', 'dark']) {
  const options = {viewport: SIZE, colorScheme}, page = await open(server.address, options);
  await page.locator('.splitter').focus();
  for (let i = 0; i < 4; i++)
    await page.keyboard.press('ArrowUp');
  await page.evaluate(() => document.activeElement.blur());
  for (const [name, reach] of Object.entries(STATES))
    await check(`picture: ${name}, ${colorScheme}`, async () => {
      await clear(page);
      await reach(page);
      await picture(page, name, colorScheme);
    });
  await page.context().close();
  await check(`picture: problems, ${colorScheme}`, async () => {
    const page = await open(torn.address, options);
    await tab(page, 'problems');
    await until(page, () => document.querySelectorAll('#panel-problems tbody tr').length > 0);
    await picture(page, 'problems', colorScheme);
    await page.context().close();
  });
}
torn.stop();
await check('picture: live', async () => {
  const program = await start('./live'), live = await serve(String(program.pid)), page = await open(live.address, {viewport: SIZE}, {isLive: true}), more = setInterval(() => program.stdin.write('x'.repeat(7)), 60);
  await until(page, () => window.kymo.model.server.events > 150);
  await picture(page, 'live', 'light');
  clearInterval(more);
  await page.context().close();
  live.stop();
  program.stdin.end();
});
await check('picture: without a server', async () => {
  run('view', '--html', 'server.html', '--end', '+100ms', 'server');
  const page = await open(`file://${process.cwd()}/server.html`, {viewport: SIZE});
  await picture(page, 'file', 'light');
  await page.context().close();
});
await check('picture: the server has ended', async () => {
  const page = await open(server.address, {viewport: SIZE});
  server.stop();
  await until(page, () => /The server is gone/.test(document.body.textContent ?? ''));
  await picture(page, 'gone', 'light');
  await page.context().close();
});
await finish();
