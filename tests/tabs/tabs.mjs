// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {axePath, becomes, check, countOf, eventsOf, finish, json, numberOf, open, rowsOf, serve, setFilter, shot, start, tab, tableOf, until} from './page.mjs';

const same = assert.deepEqual;
const TABS = ['events', 'selection', 'latency', 'histogram', 'anomaly', 'compare', 'problems', 'kinds', 'about'];

// ---- the table of events ----

const server = await serve('recorded', '--compare', 'other'), page = await open(server.address);
const total = countOf('recorded');
const current = () => page.evaluate(() => ({row: document.querySelector('.events-grid [aria-selected="true"]')?.dataset.row, active: document.querySelector('.events-grid').getAttribute('aria-activedescendant'), event: window.kymo.store.state.event,
  elements: document.querySelectorAll('.events-grid .rows .row').length}));
const isSorted = (list, by) => list.every((item, i) => i === 0 || (by ? by(list[i - 1], item) <= 0 : list[i - 1] <= item));
const chosen = row => until(page, row => document.querySelector('.events-grid [aria-selected="true"]')?.dataset.row === String(row) && window.kymo.store.state.event !== null, row);

await check('the table goes by arrows, pages, Home and End, and few rows are elements', async () => {
  await page.locator('.events-grid').focus();
  await page.keyboard.press('ArrowDown');
  await chosen(0);
  await page.keyboard.press('ArrowDown');
  await chosen(1);
  await page.keyboard.press('End');
  await chosen(total - 1);
  await page.keyboard.press('ArrowUp');
  await chosen(total - 2);
  await page.keyboard.press('Home');
  await chosen(0);
  await page.keyboard.press('PageDown');
  const now = await until(page, () => { const row = Number(document.querySelector('.events-grid [aria-selected="true"]')?.dataset.row); return row > 1 && {row, id: document.querySelector('.events-grid').getAttribute('aria-activedescendant')}; });
  same(now.id, `events-row-${now.row}`);
  assert.ok((await current()).elements < 80);
});
await check('the row has all columns and ARIA, and its event all fields', async () => {
  await page.keyboard.press('Home');
  await chosen(0);
  const [first] = json('cat', '-f', 'json', 'recorded').filter(line => line.event);
  const row = page.locator('#events-row-0');
  await becomes(() => row.getAttribute('aria-rowindex'), '2');
  await becomes(() => row.locator('[role="gridcell"]').nth(2).innerText(), first.event);
  await until(page, name => document.querySelector('.detail h3').textContent.startsWith(name), first.event);
  const fields = ['time', 'track', 'text', 'tid'];
  await becomes(async () => { const shown = await page.locator('.detail dt').allInnerTexts(); return fields.filter(field => shown.includes(field)); }, fields);
  await page.keyboard.press('Control+c');
  await until(page, () => /is copied/.test(document.querySelector('.said').textContent));
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), new RegExp(`^event 1\\ntime .*\\ntrack .*\\nkind ${first.event}\\n`));
});
await check('the row follows an event that is chosen elsewhere, and the ruler; the window follows the row', async () => {
  await page.evaluate(() => window.kymo.store.update({event: 777}, null));
  await chosen(776);
  await page.evaluate(() => { const {server} = window.kymo.model, begin = server.begin + (server.end - server.begin) * 3n / 4n; window.kymo.store.update({selection: {begin, end: server.end}}); });
  await until(page, () => { const row = document.querySelector('.events-grid .rows .row'); return Number(row.dataset.row) > 1500; });
  await page.evaluate(() => window.kymo.store.update({begin: window.kymo.model.server.begin, span: 1000n, selection: null}));
  await page.locator('.events-grid').focus();
  await page.keyboard.press('End');
  await until(page, () => { const {state} = window.kymo.store, {server} = window.kymo.model; return state.begin <= server.end && state.begin + state.span > server.end; });
  await page.evaluate(() => window.kymo.store.update({begin: 0n, span: 0n}));
});
await check('an event that is chosen while the table goes to the window stays in view', async () => {
  await page.evaluate(() => window.kymo.store.update({event: null}, null));
  let asked, answer;
  const isAsked = new Promise(resolve => { asked = resolve; }), mayAnswer = new Promise(resolve => { answer = resolve; });
  await page.route(/api\/rowat/, async route => { asked(); await mayAnswer; await route.continue().catch(() => {}); });
  await page.evaluate(() => { const {server} = window.kymo.model; window.kymo.store.update({begin: server.begin + (server.end - server.begin) * 9n / 10n, span: 1000n}); });
  await isAsked;
  await page.evaluate(() => window.kymo.store.update({event: 50}, null));
  await chosen(49);
  answer();
  await page.waitForTimeout(500); // what must not happen has no state to wait for
  await chosen(49);
  await page.unroute(/api\/rowat/);
  await page.evaluate(() => window.kymo.store.update({begin: 0n, span: 0n, event: null}));
});
await check('the table has rows of the window when a filter is set', async () => {
  await page.evaluate(() => { const {server} = window.kymo.model, length = server.end - server.begin; window.kymo.store.update({event: null, selection: null, begin: server.begin + length * 2n / 5n, span: length / 5n}); });
  const isIn = () => { const {state} = window.kymo.store, row = [...document.querySelectorAll('.events-grid .row:not([hidden])')].find(row => row.dataset.row && row.children[0].textContent !== '…');
    return row && window.kymo.source.rows(Number(row.dataset.row), 1, {filter: window.kymo.model.filterId}).then(({rows: [found]}) => found.time >= state.begin && found.time < state.begin + state.span); };
  await until(page, isIn);
  await setFilter(page, 'EVENT = "job:step" AND i % 7 = 3');
  await until(page, isIn);
  await setFilter(page, null);
  await until(page, isIn);
  await page.evaluate(() => window.kymo.store.update({begin: 0n, span: 0n}));
});
await check('a table that is scrolled while it goes to the window stays where it was scrolled to', async () => {
  let asked, answer;
  const isAsked = new Promise(resolve => { asked = resolve; }), mayAnswer = new Promise(resolve => { answer = resolve; });
  await page.route(/api\/rowat/, async route => { asked(); await mayAnswer; await route.continue().catch(() => {}); });
  await page.evaluate(() => { const {server} = window.kymo.model; window.kymo.store.update({begin: server.begin + (server.end - server.begin) / 2n, span: 1000n}); });
  await isAsked;
  await page.evaluate(() => { document.querySelector('.events-grid').scrollTop = 2000; });
  answer();
  await page.waitForTimeout(500); // what must not happen has no state to wait for
  same(await page.evaluate(() => [document.querySelector('.events-grid').scrollTop, document.querySelector('.events-grid .row[data-row]').dataset.row]), [2000, '100']);
  await page.unroute(/api\/rowat/);
  await page.evaluate(() => window.kymo.store.update({begin: 0n, span: 0n}));
});
await check('the wheel moves by rows, and the scroll bar reaches any row', async () => {
  await page.evaluate(() => { document.querySelector('.events-grid').scrollTop = 1e9; });
  await until(page, total => [...document.querySelectorAll('.events-grid .row:not([hidden])')].some(row => row.dataset.row === String(total - 1) && row.children[0].textContent !== '…'), total);
});

