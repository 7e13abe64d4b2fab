// SPDX-License-Identifier: MIT
// What the parts have in common: servers, pages, CPEL files, and the lines that tests/run counts.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {launch} from '../browser.mjs';

export const KYMO = join(process.env.KYMO_BUILD, 'kymo');
export {assert};

/** A command's output. */
export function kymo(...args) {
  return execFileSync(KYMO, args, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28});
}

// ---- a server ----

const servers = new Set(), programs = new Set();

/** Starts a program that ends with the part. */
export function program(file, options) {
  const started = spawn(file, [], options);
  programs.add(started);
  return started;
}

export class Server {
  /** Starts `kymo view` on traces; resolves once it has printed its address. */
  static async start(args, options = {}) {
    const server = new Server();
    await server.run(['view', '--no-browser', ...args], options);
    return server;
  }
  async run(args, options) {
    this.args = args;
    this.process = spawn(KYMO, args, {stdio: ['ignore', 'pipe', 'pipe'], ...options});
    let said = '';
    servers.add(this);
    this.ended = new Promise(resolve => this.process.on('exit', resolve));
    this.address = await new Promise((resolve, reject) => {
      const read = part => {
        said += part;
        const found = /http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]{32}/.exec(said);
        if (found)
          resolve(found[0]);
      };
      this.process.stdout.on('data', read);
      this.process.stderr.on('data', read);
      this.process.on('exit', code => reject(new Error(`kymo view ended with ${code}: ${said}`)));
    });
    this.port = new URL(this.address).port;
  }
  async stop() {
    servers.delete(this);
    this.process.kill('SIGINT');
    await this.ended;
  }
}

// ---- pages ----

let browser = null;

export async function browse() {
  return browser ??= await launch();
}

const WAIT_MS = 60_000; // the machine may be busy

/** A page of its own (cookies, storage) on an address. Errors of its scripts are collected in page.errors. */
export async function open(address, options = {}) {
  const context = await (await browse()).newContext({viewport: {width: 1200, height: 800}, colorScheme: 'light', acceptDownloads: true, ...options}), page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  page.errors = [];
  page.on('pageerror', error => page.errors.push(error.message));
  page.on('console', message => { if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(message.text())) page.errors.push(message.text()); });
  await page.goto(address);
  await settled(page);
  return page;
}

/** Waits until all that the page shows is exact and drawn. */
export async function settled(page) {
  await page.waitForFunction(() => globalThis.kymo?.timeline.isSettled(), null, {polling: 20, timeout: WAIT_MS});
}
export async function press(page, ...keys) {
  for (const key of keys)
    await page.keyboard.press(key);
  await settled(page);
}
/** Waits until an expression of the page has a value that `wanted` accepts. */
export async function until(page, read, wanted = Boolean, argument = undefined) {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const value = await page.evaluate(read, argument);
    if (wanted(value))
      return value;
    if (Date.now() > end)
      throw new Error(`${read} stays ${JSON.stringify(value)}`);
    await page.waitForTimeout(30);
  }
}

/** Gives a page on a server of its own to `work`; errors of scripts are failures. */
export async function serving(args, work) {
  const server = await Server.start([args].flat()), page = await open(server.address);
  try {
    await work(page, server);
    assert.deepEqual(page.errors, []);
  } finally {
    await page.context().close();
    await server.stop();
  }
}
/** Waits until what `read` returns is what is wanted: a page that is asked at once may not have drawn it yet. */
export async function becomes(read, wanted) {
  for (const end = Date.now() + WAIT_MS; ;) {
    const now = await read();
    if (isDeepStrictEqual(now, wanted))
      return;
    if (Date.now() > end)
      assert.deepEqual(now, wanted);
    await new Promise(resolve => { setTimeout(resolve, 30); });
  }
}
/** Waits until the text of an element has a text, or matches a pattern. */
export async function matches(locator, wanted) {
  for (const end = Date.now() + WAIT_MS; ;) {
    const text = await locator.textContent();
    if (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text))
      return;
    if (Date.now() > end)
      assert.fail(`${JSON.stringify(text)} is not ${wanted}`);
    await new Promise(resolve => { setTimeout(resolve, 30); });
  }
}

// ---- what the page shows ----

/** The window, with doubles for BigInts: times of the files here are small. */
export const view = page => page.evaluate(() => {
  const {state} = kymo.store, {bounds} = kymo.model, window = kymo.timeline.window();
  return {begin: Number(window.begin), span: Number(window.span), first: Number(bounds.begin), last: Number(bounds.end), order: state.order, selected: state.selected, boxes: state.boxes, rowHeight: state.rowHeight,
    scroll: state.scroll, focus: state.focus, event: state.event, found: state.found, filter: state.filter};
});
/** Names of the tracks that are shown, from top to bottom. */
export const names = page => page.evaluate(() => kymo.timeline.rows.rows.filter(row => row.type === 'track').map(row => row.track.name));
/** The place of an event on the screen. */
export const placeOf = (page, number) => page.evaluate(async number => {
  const event = await kymo.source.event(number), place = kymo.timeline.place(event), {left, top} = document.querySelector('.picture').getBoundingClientRect();
  return {x: left + place.x, y: top + place.y};
}, number);
/** How many picture elements of a track's strip are not background. */
export const inked = (page, name) => page.evaluate(name => {
  const row = kymo.timeline.rows.rows.find(item => item.type === 'track' && item.track.name === name), canvas = document.querySelector('.picture canvas');
  const {data} = canvas.getContext('2d').getImageData(0, Math.round(row.y - kymo.timeline.top()), canvas.width, row.strip - 1), back = [...data.slice(0, 3)].join();
  const colours = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const colour = [data[i], data[i + 1], data[i + 2]].join();
    colours.set(colour, (colours.get(colour) ?? 0) + 1);
  }
  colours.delete(back);
  return {total: [...colours.values()].reduce((a, b) => a + b, 0), colours: [...colours.keys()]};
}, name);
/** Waits until the status line says it. */
export const says = (page, wanted) => matches(page.locator('footer .said'), wanted);

