// SPDX-License-Identifier: MIT
// Colours, keys, formats, filters, rows, snapshots, losses, axis.
import {describe, expect, it} from 'vitest';
import {actions, unknownCommands} from '../src/commands';
import {fieldFilter} from '../src/filters';
import type {Rgb} from '../src/colors';
import {contrast, dark, hash, hueOf, light, textOn} from '../src/colors';
import {xml} from '../src/export';
import {kindsFilter, quote, shellWord} from '../src/filters';
import {count, countShort, duration, durationExact, parseTime, seconds, timeText, utcDate, utcTime, fitted, withoutGroup} from '../src/format';
import {typedFilter} from '../src/header';
import {COMMANDS, chord, commandOf} from '../src/keys';
import {LossIndex} from '../src/losses';
import {SvgSurface} from '../src/paint';
import type {Track} from '../src/protocol';
import {layout, moved, rowAt} from '../src/rows';
import {rulerTicks} from '../src/ruler';
import {Snapshots, patchOf, readFile, writeFile} from '../src/snapshots';
import {address} from '../src/http';
import {initial} from '../src/state';

describe('colours', () => {
  it('L3: the same name has the same hue, whatever else there is', () => {
    expect(hueOf('net:rx', light)).toBe(hueOf('net:rx', light));
    expect([hash(''), hash('net:rx'), hash('ü')]).toEqual([hash(''), hash('net:rx'), hash('ü')]);
    const seen = new Set(Array.from({length: 400}, (_, i) => hueOf(`event ${i}`, light)));
    expect(seen.size).toBe(12);
  });
  it('are seen on the background, and texts on them are read', () => {
    for (const palette of [light, dark]) {
      expect(contrast(palette.text, palette.background)).toBeGreaterThan(12);
      for (const hue of palette.hues) {
        expect(contrast(hue, palette.background)).toBeGreaterThan(2.2);
        expect(contrast(textOn(hue), hue)).toBeGreaterThan(4.5);
      }
    }
  });
  it('differ for people with red-green blindness', () => {
    // Viénot, Brettel, Mollon 1999, on linear light
    const SEEN: {[who: string]: number[][]} = {
      deuteranopia: [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]], protanopia: [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    };
    const linear = (value: number) => value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    const lab = (rgb: number[]) => {
      const [r, g, b] = rgb, l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b), m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b), s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
      return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
    };
    for (const [name, palette] of [['light', light], ['dark', dark]] as const)
      for (const [who, matrix] of Object.entries(SEEN)) {
        const seen = palette.hues.map((hue: Rgb) => lab(matrix.map(row => Math.max(0, row.reduce((sum, part, i) => sum + part * linear(hue[i]), 0)))));
        for (let i = 0; i < 12; i++)
          for (let j = 0; j < i; j++)
            expect(Math.hypot(...seen[i].map((value, k) => value - seen[j][k])), `${name}, ${who}: hues ${j} and ${i}`).toBeGreaterThan(0.07);
      }
  });
});

describe('keys', () => {
  const press = (key: string, more: Partial<Parameters<typeof chord>[0]> = {}) => commandOf({key, ctrlKey: false, altKey: false, metaKey: false, shiftKey: false, ...more})?.id;
  it('have one meaning each', () => {
    const keys = COMMANDS.flatMap(command => command.keys);
    expect(keys.length).toBe(new Set(keys).size);
    expect(COMMANDS.length).toBe(new Set(COMMANDS.map(command => command.id)).size);
  });
  it('of g2 do what they do there', () => {
    const g2 = {w: 'zoom-in', s: 'zoom-out', a: 'pan-left', d: 'pan-right', r: 'row-up', f: 'row-down', t: 'less-tracks', g: 'more-tracks', e: 'shape', c: 'colour', x: 'snapshot', z: 'next-snapshot', p: 'write-snapshots', l: 'load-snapshots'};
    for (const [key, command] of Object.entries(g2))
      expect(press(key), key).toBe(command);
  });
  it('differ from others by their modifiers', () => {
    expect(press('Z', {shiftKey: true})).toBe('zoom-ruler');
    expect(press('Z', {shiftKey: true, ctrlKey: true})).toBe('redo');
    expect(press('z', {ctrlKey: true})).toBe('undo');
    expect(press('?', {shiftKey: true})).toBe('help');
    expect(press('ArrowUp', {altKey: true})).toBe('track-up');
    expect(press('Backspace', {shiftKey: true})).toBe('redo');
    expect(press('w', {ctrlKey: true})).toBeUndefined();
    expect(press(' ')).toBe('select-track');
  });
  it('all have an action', () => {
    expect(unknownCommands(actions({focusSearch() {}, nextRegion() {}, share() {}, quit: async () => {}, snapshots: new Snapshots()}))).toEqual([]);
  });
});

