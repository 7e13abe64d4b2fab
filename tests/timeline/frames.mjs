// SPDX-License-Identifier: MIT
// Frames while the window moves: a row that has events in the window is never blank, however late the exact picture comes.
import {Server, assert, end, open, random, settled, test, writeCpel} from '../viewer/harness.mjs';

const TRACKS = 24, LAST = 100_000_000, rng = random(11), events = [];
for (let i = 0; i < 6000; i++) // the first tracks have most of the events, the last ones a few
  events.push([rng(LAST), Math.floor(rng(1000) * rng(1000) * TRACKS / 1e6), rng(3), rng(50)]);
for (let track = 0; track < TRACKS; track++)
  events.push([rng(LAST), track, 0, 1], [Math.floor(LAST / 2) + track, track, 1, 1]);
events.sort((a, b) => a[0] - b[0]);
writeCpel('frames.cpel', {tracks: Array.from({length: TRACKS}, (_, i) => `track ${i}`), kinds: ['rx', 'tx', 'state'], events});

/** Windows of zooms in and out, drags, and steps: [begin, span] in nanoseconds after the first event. */
function steps() {
  const all = LAST * 1.06, found = [];
  let [begin, span] = [-LAST * 0.03, all];
  const go = (nextBegin, nextSpan) => {
    span = Math.round(Math.max(100, Math.min(all, nextSpan)));
    begin = Math.round(Math.max(-LAST * 0.03, Math.min(LAST * 1.03 - span, nextBegin)));
    found.push([begin, span]);
  };
  const zoom = (factor, at) => go(begin + at * (span - span * factor), span * factor);
  for (const at of [0.5, 0.21, 0.83]) {
    for (let i = 0; i < 24; i++) zoom(0.6, at);
    for (let i = 0; i < 16; i++) go(begin + (rng(100) - 40) / 60 * span, span);
    for (let i = 0; i < 12; i++) zoom(1.9, rng(100) / 100);
    for (let i = 0; i < 10; i++) go(begin + span * (i % 3 - 0.7), span);
    while (span < all) zoom(2.7, 0.5);
  }
  return found;
}

/** Runs in the page: shows each window for a frame, and reads from the canvas which tracks have ink in it. */
async function walk(windows) {
  const first = kymo.model.bounds.begin, canvas = document.querySelector('.picture canvas'), context = canvas.getContext('2d'), frame = () => new Promise(resolve => requestAnimationFrame(resolve));
  const rows = kymo.timeline.rows.rows.filter(row => row.type === 'track' && row.y + row.strip <= canvas.height), seen = [];
  for (const [begin, span] of windows) {
    kymo.store.update({begin: first + BigInt(begin), span: BigInt(span)});
    await frame();
    await frame(); // the one that draws it is done
    const {data} = context.getImageData(0, 0, canvas.width, canvas.height), pixels = new Uint32Array(data.buffer);
    seen.push(rows.map(row => {
      const from = (row.y + 1) * canvas.width, back = pixels[row.y * canvas.width]; // of the line over the bars
      return pixels.subarray(from, (row.y + row.strip - 1) * canvas.width).some(pixel => pixel !== back);
    }));
  }
  return {tracks: rows.map(row => Number(row.track.name.slice(6))), seen, blank: kymo.timeline.measures.blankFrames, isSettled: kymo.timeline.isSettled()};
}

/** Windows in which a track with events has no ink. */
function blanks(windows, {tracks, seen}) {
  const begin = events[0][0];
  return windows.flatMap(([at, span], i) => tracks.filter((track, row) => !seen[i][row] && events.some(([time, on]) => on === track && time - begin >= at && time - begin < at + span)).map(track => `${at} + ${span}: track ${track}`));
}

for (const [name, delay] of [['replies come at once', 0], ['replies come late', 400]])
  await test(`never a blank row while the window moves: ${name}`, async () => {
    const server = await Server.start(['frames.cpel']), page = await open(server.address, {viewport: {width: 1100, height: 1000}}), windows = steps();
    await page.evaluate(() => kymo.store.update({rowHeight: 14}));
    await settled(page);
    if (delay)
      await page.route(/\/api\/(tile|spans)/, async route => { await new Promise(resolve => setTimeout(resolve, delay)); await route.continue().catch(() => {}); });
    const walked = await page.evaluate(walk, windows);
    assert.equal(walked.tracks.length, TRACKS);
    assert.equal(walked.seen.length, windows.length);
    assert.deepEqual(blanks(windows, walked), []);
    assert.equal(walked.blank, 0);
    assert.ok(walked.seen.some(row => row.includes(false)), 'no row was ever empty: the script does not look closely enough');
    assert.deepEqual(page.errors, []);
    await page.context().close();
    await server.stop();
  });
await end();
