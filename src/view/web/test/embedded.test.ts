// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import {compileFilter, glob} from '../src/embedded/fdl';
import {readData} from '../src/embedded/data';
import {buckets, percentile} from '../src/embedded/measure';
import {EmbeddedTransport} from '../src/embedded/transport';
import type {Json} from '../src/protocol';
import {ReplyError} from '../src/protocol';
import {Source} from '../src/source';

const BEGIN = 1_700_000_000_000_000_000n;
const KINDS = ['rx', 'tx', 'tick'];
type Given = [at: number, track: number, kind: number, fields?: [string, string][]];

function page(given: Given[], spans: Json[] = []): Json {
  const at = (ns: number) => String(BEGIN + BigInt(ns)), of = (track: number) => given.filter(event => event[1] === track);
  const tracks = [0, 1].map(track => ({track, name: `worker ${track}`, part: 'a', partIndex: 0, process: null, events: String(of(track).length), spans: '0', lanes: 2, begin: at(0), end: at(100)}));
  return {
    state: {version: '0', generation: 1, title: 'a', files: ['a'], command: 'kymo cat a', events: String(given.length), begin: at(given[0]?.[0] ?? 0), end: at(given[given.length - 1]?.[0] ?? 0), hasTimes: true, isEpoch: true, isComplete: true, tracks: 2, kinds: 3},
    tracks, kinds: KINDS.map((name, kind) => ({kind, name, events: String(given.filter(event => event[2] === kind).length), edge: 'plain'})), spanKinds: ['work'], losses: [], problems: [], spans,
    events: given.map(([ns, track, kind, fields = []], i) => ({number: String(i + 1), time: at(ns), track, kind, text: fields.map(([path, text]) => `${path} = ${text}`).join(', '), fields: fields as unknown as Json})),
  };
}

const EVENTS: Given[] = [
  [0, 0, 0, [['id', '1'], ['name', 'alpha']]], [10, 1, 0, [['id', '2'], ['name', 'beta <b>']]], [15, 0, 2], [30, 0, 1, [['id', '1'], ['state', 'OPEN']]], [35, 0, 0, [['id', '3'], ['name', 'alpha']]],
  [60, 1, 1, [['id', '2']]], [90, 0, 1, [['id', '3'], ['x y', '-5']]], [90, 1, 1, [['id', '9']]],
];
const transport = () => new EmbeddedTransport(page(EVENTS)), source = () => new Source(transport());
const selects = (text: string) => { const data = readData(page(EVENTS)); return data.events.filter(compileFilter(text, data)).map(event => event.number); };
const refusal = (text: string): [string, number | null] => { try { selects(text); } catch (error) { if (error instanceof ReplyError) return [error.message, error.column]; } return ['', 0]; };

describe('filters of a page without a server', () => {
  it('select what kymo cat --filter does', () => {
    expect(selects('EVENT = "rx"')).toEqual([1, 2, 5]);
    expect(selects('EVENT = "rx" AND id > 1 OR EVENT = "tick"')).toEqual([2, 3, 5]);
    expect(selects('NOT EVENT IN ("rx", "tick") AND NOT (id = 9)')).toEqual([4, 6, 7]);
    expect(selects('id IN (1..2, 9)')).toEqual([1, 2, 4, 6, 8]);
    expect(selects('name LIKE "a*"')).toEqual([1, 5]);
    expect(selects('name NOT LIKE "a*"')).toEqual([2, 3, 4, 6, 7, 8]);
    expect(selects('name MATCHES /<b>$/')).toEqual([2]);
    expect(selects('state = "OPEN" OR `x y` < -4.5')).toEqual([4, 7]);
    expect(selects('id <> 1')).toEqual([2, 5, 6, 7, 8]);
    expect(selects('name IS PRESENT')).toEqual([1, 2, 5]);
    expect(selects('id IS NOT PRESENT')).toEqual([3]);
    expect(selects('TIME IN (+10 ns .. +35 ns)')).toEqual([2, 3, 4, 5]);
    expect(selects('TIME IN (-30 ns .. END) AND id = 0x9')).toEqual([8]);
    expect(selects('RECORD IN (2..3) -- a comment')).toEqual([2, 3]);
  });
  it('name the place of what is wrong or not known, in bytes', () => {
    expect(refusal('id = ')).toEqual(['expected a value, found the end', 6]);
    expect(refusal('name = "é" AND nothing = 3')).toEqual(['no event has a field "nothing"', 17]);
    expect(refusal('EVENT = "none"')).toEqual(['EVENT is never "none"', 9]);
    expect(refusal('name = "a')).toEqual(['this string has no closing quote on its line', 8]);
    expect(refusal('EVERY 10')[0]).toMatch(/does not know EVERY/);
    expect(refusal('id = 1 id')).toEqual(['expected the end, found id', 8]);
    expect(refusal('id + 1 = 2')[1]).toBe(4);
    expect(refusal('(id = 1')).toEqual(['expected ), found the end', 8]);
  });
  it('know globs', () => {
    expect(['a.c', 'abc', 'a]', 'x'].map(text => glob('a[.b]*').test(text))).toEqual([true, true, false, false]);
    expect([glob('[!a]?').test('bc'), glob('[!a]?').test('ac'), glob('(*)').test('(x)')]).toEqual([true, false, true]);
  });
});

