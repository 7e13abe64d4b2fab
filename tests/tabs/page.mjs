// SPDX-License-Identifier: MIT
// A server of kymo view with a page in Chromium, and what the commands print of the same trace.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {launch} from '../browser.mjs';

export const axePath = join(process.env.KYMO_MODULES, 'axe-core/axe.min.js');
export const {KYMO, KYMO_SHOTS} = process.env;
export const WAIT_MS = Number(process.env.KYMO_WAIT_MS ?? 60_000);

export const browser = await launch();

export async function check(name, work) {
  try {
    await work();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(String(error.stack ?? error).replace(/^/gm, '    '));
    console.log(`not ok ${name}: ${String(error.message ?? error).split('\n')[0]}`);
  }
}
export async function finish() {
  await browser.close();
  process.exit();
}

const unchanging = new Set(), known = new Map();
/** Traces that do not change any more: what a command prints of one is the same each time, so it runs once. */
export function neverChange(...traces) {
  for (const trace of traces)
    unchanging.add(trace);
}
/** What a command prints. */
export function run(...words) {
  if (!unchanging.has(words.at(-1)))
    return runNow(words);
  const key = words.join('\0');
  if (!known.has(key))
    known.set(key, runNow(words));
  return known.get(key);
}
function runNow(words) {
  const {status, stdout, stderr} = spawnSync(KYMO, words, {encoding: 'utf8', maxBuffer: 1 << 28});
  assert.ok(status === 0 || status === 1, `kymo ${words.join(' ')}: ${stderr}`); // 1: the trace has losses
  return stdout;
}
/** Its lines of JSON. */
export function json(...words) {
  return run(...words).split('\n').filter(Boolean).map(line => JSON.parse(line));
}
/** What a command line prints that the page shows, run by a shell. */
export function shell(command) {
  const {status, stdout, stderr} = spawnSync('sh', ['-c', command.replace(/^kymo /, `'${KYMO}' `)], {encoding: 'utf8', maxBuffer: 1 << 28});
  assert.ok(status === 0 || status === 1, `${command}: ${stderr}`);
  return stdout;
}
const printed = text => text.split('\n').filter(line => line.includes('"event":'));
/** The events that kymo cat prints. */
export function eventsOf(trace, filter) {
  return printed(run('cat', '-f', 'json', ...filter ? ['--filter', filter] : [], trace)).map(line => JSON.parse(line));
}
/** How many these are. */
export function countOf(trace, filter) {
  return printed(run('cat', '-f', 'json', ...filter ? ['--filter', filter] : [], trace)).length;
}
/** How many events a command that the page shows prints. */
export function countOfShell(command) {
  return printed(shell(`${command} -f json`)).length;
}

/** A program that records an event for each byte that it is given. */
export async function start(program) {
  const started = spawn(program, [], {stdio: ['pipe', 'pipe', 'inherit'], env: {...process.env, KYMO_ENABLE: '*', KYMO_CONTROL: '0'}});
  await once(started.stdout, 'data');
  started.stdin.write('x'); // its ring is there from the first event on
  await once(started.stdout, 'data');
  started.stdout.resume();
  return started;
}
export async function serve(...words) {
  const process = spawn(KYMO, ['view', '--no-browser', '--idle-exit', '10min', ...words], {stdio: ['ignore', 'pipe', 'inherit']});
  let said = '';
  process.stdout.setEncoding('utf8');
  await new Promise((resolve, reject) => {
    process.stdout.on('data', text => { if (/token=[0-9a-f]{32}/.test(said += text)) resolve(); });
    process.on('exit', status => reject(new Error(`kymo view ${words.join(' ')} ends with ${status}`)));
  });
  return {address: /http:\S+/.exec(said)[0], stop() { process.kill(); }};
}

/** A page on the server; errors of scripts and refusals of the policy are failures. */
export async function open(address, options = {}, {isLive = false} = {}) {
  const context = await browser.newContext({viewport: {width: 1400, height: 900}, permissions: ['clipboard-read', 'clipboard-write'], ...options}), page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  page.errors = [];
  page.on('pageerror', error => page.errors.push(error.message));
  page.on('console', message => { if (message.type() === 'error' && !/status of (4|5)\d\d/.test(message.text())) page.errors.push(message.text()); });
  await page.goto(address);
  await until(page, isLive => window.kymo && (isLive || window.kymo.model.server?.isComplete) && window.kymo.model.kinds.length > 0, isLive);
  return page;
}
/** Waits until what `read` returns is what is wanted: it asks soon again at first, then less often. */
export async function becomes(read, wanted) {
  const end = Date.now() + WAIT_MS;
  for (let pause = 5; ; pause = Math.min(2 * pause, 50)) {
    const now = await read();
    if (isDeepStrictEqual(now, wanted))
      return;
    if (Date.now() > end)
      assert.deepEqual(now, wanted);
    await new Promise(resolve => { setTimeout(resolve, pause); });
  }
}
/** Waits until a function in the page returns something; returns that. */
export async function until(page, work, argument) {
  const handle = await page.waitForFunction(work, argument, {timeout: WAIT_MS, polling: 20});
  return handle.jsonValue();
}
export async function tab(page, id) {
  await page.locator(`#tab-${id}`).click();
  await page.locator(`#panel-${id}`).waitFor();
  return page.locator(`#panel-${id}`);
}
export async function shot(page, name) {
  if (KYMO_SHOTS)
    await page.screenshot({path: `${KYMO_SHOTS}/${name}.png`});
}
/** Sets the filter of the page as a text in the search box, and waits until it is at work. */
export async function setFilter(page, text) {
  await page.locator('input.search').fill(text ?? '');
  await until(page, text => window.kymo.store.state.filter === text && (text ? window.kymo.model.filter?.state === 'done' : !window.kymo.model.filter), text ?? '');
}
/** "6 000" as a number. */
export const numberOf = text => Number(text.replace(/[\u202f\s]/g, ''));
/** The rows of a table as texts, without its head. */
export async function rowsOf(table) {
  return table.locator('tbody tr').evaluateAll(rows => rows.map(row => [...row.children].map(cell => cell.innerText.trim())));
}
/** A table by its caption. */
export const tableOf = (panel, caption) => panel.locator('table').filter({has: panel.page().locator('caption', {hasText: caption})});
/** The command that a tab shows. */
export const commandOf = panel => panel.locator('.command code').innerText();