// ---- the other tabs ----

await check('a filter that is not valid is shown with its place', async () => {
  await page.evaluate(() => window.kymo.store.update({kindsOff: ['app:inner_end']}));
  await page.locator('input.search').fill('name = "é" AND nothing = 3');
  await until(page, () => document.querySelector('.filter-bar mark')?.textContent === 'n');
  await becomes(async () => /^Column 16: .*nothing/.test(await page.locator('.filter-said').innerText()), true);
  await becomes(() => page.locator('.filter-text').innerText(), 'name = "é" AND nothing = 3');
  await page.locator('.filter-bar button', {hasText: 'Go to the place'}).click();
  await becomes(() => page.evaluate(() => document.activeElement.selectionStart), 15);
  await page.evaluate(() => window.kymo.store.update({filter: '', kindsOff: []}));
});
await check('names of the trace are texts, never elements', async () => {
  const panel = await tab(page, 'histogram');
  await panel.locator('select').selectOption('name');
  await panel.locator('.value', {hasText: '<b>some times</b>'}).waitFor();
  same(await page.locator('b').count(), 0);
});
await check('anomalies are those beyond the threshold, and next goes to them', async () => {
  const panel = await tab(page, 'anomaly');
  await panel.locator('select').nth(1).selectOption('size');
  await until(page, () => /beyond 2.5/.test(document.querySelector('#panel-anomaly .note').textContent));
  const events = json('cat', '-f', 'json', 'recorded').filter(line => line.event === 'job:step');
  await becomes(async () => { const rows = await rowsOf(tableOf(panel, 'Tracks')); return [rows.reduce((sum, row) => sum + numberOf(row[1]), 0), rows.map(row => numberOf(row[7]))]; }, [events.length, [1, 1, 1]]); // i == 500 of each thread
  await page.evaluate(() => window.kymo.store.update({event: null, found: null}, null));
  await panel.locator('button', {hasText: 'Next'}).click();
  const first = await until(page, () => window.kymo.store.state.found);
  await panel.locator('button', {hasText: 'Next'}).click();
  await until(page, first => window.kymo.store.state.found !== first, first);
  await panel.locator('button', {hasText: 'Previous'}).click();
  await until(page, first => window.kymo.store.state.found === first, first);
  const detail = await page.evaluate(async number => (await window.kymo.source.event(number)).fields, first);
  same(detail.find(field => field.path === 'i').text, '500');
  await panel.locator('input[type="number"]').fill('11');
  await panel.locator('input[type="number"]').press('Tab');
  await until(page, () => /at most 10/.test(document.querySelector('#panel-anomaly .note').textContent));
});
await check('two traces are compared by name', async () => {
  const panel = await tab(page, 'compare');
  const sides = ['recorded', 'other'].map(trace => { // counts, rates, p50, p99 as kymo stat prints them, as the page rounds them
    const lines = json('stat', 'counts', '--json', trace), {span: length} = lines.find(row => row.event === null), rate = count => { const value = count / length * 1e9; return value < 100 ? Number(value.toFixed(1)) : Math.round(value); };
    return new Map([...lines.filter(row => row.event).map(row => [`event ${row.event}`, [row.count, rate(row.count), null, null]]),
      ...json('stat', 'latency', '--json', trace).filter(row => typeof row.span === 'string').map(row => [`span ${row.span}`, [row.count, rate(row.count), Number(row.p50.toPrecision(4)), Number(row.p99.toPrecision(4))]])]);
  });
  const units = {ns: 1, us: 1e3, ms: 1e6, s: 1e9}, nsOf = text => { const [number, unit] = text.replaceAll('\u202f', '').split(' '); return text === '' ? null : Number((Number(number) * units[unit]).toPrecision(4)); };
  const wanted = [...sides[0]].filter(([name]) => sides[1].has(name)).map(([name, values]) => [name, ...values.flatMap((value, i) => [value, sides[1].get(name)[i]])]).sort();
  assert.ok(wanted.some(([name]) => name === 'span app:inner'));
  await becomes(async () => (await rowsOf(tableOf(panel, 'Differences'))).map(row => [`${row[1]} ${row[0]}`, numberOf(row[2]), numberOf(row[3]), numberOf(row[5]), numberOf(row[6]), nsOf(row[8]), nsOf(row[9]), nsOf(row[11]), nsOf(row[12])]).sort(), wanted);
});
await check('L2: events are coloured by a text in the legend, the picture, the drawing and the URL', async () => {
  const coloured = await open(server.address), all = eventsOf('recorded'), of = {};
  for (const {fields: {name}} of all)
    if (name !== undefined)
      of[name] = (of[name] ?? 0) + 1;
  const wanted = [...Object.keys(of).sort((a, b) => of[b] - of[a]), 'no value'];
  const panel = await tab(coloured, 'histogram');
  await panel.locator('select').selectOption('name');
  await panel.locator('button', {hasText: 'Colour by it'}).click();
  same(await panel.locator('button', {hasText: 'Draw as a line'}).isVisible(), false);
  const steps = () => coloured.evaluate(() => [...document.querySelectorAll('.legend .step')].map(step => [step.textContent, step.querySelector('.patch').style.backgroundColor.match(/\d+/g).join()]));
  await becomes(async () => (await steps()).map(([text]) => text), wanted);
  const colours = new Map(await steps());
  same(new Set(colours.values()).size, 4);
  // a window of the first thread, in which all texts are
  const [{ts: begin, tid}] = all, mine = all.filter(event => event.tid === tid), at = mine.findIndex(event => event.fields.name === '<b>some times</b>'), last = mine[at + 3].ts;
  await coloured.evaluate(([begin, last, shape]) => window.kymo.store.update({begin: window.kymo.model.server.begin, span: BigInt(last - begin), shape, rowHeight: 40}), [begin, last, 'events']);
  await until(coloured, () => window.kymo.timeline.isSettled());
  const draw = () => coloured.evaluate(async numbers => {
    const canvas = document.querySelector('.picture canvas'), places = [];
    for (const number of numbers) {
      const event = await window.kymo.source.event(number), row = window.kymo.timeline.rows.rows.find(item => item.track?.track === event.track), {x} = window.kymo.timeline.place(event);
      const [red, green, blue] = canvas.getContext('2d').getImageData(Math.floor(x), Math.round(row.y - window.kymo.timeline.top() + row.strip) - 4, 1, 1).data;
      places.push({x, y: row.y + row.strip / 2, colour: [red, green, blue].join(), name: event.fields.find(field => field.path === 'name')?.text.replace(/^"(.*)"$/, '$1') ?? 'no value'});
    }
    return places;
  }, all.map((event, i) => [event, i + 1]).filter(([event]) => event.tid === tid && event.ts < last).map(([, number]) => number));
  let alone = [];
  await becomes(async () => {
    const drawn = await draw();
    alone = drawn.filter(({x}, i) => (i === 0 || x - drawn[i - 1].x > 2) && (i + 1 === drawn.length || drawn[i + 1].x - x > 2));
    return [[...new Set(alone.map(event => event.name))].sort(), alone.filter(({colour, name}) => colour !== colours.get(name))];
  }, [[...wanted].sort(), []]);
  const texts = await coloured.evaluate(() => [...new DOMParser().parseFromString(window.kymo.timeline.paper(), 'image/svg+xml').querySelectorAll('text')].map(text => text.textContent));
  same(['<b>some times</b>', 'often', 'no value'].filter(text => !texts.includes(text)), []);
  const {x, y} = alone.find(({name}) => name === '<b>some times</b>'), box = await coloured.locator('.picture').boundingBox();
  await coloured.mouse.move(box.x + Math.floor(x) + 0.5, box.y + y); // the middle of its pixel
  await becomes(async () => (await coloured.locator('footer .cursor').innerText()).split(' · ').at(-1), 'name <b>some times</b>');
  await shot(coloured, 'colours-text');
  await until(coloured, () => location.hash.includes('colour=field') && location.hash.includes('by=name'));
  await setFilter(coloured, 'name <> "often"');
  await becomes(async () => (await steps()).map(([text]) => text), wanted.filter(text => text !== 'often'));
  same(coloured.errors, []);
  await coloured.context().close();
});
await check('columns sort, and the order is in the URL', async () => {
  const panel = await tab(page, 'compare');
  await panel.locator('button.sort', {hasText: 'Name'}).click();
  await becomes(async () => { const names = (await rowsOf(tableOf(panel, 'Differences'))).map(row => row[0]); return names.length > 6 && isSorted(names); }, true);
  await until(page, () => location.hash.includes('compare.sort'));
});
await check('kinds sort by name and number, and go off and on', async () => {
  const panel = await tab(page, 'kinds');
  await panel.locator('button.sort', {hasText: 'Events'}).click();
  await becomes(async () => { const events = (await panel.locator('tbody td.number').allInnerTexts()).map(numberOf); return events.length > 4 && isSorted(events, (a, b) => b - a); }, true);
  await panel.locator('button.sort', {hasText: 'Kind'}).click();
  await becomes(async () => { const names = await panel.locator('tbody label').allInnerTexts(); return names.length > 4 && isSorted(names); }, true);
  await panel.locator('button', {hasText: 'None'}).click();
  await until(page, () => window.kymo.model.base?.state === 'done' && window.kymo.model.base.count === 0);
  await panel.locator('button[aria-label="Only job:step"]').click();
  const wanted = countOf('recorded', 'EVENT = "job:step"');
  await until(page, wanted => window.kymo.model.base?.count === wanted, wanted);
  await panel.locator('button', {hasText: 'All'}).click();
  await until(page, () => window.kymo.model.base === null);
});
await check('About has all that g2 says there', async () => {
  await page.keyboard.press('Escape');
  await page.evaluate(() => window.kymo.run('snapshot'));
  const panel = await tab(page, 'about'), names = ['First event', 'Last event', 'Window', 'Tracks', 'Kinds of events', 'Snapshots', 'Clock rate', 'Times', 'Version'];
  await becomes(async () => {
    const facts = Object.fromEntries(await panel.locator('dt').evaluateAll(list => list.map(item => [item.textContent, item.nextElementSibling.textContent])));
    return [numberOf(facts.Events ?? ''), facts.Files, facts.Command, facts['Row height'], names.filter(name => facts[name])];
  }, [total, 'recorded', 'kymo cat recorded', '25 px', names]);
});
await check('the state of the tabs opens in a second page', async () => {
  await page.evaluate(() => window.kymo.store.update({latencyFrom: 'job:begin', latencyTo: 'job:end', latencyKey: 'id', tab: 'latency'}, null));
  await until(page, () => location.hash.includes('key=id'));
  const other = await open(server.address + '&' + new URL(page.url()).hash.slice(1));
  await until(other, () => document.querySelector('#panel-latency h3')?.textContent.includes('job:begin → job:end, same id: 3'));
  await other.context().close();
});
await check('no script failed, no style was refused', () => same(page.errors, []));

