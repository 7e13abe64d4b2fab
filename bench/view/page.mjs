// SPDX-License-Identifier: MIT
// Measures the page of `kymo view` in Chromium:  node page.mjs ADDRESS ROUNDS [PROFILE]
//
// A script zooms and pans, one step in each frame, while the pictures come from the server as they do for a reader. Prints as
// JSON: milliseconds of the page's frame function (time, and CPU time of its thread, which others on the machine do not lengthen),
// of one putImageData of the same size in the same run, of all scripts in a frame, and in how many frames a row was blank although
// it has events (or spans) in the window. PROFILE: where Chromium's CPU profile of the script is written.
//
// KYMO_MODULES is the folder of the packages, KYMO_CHROMIUM the browser; KYMO_PAGE a folder with another page to be measured.
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const {chromium} = await import(pathToFileURL(join(process.env.KYMO_MODULES, 'playwright-core/index.mjs')));
const [address, rounds, profile] = process.argv.slice(2);
const WIDTH = 1500, HEIGHT = 1000, WAIT_MS = 120_000;

const browser = await chromium.launch({executablePath: process.env.KYMO_CHROMIUM, headless: true,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage']});
const page = await browser.newPage({viewport: {width: WIDTH + 300, height: HEIGHT + 400}});
page.setDefaultTimeout(WAIT_MS);
if (process.env.KYMO_PAGE) // a page that is not compiled into the command
  await page.route(/kymo\.(js|css)$/, route => route.fulfill({path: join(process.env.KYMO_PAGE, new URL(route.request().url()).pathname)}));
const settled = () => page.waitForFunction(() => globalThis.kymo?.timeline.isSettled(), null, {polling: 50, timeout: WAIT_MS});

/** A picture of WIDTH x HEIGHT in which all tracks are seen. */
async function fit() {
  for (let i = 0; i < 4; i++) {
    const {width, height} = await page.evaluate(() => { const {surface} = kymo.timeline; return {width: surface.width, height: surface.height}; });
    const {width: outerWidth, height: outerHeight} = page.viewportSize();
    if (width === WIDTH && height === HEIGHT)
      break;
    await page.setViewportSize({width: outerWidth + WIDTH - width, height: outerHeight + HEIGHT - height});
    await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  }
  await page.evaluate(height => {
    const fits = rowHeight => { kymo.store.update({rowHeight}); return kymo.timeline.rows.height <= height; };
    for (let rowHeight = 25; rowHeight > 1 && !fits(rowHeight); rowHeight--) {}
  }, HEIGHT);
  await settled();
}

/** Runs in the page: the script, as often as asked for. Returns what was measured, and the rows that had ink in each frame. */
function script(rounds) {
  const {timeline, store, model} = kymo, frame = timeline.frame, frames = [], times = [];
  const {begin, end} = model.bounds, all = {begin, span: end - begin};
  let seed = 1;
  const chance = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const part = (span, share) => span * BigInt(Math.round(share * 2 ** 20)) / BigInt(2 ** 20);
  const steps = [];
  let window = all;
  const go = next => {
    const span = next.span < 2000n ? 2000n : next.span > all.span ? all.span : next.span, last = all.begin + all.span - span;
    window = {begin: next.begin < all.begin ? all.begin : next.begin > last ? last : next.begin, span};
    steps.push(window);
  };
  const zoom = (factor, at) => { const span = part(window.span, factor); go({begin: window.begin + part(window.span - span, at), span}); };
  const pan = share => go({begin: window.begin + part(window.span, share), span: window.span});
  for (let round = 0; round < rounds; round++) {
    const at = chance();
    for (let i = 0; i < 30; i++) zoom(0.72, at); // a wheel
    for (let i = 0; i < 30; i++) pan((chance() - 0.3) / 20); // a drag
    for (let i = 0; i < 8; i++) pan(i < 4 ? 1 / 6 : -1 / 4); // keys
    for (let i = 0; i < 20; i++) zoom(1.3, chance());
    for (let i = 0; i < 10; i++) { pan(0.7); zoom(0.9, 0.5); }
    while (window.span < all.span) zoom(1.5, 0.5);
  }
  const {surface, rows} = timeline, {width} = surface, background = timeline.inks.background, line = timeline.inks.line;
  const hasInk = (y, height) => {
    const from = Math.max(0, Math.round(y)) * width, to = Math.min(surface.height, Math.round(y + height)) * width;
    for (let i = from; i < to; i++)
      if (surface.data[i] !== background && surface.data[i] !== line)
        return true;
    return false;
  };
  const look = () => rows.rows.filter(row => row.type === 'track').map(row => {
    const ink = [hasInk(row.y, row.strip)];
    for (let lane = 0; lane < row.lanes; lane++)
      ink.push(hasInk(row.y + row.strip + lane * row.lane, row.lane));
    return {track: row.track.track, ink};
  });
  const image = surface.image, context = timeline.pixels.getContext('2d', {alpha: false});
  const floor = (left, done) => requestAnimationFrame(() => {
    performance.mark('floor begins');
    context.putImageData(image, 0, 0);
    performance.mark('floor ends');
    left > 0 ? floor(left - 1, done) : done();
  });
  return new Promise(resolve => {
    let at = 0;
    timeline.frame = function () {
      performance.mark('frame begins');
      const since = performance.now();
      frame.call(this);
      times.push(performance.now() - since);
      performance.mark('frame ends');
      if (at > 0)
        frames.push({window: steps[at - 1], seen: look()});
    };
    const step = () => {
      if (at === steps.length) {
        delete timeline.frame;
        floor(60, () => resolve({times, frames}));
        return;
      }
      store.update(steps[at++], 'window');
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

/** Runs in the page: how often a row had no ink although the exact picture of the window has events (or spans) in it. */
async function blanks(frames) {
  let missing = 0;
  for (const {window: {begin, span}, seen} of frames) {
    const query = {begin, end: begin + span, pixels: 100};
    const tile = await kymo.source.tile({...query, tracks: seen.map(row => row.track)});
    const lanes = seen.flatMap(({track, ink}) => ink.slice(1).map((has, lane) => ({track, lane, has}))), spans = lanes.length ? await kymo.source.spans({...query, rows: lanes}) : null;
    const isBlank = seen.some(({ink}, row) => tile.start[row] < tile.start[row + 1] && !ink[0]) || lanes.some(({has}, row) => spans.start[row] < spans.start[row + 1] && !has);
    missing += isBlank ? 1 : 0;
  }
  return missing;
}

await page.goto(address);
await settled();
await fit();
const client = await page.context().newCDPSession(page);
await client.send('Performance.enable');
const metrics = async () => Object.fromEntries((await client.send('Performance.getMetrics')).metrics.map(({name, value}) => [name, value]));
await page.evaluate(`globalThis.script = ${script}; globalThis.blanks = ${blanks}`);
await page.evaluate(() => globalThis.script(1).then(() => {})); // the server is warm
await page.reload();
await settled();
await fit(); // a page that begins in a larger window shares its height otherwise
await page.evaluate(`globalThis.script = ${script}; globalThis.blanks = ${blanks}`);
if (profile) {
  await client.send('Profiler.enable');
  await client.send('Profiler.setSamplingInterval', {interval: 200});
  await client.send('Profiler.start');
}
const before = await metrics();
if (!profile)
  await browser.startTracing(page, {categories: ['blink.user_timing']});
await page.evaluate(async rounds => { globalThis.measured = await globalThis.script(rounds); }, Number(rounds));
const after = await metrics();
if (profile)
  writeFileSync(profile, JSON.stringify((await client.send('Profiler.stop')).profile));
/** CPU milliseconds of the main thread between two marks. */
function cpuOf(events, name) {
  const spent = [];
  let begun = 0;
  for (const event of events)
    if (event.name === `${name} begins`)
      begun = event.tts;
    else if (event.name === `${name} ends`)
      spent.push((event.tts - begun) / 1e3);
  return spent;
}
const marks = profile ? [] : JSON.parse(await browser.stopTracing()).traceEvents.filter(event => / (begins|ends)$/.test(event.name)).sort((a, b) => a.ts - b.ts);
const {times, frames} = await page.evaluate(() => ({times: globalThis.measured.times, frames: globalThis.measured.frames.length}));
const blank = await page.evaluate(() => globalThis.blanks(globalThis.measured.frames));
const at = (values, share) => values.length === 0 ? 0 : [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const cpu = cpuOf(marks, 'frame'), floors = cpuOf(marks, 'floor');
const rows = await page.evaluate(() => kymo.timeline.rows.rows.reduce((sum, row) => sum + (row.type === 'track' ? 1 + row.lanes : 0), 0));
console.log(JSON.stringify({
  frames, blank, rows, width: WIDTH, height: HEIGHT, time50: at(times, 0.5), time95: at(times, 0.95), cpu50: at(cpu, 0.5), cpu95: at(cpu, 0.95), cpuMost: at(cpu, 1), floor: at(floors, 0.5),
  scripts: (after.ScriptDuration - before.ScriptDuration) * 1e3 / frames, layout: (after.LayoutDuration + after.RecalcStyleDuration - before.LayoutDuration - before.RecalcStyleDuration) * 1e3 / frames,
}));
await browser.close();