describe('replies of a page without a server', () => {
  it('list rows of all events and of a filter', async () => {
    const filter = await source().filter('EVENT = "rx"');
    expect([filter.state, filter.count]).toEqual(['done', 3]);
    const pages = source();
    await pages.filter('EVENT = "rx"');
    const rows = await pages.rows(1, 10, {filter: filter.id});
    expect([rows.total, rows.rows.map(row => row.number)]).toEqual([3, [2, 5]]);
    expect([await pages.rowOf(4, {filter: filter.id}), await pages.rowAt(BEGIN + 11n, {filter: filter.id}), await pages.rowAt(BEGIN + 1000n, {}), await pages.rowOf(4, {})]).toEqual([2, 2, 8, 3]);
    const whole = (await pages.rows(0, 100, {})).rows, slew = `${whole[0].track}:17`, shown = (row: {track: number; time: bigint}) => row.time + (row.track === whole[0].track ? 17n : 0n);
    const slewed = [...whole].sort((a, b) => Number(shown(a) - shown(b)) || a.number - b.number);
    expect((await pages.rows(0, 100, {slew})).rows.map(row => row.number)).toEqual(slewed.map(row => row.number));
    for (const row of whole)
      expect([await pages.rowOf(row.number, {slew}), await pages.rowAt(shown(row), {slew})]).toEqual([slewed.indexOf(row), slewed.findIndex(other => shown(other) >= shown(row))]);
    expect(rows.rows[0].text).toBe('id = 2, name = beta <b>');
  });
  it('report the error of a filter with its column', async () => {
    expect(await source().filter('nothing = 1')).toMatchObject({state: 'failed', error: {message: 'no event has a field "nothing"', column: 1}});
  });
  it('search cyclically, both ways', async () => {
    const pages = source(), {id} = await pages.filter('EVENT = "rx"');
    const next = async (number: number, back: boolean) => { const {mark, isWrapped} = await pages.search({number, back, filter: id}); return [mark?.number, isWrapped]; };
    expect([await next(0, false), await next(1, false), await next(5, false), await next(3, true), await next(1, true), await next(0, true)]).toEqual([[1, false], [2, false], [1, true], [2, false], [5, true], [5, false]]);
    expect((await pages.search({number: 0, back: false, kind: 2, track: 1})).mark).toBeNull();
  });
  it('measure pairs of a thread and of a key', async () => {
    const byTrack = await source().latency({from: 'rx', to: 'tx'}), byKey = await source().latency({from: 'rx', to: 'tx', key: 'id'});
    expect([byTrack.count, byTrack.least, byTrack.most, byTrack.withoutBegin, byTrack.withoutEnd]).toEqual([3, 30, 55, 1, 0]);
    expect([byKey.count, byKey.mean, byKey.p50, byKey.withoutBegin, byKey.worst.map(pair => [pair.numberBegin, pair.numberEnd, pair.duration])]).toEqual([3, 45, 50, 1, [[5, 7, 55n], [2, 6, 50n], [1, 4, 30n]]]);
    expect(byKey.buckets).toEqual([{low: 16, high: 32, count: 1}, {low: 32, high: 64, count: 2}]);
    await expect(source().latency({from: 'rx', to: 'none'})).rejects.toThrow('There is no kind "none".');
  });
  it('count values and texts', async () => {
    const numbers = await source().histogram({field: 'id'}), texts = await source().histogram({field: 'name'});
    expect([numbers.count, numbers.least, numbers.most, numbers.buckets.reduce((sum, bucket) => sum + bucket.count, 0)]).toEqual([7, 1, 9, 7]);
    expect([texts.all, texts.values]).toEqual([2, [{text: 'alpha', count: 2}, {text: 'beta <b>', count: 1}]]);
    expect(await source().fields()).toEqual([{name: 'id', isNumeric: true}, {name: 'name', isNumeric: false}, {name: 'state', isNumeric: false}, {name: 'x y', isNumeric: true}]);
  });
  it('describe a selection, whose end is not in it', async () => {
    const found = await source().selection({begin: BEGIN + 10n, end: BEGIN + 60n});
    expect([found.events, found.tracks.map(item => item.events), found.kinds.map(item => item.events)]).toEqual([4, [3, 1], [2, 1, 1]]);
  });
  it('find anomalies as g2 defines them', async () => {
    const given: Given[] = Array.from({length: 10}, (_, i) => [i, 0, 0, [['x', i === 6 ? '100' : '10']]]), pages = new Source(new EmbeddedTransport(page(given)));
    const [row, other] = (await pages.anomaly({field: 'x', threshold: 2.5})).tracks;
    expect([row.count, row.mean, row.deviation, row.threshold, row.anomalies, other.count]).toEqual([10, 19, 27, 86.5, 1, 0]);
    expect((await pages.anomaly({field: 'x', threshold: 3})).tracks[0].anomalies).toBe(0); // strictly beyond
    expect((await pages.anomaly({field: 'x', threshold: 0.3, sides: 'both'})).tracks[0].anomalies).toBe(10);
    expect((await pages.anomalyNext({field: 'x', threshold: 2.5, number: 7, back: false}))?.number).toBe(7);
  });
  it('order tracks by matches and by activity', async () => {
    const pages = source(), {id} = await pages.filter('id = 2');
    expect(await pages.chase({filter: id, number: 1, back: false})).toEqual([1, 0]);
    expect(await pages.activity(BEGIN + 55n, BEGIN + 100n)).toEqual([1, 0]);
  });
  it('draw every event once, in its pixel', async () => {
    const pages = source(), tile = await pages.tile({begin: BEGIN, end: BEGIN + 100n, pixels: 10, tracks: [1, 0]});
    const row = (index: number) => Array.from(tile.pixel.subarray(tile.start[index], tile.start[index + 1])).map((pixel, i) => [pixel, tile.count[tile.start[index] + i]]);
    expect([row(0), row(1)]).toEqual([[[1, 1], [6, 1], [9, 1]], [[0, 1], [1, 1], [3, 2], [9, 1]]]);
    expect(tile.kind[tile.start[1]]).toBe(0);
    const {id} = await pages.filter('EVENT = "tx"'), filtered = await pages.tile({begin: BEGIN, end: BEGIN + 100n, pixels: 10, tracks: [0, 1], filter: id});
    expect(Array.from(filtered.pixel)).toEqual([3, 9, 6, 9]);
  });
  it('draw spans and pairs over all pixels that they are in', async () => {
    const spans: Json[] = [{track: 0, lane: 0, begin: String(BEGIN + 5n), duration: '30', kind: 0, isOpen: false}, {track: 0, lane: 1, begin: String(BEGIN + 10n), duration: '5', kind: 0, isOpen: false}];
    const pages = new Source(new EmbeddedTransport(page(EVENTS, spans))), picture = await pages.spans({begin: BEGIN, end: BEGIN + 100n, pixels: 10, rows: [{track: 0, lane: 0}, {track: 0, lane: 1}]});
    expect([Array.from(picture.pixel), Array.from(picture.count)]).toEqual([[0, 1, 2, 3, 1], [1, 0, 0, 0, 1]]);
    expect((await pages.statistics()).spans.map(item => [item.name, item.count, item.total, item.self])).toEqual([['work', 2, 35, 30]]);
    expect(await pages.spanAt(0, 0, BEGIN + 20n)).toMatchObject({begin: BEGIN + 5n, duration: 30n, name: 'work'});
    expect(await pages.spanAt(0, 0, BEGIN + 50n)).toBeNull();
    const {id} = await pages.latency({from: 'rx', to: 'tx'}), tile = await pages.tile({begin: BEGIN, end: BEGIN + 100n, pixels: 10, tracks: [], latency: id});
    expect(tile.rows).toBe(1);
    expect(tile.pixel.length).toBe(9);
  });
  it('draw the least, most and last value', async () => {
    const picture = await source().values({begin: BEGIN, end: BEGIN + 100n, pixels: 1, tracks: [0], field: 'id'});
    expect([picture?.count[0], picture?.least[0], picture?.most[0], picture?.last[0]]).toEqual([4, 1, 3, 3]);
    const pages = source(), {id} = await pages.filter('id < 3'), part = await pages.values({begin: BEGIN, end: BEGIN + 100n, pixels: 1, tracks: [0], field: 'id', filter: id ?? undefined});
    expect([part?.most[0], part?.range?.most]).toEqual([1, 2]);
  });
  it('number the texts of a field as they come', async () => {
    const query = {begin: BEGIN, end: BEGIN + 100n, pixels: 1, tracks: [0, 1], field: 'name', texts: 1 as const}, picture = await source().values(query);
    expect([picture?.texts, [...picture?.most ?? []], [...picture?.count ?? []], picture?.range]).toEqual([[{text: 'alpha', isCut: false, events: 2}, {text: 'beta <b>', isCut: false, events: 1}], [0, 1], [2, 1], {least: 0, most: 1}]);
    const pages = source(), {id} = await pages.filter('id = 2'), part = await pages.values({...query, filter: id ?? undefined});
    expect([part?.texts, [...part?.most ?? []]]).toEqual([[{text: 'beta <b>', isCut: false, events: 1}], [0]]);
    expect((await source().values({...query, field: 'x y', begin: BEGIN + 1n}))?.texts).toEqual([{text: '-5', isCut: false, events: 1}]);
  });
  it('find the nearest event, and refuse what needs a server', async () => {
    expect((await source().nearest(0, BEGIN + 24n))?.number).toBe(4);
    expect((await source().nearest(0, BEGIN - 1000n))?.number).toBe(1);
    await expect(source().trackBy('cpu')).rejects.toThrow('A page without a server cannot do this');
    await expect(source().compare()).rejects.toThrow('nothing to compare with');
    await expect(source().event(99)).rejects.toThrow('There is no such event.');
  });
});

describe('statistics', () => {
  it('take the value at the rank, as kymo stat', () => {
    const list = Array.from({length: 10}, (_, i) => i + 1);
    expect([500, 900, 990, 999, 0].map(thousandths => percentile(list, thousandths))).toEqual([5, 9, 10, 10, 1]);
    expect(percentile([7], 999)).toBe(7);
  });
  it('have a bucket for each power of two, and for both signs', () => {
    expect(buckets([0, 1, 2, 3, 4, 1023, 1024, -1, -2, -5])).toEqual([
      {low: -7, high: -3, count: 1}, {low: -3, high: -1, count: 1}, {low: -1, high: 0, count: 1}, {low: 0, high: 2, count: 2}, {low: 2, high: 4, count: 2}, {low: 4, high: 8, count: 1}, {low: 512, high: 1024, count: 1}, {low: 1024, high: 2048, count: 1}]);
  });
});