// ---- keyboard and axe ----

// With the first tab axe looks at the whole page, with the others at what differs: the row of tabs and the panel.

await check('every control of every tab is reached by Tab, and the focus is seen', async () => {
  for (const id of TABS) {
    await tab(page, id);
    await until(page, () => !/…$/.test(document.querySelector('.selection-what')?.textContent ?? '') && !/Reading/.test(document.querySelector('#panel-compare > .note')?.textContent ?? '')
      && (window.kymo.store.state.event === null || document.querySelector('.detail h3')?.textContent !== '')); // all is there before it is counted
    const wanted = await page.locator(`#panel-${id}`).evaluate(panel => [...panel.querySelectorAll('button, input, select, [tabindex="0"]')].filter(item => item.checkVisibility() && !item.disabled && item.tabIndex >= 0 && !(item.type === 'radio')).length);
    await page.locator(`#tab-${id}`).focus();
    const reached = new Set();
    for (let i = 0; i < wanted + 40; i++) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(id => {
        const {activeElement: now} = document, panel = document.getElementById(`panel-${id}`);
        if (!panel.contains(now)) return panel === now ? -1 : -2;
        if (getComputedStyle(now).outlineStyle === 'none') return -3;
        return now.type === 'radio' ? -1 : [...panel.querySelectorAll('*')].indexOf(now);
      }, id);
      assert.notEqual(at, -3, `${id}: the focus is not seen`);
      if (at === -2)
        break;
      if (at >= 0)
        reached.add(at);
    }
    same([id, reached.size], [id, wanted]);
  }
});
for (const colorScheme of ['light', 'dark']) {
  const second = await open(server.address, {colorScheme});
  await second.evaluate(readFileSync(axePath, 'utf8'));
  await second.evaluate(() => window.kymo.store.update({event: 5, latencyFrom: 'job:begin', latencyTo: 'job:end', filter: 'size > 0', tabState: new Map([['histogram.field', 'size'], ['anomaly.field', 'size']])}, null));
  for (const id of TABS)
    await check(`axe finds nothing serious in ${id}, ${colorScheme}`, async () => {
      await tab(second, id);
      await second.waitForTimeout(300);
      await shot(second, `${id}-${colorScheme}`);
      const {violations} = await second.evaluate(parts => window.axe.run(parts ?? document, {resultTypes: ['violations']}), id === TABS[0] ? null : {include: [['[role="tablist"]'], [`#panel-${id}`]]});
      same(violations.filter(item => ['serious', 'critical'].includes(item.impact)).map(item => [item.id, item.nodes.slice(0, 3).map(node => node.html)]), []);
    });
  await second.context().close();
}
server.stop();