describe('formats', () => {
  const clock = {begin: 1_795_399_452_288_324_572n, isEpoch: true, hasTimes: true};
  it('are those of kymo stat and kymo cat', () => {
    expect([duration(12_853_225), duration(4.628e9, 4), duration(37970, 4), duration(0), duration(999.9999, 4), duration(0.25, 4), duration(NaN)]).toEqual(['12.85323 ms', '4.628 s', '37.97 us', '0 ns', '1000.0 ns', '0.250 ns', '–']);
    expect([durationExact(38_203_353n), durationExact(7n), durationExact(-1_000_000_001n)]).toEqual(['38.203353 ms', '7 ns', '-1.000000001 s']);
    expect([seconds(2_084_914_514n), seconds(-1n), seconds(1_500_000_000n, 1)]).toEqual(['2.084914514', '-0.000000001', '1.5']);
    expect([utcDate(clock.begin), utcTime(clock.begin)]).toEqual(['2026-11-23', '02:04:12.288324572']);
    expect([utcDate(-1n), utcTime(-1n)]).toEqual(['1969-12-31', '23:59:59.999999999']);
    expect([timeText(clock.begin + 5n, 'relative', clock), timeText(clock.begin - 5n, 'relative', clock), timeText(7n, 'utc', {...clock, hasTimes: false})]).toEqual(['+0.000000005', '-0.000000005', '#7']);
  });
  it('of counts have three digits or all', () => {
    expect([count(50_000_000), count(0), count(-1234)]).toEqual(['50\u202f000\u202f000', '0', '-1\u202f234']);
    expect([countShort(5), countShort(999), countShort(1000), countShort(13_600_000), countShort(999_600)]).toEqual(['5', '999', '1.00 k', '13.6 M', '1.00 M']);
  });
  it('read times as they are typed', () => {
    const at = (text: string) => parseTime(text, clock);
    expect(at('+1.5')).toBe(clock.begin + 1_500_000_000n);
    expect(at('-3us')).toBe(clock.begin - 3000n);
    expect(at('20 ms')).toBe(clock.begin + 20_000_000n);
    expect(at('1795399452.5')).toBe(1_795_399_452_500_000_000n);
    expect(at('02:04:12.288324572')).toBe(clock.begin);
    expect(at('2026-11-23 02:04:12.288324572')).toBe(clock.begin);
    expect([at(''), at('x'), at('1:2'), at('--1'), parseTime('02:04', {...clock, isEpoch: false})]).toEqual([null, null, null, null, null]);
    expect(parseTime('#12', {...clock, hasTimes: false})).toBe(12n);
  });
  it('D7: the axis has the unit of what is seen, and labels differ at any zoom', () => {
    const trace = {begin: 0n, isEpoch: false, hasTimes: true};
    for (const begin of [0n, 100_000_000_000n, 10n ** 18n])
      for (const span of [10n, 1000n, 77_777n, 10n ** 9n, 10n ** 13n]) {
        const {labels} = rulerTicks({begin, span}, 1200, 'relative', trace);
        expect(labels.length).toBeGreaterThan(1);
        expect(new Set(labels).size).toBe(labels.length);
      }
    expect(rulerTicks({begin: 0n, span: 10_000n}, 1200, 'relative', trace).labels[1]).toMatch(/ us$/);
  });
});

describe('filters', () => {
  it('quote names of a trace', () => {
    expect(quote('a"b\\c\n')).toBe('"a\\"b\\\\c\\n"');
    expect(kindsFilter(['a', 'b', 'c'], [])).toBe('');
    expect(kindsFilter(['a', 'b', 'c'], ['b', 'gone'])).toBe('NOT EVENT IN ("b")');
    expect(kindsFilter(['a', 'b', 'c'], ['b', 'a'])).toBe('EVENT IN ("c")');
    expect(kindsFilter(['a', 'b'], ['b', 'a'])).toBe('NOT EVENT IN ("b", "a")');
    expect(fieldFilter('id', '12 (BUSY)')).toBe('id = 12');
    expect(fieldFilter('a b', '"x"')).toBe('`a b` = "x"');
  });
  it('make commands that a shell reads', () => {
    expect(shellWord('$(rm)')).toBe(`'$(rm)'`);
  });
  it('are made of names and texts', () => {
    expect(typedFilter('filter', ' x = 1 ', [])).toBe('x = 1');
    expect(typedFilter('name', 'rx*', [])).toBe('EVENT LIKE "*rx[*]*"');
    expect(typedFilter('text', 'a', ['name', 'a b'])).toBe('EVENT LIKE "*a*" OR name LIKE "*a*" OR `a b` LIKE "*a*"');
    expect(typedFilter('text', ' ', ['name'])).toBe('');
  });
  it('go into addresses whole', () => {
    expect(address('/api/filter', {text: 'a + b & c=d', id: undefined})).toBe('/api/filter?text=a%20%2B%20b%20%26%20c%3Dd');
    expect(address('/api/tile', {begin: -5n, tracks: '1,2'})).toBe('/api/tile?begin=-5&tracks=1,2');
  });
});