/** Findings of axe that hinder people seriously: [rule, element, …]. */
export async function axe(page) {
  await page.addScriptTag({path: join(process.env.KYMO_MODULES, 'axe-core/axe.min.js')});
  return page.evaluate(async () => (await axe.run(document, {resultTypes: ['violations']})).violations.filter(found => ['serious', 'critical'].includes(found.impact))
    .map(found => [found.id, ...found.nodes.slice(0, 4).map(node => `${node.html.slice(0, 160)} ${node.failureSummary.split('\n')[1] ?? ''}`)]));
}

// ---- files ----

/**
 * Writes a CPEL file: events are [time in ns, track, code, datum], of several sections if `sections` is given instead. Kinds and tracks are names, or have a number
 * of their own: {code, name, form}, {id, name}. A datum may be a text, if the kind's form shows one.
 */
export function writeCpel(path, {tracks, kinds, events, sections = [events]}) {
  const strings = [Buffer.from('T\0')];
  let size = 2;
  const add = text => { const at = size, bytes = Buffer.from(text + '\0'); strings.push(bytes); size += bytes.length; return at; };
  const words = (...values) => { const bytes = Buffer.alloc(4 * values.length); values.forEach((value, i) => bytes.writeUInt32BE(value, 4 * i)); return bytes; };
  const usual = add('%d'), table = Buffer.alloc(64);
  table.write('T');
  const kindRows = kinds.map((kind, i) => typeof kind === 'string' ? words(i, add(kind), usual) : words(kind.code, add(kind.name), add(kind.form))), trackRows = tracks.map((track, i) => typeof track === 'string' ? words(i, add(track)) : words(track.id, add(track.name)));
  const row = ([time, track, kind, datum]) => { const bytes = Buffer.alloc(20); bytes.writeBigUInt64BE(BigInt(time)); bytes.writeUInt32BE(track, 8); bytes.writeUInt32BE(kind, 12); bytes.writeUInt32BE(typeof datum === 'string' ? add(datum) : datum, 16); return bytes; };
  const parts = sections.map(list => [5, Buffer.concat([table, words(list.length, 1e9), ...list.map(row)])]);
  const all = [[1, Buffer.concat([...strings, Buffer.alloc(-size & 3)])], [3, Buffer.concat([table, words(kinds.length), ...kindRows])], [4, Buffer.concat([table, words(tracks.length), ...trackRows])], ...parts];
  const head = Buffer.from([1, 0, 0, all.length, 0, 0, 0, 0]);
  writeFileSync(path, Buffer.concat([head, ...all.flatMap(([kind, part]) => [words(kind, part.length), part])]));
  return path;
}

const joined = (...values) => { const bytes = Buffer.alloc(4 * values.length); values.forEach((value, i) => bytes.writeUInt32BE(value >>> 0, 4 * i)); return bytes; };

/** Writes a Gist log: events are [ticks, track, code, datum]. */
export function writeGist(path, events) {
  writeFileSync(path, Buffer.concat([joined(events.length), ...events.map(([ticks, track, code, datum]) => joined(Math.floor(ticks / 2 ** 32), ticks, track, code, datum))]));
  return path;
}
/** Writes an elog of clib: types are formats of one number each, events [seconds, track, type, number]. */
export function writeElog(path, {tracks, types, events}) {
  const text = value => Buffer.concat([Buffer.from([2 * value.length + 1]), Buffer.from(value)]), double = value => { const bytes = Buffer.alloc(8); bytes.writeDoubleBE(value); return Buffer.concat([bytes.subarray(4), bytes.subarray(0, 4)]); };
  writeFileSync(path, Buffer.concat([Buffer.from('\0\0\0\x07elog v0'), joined(64, 5, 0, 9, 0, 5, 0, 1, 0, types.length), ...types.flatMap((form, i) => [text(form), text('i4'), joined(i + 1, 0)]),
    joined(tracks.length), ...tracks.map(text), joined(1), Buffer.from([0]), joined(events.length),
    ...events.flatMap(([seconds, track, type, number]) => { const head = Buffer.alloc(4); head.writeUInt16BE(type); head.writeUInt16BE(track, 2); return [head, double(seconds), joined(number)]; })]));
  return path;
}

/** A generator of numbers that is the same in each run. */
export function random(seed) {
  return most => {
    seed = Math.imul(seed, 1664525) + 1013904223 >>> 0;
    return Math.floor(seed / 2 ** 32 * most);
  };
}

// ---- cases ----

const only = process.env.KYMO_CASE ? new RegExp(process.env.KYMO_CASE) : null;

/** Runs a case, and prints its line. */
export async function test(name, work) {
  if (only && !only.test(name))
    return;
  try {
    await work();
    console.log(`ok viewer: ${name}`);
  } catch (error) {
    console.log(String(error?.stack ?? error).split('\n').slice(0, 12).map(line => `    ${line}`).join('\n'));
    console.log(`not ok viewer: ${name}: ${String(error?.message ?? error).split('\n')[0].slice(0, 150)}`);
  }
}

/** Ends the browser and all servers. */
export async function end() {
  await browser?.close();
  for (const started of programs)
    started.kill('SIGKILL');
  await Promise.all([...servers].map(server => server.stop()));
}