// ---- damage ----

{
  const broken = await serve('damaged'), second = await open(broken.address);
  await check('the place of damage is shown with file, offset and message', async () => {
    const panel = await tab(second, 'problems');
    await until(second, () => document.querySelectorAll('#panel-problems tbody tr').length > 0);
    const [first] = await rowsOf(tableOf(panel, 'Damaged places'));
    assert.match(first[1], /damaged\/channel_0$/);
    assert.match(first[2], /^\d+$/);
    assert.ok(first[4].length > 10);
    await shot(second, 'problems-damaged');
  });
  await second.context().close();
  broken.stop();
}
{
  const evil = await serve('evil'), page = await open(evil.address);
  await check('names and texts that are HTML, sequences or turn the direction are shown as they are, and do nothing', async () => {
    const asked = [];
    page.on('dialog', dialog => asked.push(dialog.message()));
    for (const id of TABS) {
      const panel = await tab(page, id);
      if (id === 'histogram')
        await panel.locator('select').selectOption('text');
      if (id === 'events') {
        await page.locator('.events-grid').focus();
        await page.keyboard.press('ArrowDown');
        await until(page, () => document.querySelector('.detail h3').textContent !== '');
      }
      await until(page, id => document.querySelector(`#panel-${id}`).childElementCount > 0, id);
      same([id, await page.evaluate(() => document.querySelectorAll('img, script:not([src]), #app b').length)], [id, 0]);
    }
    await tab(page, 'kinds');
    await becomes(async () => (await page.locator('#panel-kinds tbody label').allInnerTexts()).sort(), ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "');alert(1);//", '\\x1b[31mred\\x1b[0m', '\\u202egnp.exe'].sort());
    await page.locator('#panel-kinds button', {hasText: 'Only'}).last().click(); // the name itself is not changed: it still filters
    const one = countOf('evil') / 5;
    await until(page, one => window.kymo.model.base?.state === 'done' && window.kymo.model.base.count === one, one);
    same([asked, page.errors], [[], []]);
    await shot(page, 'evil');
  });
  await page.context().close();
  evil.stop();
}