const track = (number: number, name: string, more: Partial<Track> = {}): Track => ({track: number, name, part: 'p', partIndex: 0, process: null, events: 1, spans: 0, lanes: 0, deeperSpans: 0, begin: 0n, end: 0n, ...more});

describe('rows', () => {
  const tracks = [track(0, 'a', {process: '1'}), track(1, 'b', {process: '2', lanes: 2}), track(2, 'c', {process: '1'}), track(3, 'd', {partIndex: 1, part: 'q'})];
  const names = (change: Partial<ReturnType<typeof initial>>) => layout(tracks, {...initial(), ...change}).rows.map(row => row.type === 'track' ? row.track.name : `[${row.name}]`);
  it('are grouped by trace and process', () => {
    expect(names({})).toEqual(['[p]', '[process 1]', 'a', 'c', '[process 2]', 'b', '[q]', 'd']);
    expect(layout([track(0, 'x'), track(1, 'y')], initial()).rows.map(row => row.type)).toEqual(['track', 'track']);
  });
  it('fold, hide, pin, and have an order of their own', () => {
    expect(names({collapsed: ['process 0 1']})).toEqual(['[p]', '[process 1]', '[process 2]', 'b', '[q]', 'd']);
    expect(names({collapsed: ['part 0']})).toEqual(['[p]', '[q]', 'd']);
    expect(names({hidden: [0, 2, 9]})).toEqual(['[p]', '[process 2]', 'b', '[q]', 'd']);
    expect(names({pinned: [3]})).toEqual(['d', '[process 1]', 'a', 'c', '[process 2]', 'b']);
    expect(names({order: [2, 3]})).toEqual(['c', 'd', 'a', 'b']);
  });
  it('have lower lanes where there are many, and say what is deeper', () => {
    const row = (more: Partial<Track>, rowHeight = 25) => layout([track(0, 'a', more)], {...initial(), rowHeight}).rows[0];
    expect(row({lanes: 64})).toMatchObject({lane: 18, height: 25 + 64 * 18, note: 0});
    expect(row({lanes: 200})).toMatchObject({lanes: 200, lane: 5, height: 25 + 200 * 5});
    expect(row({lanes: 1024, deeperSpans: 6}, 80)).toMatchObject({lanes: 1024, lane: 2, height: 80 + 1024 * 2 + 15, note: 15});
  });
  it('have the pairs of a latency above all', () => {
    const {rows} = layout(tracks, {...initial(), order: [0]}, 'a → b');
    expect(rows.slice(0, 2)).toMatchObject([{type: 'pairs', name: 'a → b', y: 0, height: 50}, {type: 'track', y: 50}]);
  });
  it('F5, F6: push and pull keep the others in their order', () => {
    expect(moved([0, 1, 2, 3], 2, 0)).toEqual([2, 0, 1, 3]);
    expect(moved([0, 1, 2, 3], 1, 3)).toEqual([0, 2, 3, 1]);
    expect(moved([0, 1, 2, 3], 1, 99)).toEqual([0, 2, 3, 1]);
  });
  it('lie one below the other, and are found by their place', () => {
    for (const rowHeight of [1, 25, 80]) {
      const {rows, height} = layout(tracks, {...initial(), rowHeight, field: 'x'});
      rows.forEach((row, i) => {
        expect(row.y).toBe(i ? rows[i - 1].y + rows[i - 1].height : 0);
        expect(rowAt(rows, row.y)).toBe(i);
        expect(rowAt(rows, row.y + row.height - 0.5)).toBe(i);
      });
      expect(height).toBe(rows[rows.length - 1].y + rows[rows.length - 1].height);
    }
    expect(rowAt([], 5)).toBe(-1);
  });
  it('C11: of 10 000 tracks are made at once', () => {
    const many = Array.from({length: 10_000}, (_, i) => track(i, `t${i}`, {process: String(i % 100)})), since = performance.now();
    expect(layout(many, initial()).rows.length).toBe(10_100);
    expect(performance.now() - since).toBeLessThan(1000);
  });
});

describe('snapshots', () => {
  const tracks = [track(0, 'rx'), track(1, 'tx')], view = {...initial(), begin: 5n, span: 9n, order: [1, 0], slew: new Map([[1, 7n]]), filter: 'x = 1', boxes: [4]};
  it('K1, K2, K3: form a ring, the newest first', () => {
    const ring = new Snapshots();
    expect(ring.next()).toBeNull();
    expect(ring.remove()).toBeNull();
    for (const name of ['a', 'b', 'c'])
      ring.add(view, name);
    expect([ring.next()?.name, ring.next()?.name, ring.next()?.name]).toEqual(['b', 'a', 'c']);
    expect(ring.remove()?.name).toBe('c');
    expect([ring.current, ring.list.map(item => item.name)]).toEqual([0, ['b', 'a']]);
    expect(patchOf(ring.list[0], ['begin', 'order', 'slew', 'filter', 'boxes'])).toEqual({begin: 5n, order: [1, 0], slew: new Map([[1, 7n]]), filter: 'x = 1', boxes: [4]});
  });
  it('K4, K5: files name tracks, keep the order, and leave out tracks that are not there', () => {
    const ring = new Snapshots();
    ring.add(view, 'one');
    ring.add({...view, begin: 6n}, 'two');
    const text = writeFile(ring.list, tracks);
    expect(JSON.parse(text).snapshots[1].order).toEqual(['tx', 'rx']);
    expect(readFile(text, tracks)).toEqual({list: ring.list, unknown: 0});
    const other = readFile(text, [track(0, 'tx')]);
    expect(other.unknown).toBe(2);
    expect(patchOf(other.list[1], ['order', 'slew'])).toEqual({order: [0], slew: new Map([[0, 7n]])});
    for (const bad of ['', '{', '[]', 'null', '{"kymo":"snapshots","version":2,"snapshots":[]}'])
      expect(() => readFile(bad, tracks)).toThrow(/The file/);
    expect(readFile('{"kymo":"snapshots","version":1,"snapshots":[{"view":5,"order":"x","slew":[{"track":"rx","ns":"y"}]}]}', tracks).list).toHaveLength(1);
  });
});

describe('losses', () => {
  it('are found by track and time, also long ones that began before', () => {
    const loss = (begin: bigint, end: bigint, of: number | null, part = 0) => ({begin, end, count: null, track: of, part, isPackets: false});
    const index = new LossIndex([loss(500n, 510n, 1), loss(0n, 900n, 1), loss(20n, 30n, null), loss(20n, 30n, null, 1)], 0n), seen = (of: number, from: number, to: number) => {
      const found: number[][] = [];
      index.between(of, 0, from, to, (begin, end) => found.push([begin, end]));
      return found;
    };
    expect(seen(1, 600, 700)).toEqual([[0, 900]]);
    expect(seen(1, 505, 506)).toEqual([[0, 900], [500, 510]]);
    expect(seen(2, 0, 25)).toEqual([[20, 30]]);
    expect(seen(2, 31, 99)).toEqual([]);
  });
});

describe('P: SVG files', () => {
  it('have texts of the trace as text', () => {
    expect(xml('<script>&"\u0000\u001b[31m\ud800')).toBe('&lt;script&gt;&amp;&quot;\ufffd\ufffd[31m\ufffd');
  });
  it('join equal neighbours', () => {
    const surface = new SvgSurface(6, 20);
    surface.band(2, 4, Uint32Array.of(0, 0xff0000ff, 0xff0000ff, 0, 0xff00ff00, 0xff00ff00));
    expect(surface.parts).toEqual(['<rect x="1" y="2" width="2" height="4" fill="#ff0000"/>', '<rect x="4" y="2" width="2" height="4" fill="#00ff00"/>']);
  });
});

describe('names in narrow places', () => {
  const widthOf = (text: string) => 10 * text.length;
  it('leave the group out before they are cut', () => {
    expect([fitted('net:receive', 110, widthOf), fitted('net:receive', 100, widthOf), fitted('a::b::call', 50, widthOf)]).toEqual(['net:receive', 'receive', 'call']);
    expect([fitted('net:receive', 48, widthOf), fitted('net:receive', 20, widthOf), fitted('receive', 48, widthOf)]).toEqual(['rece…', '', 'rece…']);
    expect([withoutGroup('plain'), withoutGroup('end:')]).toEqual(['plain', 'end:']);
  });
});