// ---- how the page begins, and what grows ----

{
  const filtered = await serve('kernel', '--filter', 'value < 17', '--begin', '+1000us', '--end', '+2000us'), page = await open(filtered.address);
  await check('the filter and the window of the command are where the page begins', async () => {
    await until(page, () => window.kymo.model.filter?.state === 'done');
    same(await page.evaluate(() => { const {state} = window.kymo.store, {server} = window.kymo.model; return [state.filter, Number(state.begin - server.start.begin), Number(state.span)]; }), ['value < 17', 0, 1000000]);
    same(await page.evaluate(() => window.kymo.model.filter.count), countOf('kernel', 'value < 17'));
  });
  await page.context().close();
  filtered.stop();
}
{
  const program = await start('./live');
  const live = await serve(String(program.pid)), page = await open(live.address, {}, {isLive: true}), more = setInterval(() => program.stdin.write('x'.repeat(5)), 200);
  await check('tables and numbers of a live program grow', async () => {
    const rows = () => Number(document.querySelector('.events-grid')?.getAttribute('aria-rowcount') ?? 0);
    const before = await until(page, rows);
    await until(page, before => Number(document.querySelector('.events-grid').getAttribute('aria-rowcount')) > before, before);
    await tab(page, 'selection');
    const first = await until(page, () => /: ([\d\u202f]+) events/.exec(document.querySelector('.selection-what').textContent)?.[1]);
    await until(page, first => { const now = /: ([\d\u202f]+) events/.exec(document.querySelector('.selection-what').textContent)?.[1]; return now && now !== first; }, first);
    same(page.errors, []);
  });
  await page.context().close();
  clearInterval(more);
  live.stop();
  program.stdin.end();
}

await finish();
