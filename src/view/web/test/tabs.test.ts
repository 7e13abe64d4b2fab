// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import {filled, placeOnBars} from '../src/bars';
import {floatDistribution} from '../src/embedded/measure';
import {both, columnIn, fieldName, filtered, limitsOf, partsOf, shellWord, splitAt, statCommand, timeFilter} from '../src/filters';
import {visible} from '../src/dom';
import type {Kind} from '../src/protocol';
import {thresholdOf} from '../src/tabs/anomaly';
import {change, changeText} from '../src/tabs/compare';
import {barFilter} from '../src/tabs/histogram';
import {edgesOf} from '../src/tabs/latency';
import {sorted} from '../src/tabs/table';

describe('commands to copy', () => {
  it('quote what a shell would take apart', () => {
    expect(shellWord('a/b.ctf')).toBe('a/b.ctf');
    expect(shellWord(`it's $(x) \`y\` "z" \\`)).toBe(`'it'\\''s $(x) \`y\` "z" \\'`);
    expect(shellWord('')).toBe("''");
    expect(shellWord('a\nb')).toBe("'a\nb'");
    expect(shellWord('-rf')).toBe('-rf');
  });
  it('append the filter to the command of the server, and keep its options', () => {
    expect(filtered("kymo cat 'a b' --as pcap", 'EVENT = "x"')).toBe(`kymo cat 'a b' --as pcap --filter 'EVENT = "x"'`);
    expect(filtered('kymo cat a', '')).toBe('kymo cat a');
  });
  it('turn it into one of statistics', () => {
    expect(statCommand("kymo cat 'a b' --as pcap", ['latency', '--from', 'net:rx', '--to', "o'k"])).toBe(`kymo stat latency --from net:rx --to 'o'\\''k' 'a b' --as pcap`);
  });
  it('select the window from its begin to before its end', () => {
    expect(timeFilter(1_000n, 2_000n, 500n)).toBe('TIME IN (+500 ns .. +1499 ns)');
    expect(timeFilter(0n, 2_000n, 500n)).toBe('TIME IN (+0 ns .. +1499 ns)');
  });
});

describe('the place of an error', () => {
  it('is in the text that was typed, without what the page adds', () => {
    const base = 'NOT EVENT IN ("é")', filter = 'port = ', all = both(base, filter);
    expect(columnIn(base, filter, new TextEncoder().encode(all.slice(0, all.indexOf('port'))).length + 1)).toBe(1);
    expect(columnIn(base, filter, 3)).toBeNull();
    expect(columnIn('', filter, 8)).toBe(8);
    expect(columnIn('', filter, 9)).toBeNull();
  });
  it('counts bytes of UTF-8, as kymo does', () => {
    expect(splitAt('table = "éé" AND foo = 3', 20)).toEqual(['table = "éé" AND ', 'f', 'oo = 3']);
    expect(splitAt('a😀b', 3)).toEqual(['a', '😀', 'b']);
    expect(splitAt('ab', 3)).toEqual(['ab', '', '']);
  });
});

describe('two filters', () => {
  it('are joined where expressions are', () => {
    expect(both('a = 1', 'b = 2 OR c = 3')).toBe('(a = 1) AND (b = 2 OR c = 3)');
    expect([both('', 'b = 2'), both('a = 1', ' '), both('', '')]).toEqual(['b = 2', 'a = 1', '']);
    expect(both('k', 'a = 1 FIRST 10')).toBe('(k) AND (a = 1) FIRST 10');
    expect(both('a = 1 -- not b', 'k')).toBe('(a = 1) AND (k)');
    expect(both('k', '  -- first\n a = 1')).toBe('  -- first\n (k) AND (a = 1)');
  });
  it('join an expression with the SELECT of a whole one', () => {
    const whole = 'FILTER slow; web = port IN (80..90); SELECT web AND x > 5 ms OR y = "SELECT; FIRST 1." FIRST 100.';
    expect(both('k', whole)).toBe('FILTER slow; web = port IN (80..90); SELECT (k) AND (web AND x > 5 ms OR y = "SELECT; FIRST 1.") FIRST 100.');
    expect(both(whole, 'k')).toBe('FILTER slow; web = port IN (80..90); SELECT (web AND x > 5 ms OR y = "SELECT; FIRST 1.") AND (k) FIRST 100.');
    expect(both('k', '-- of today\nFILTER x; SELECT AFTER FIRST (a). -- end')).toBe('-- of today\nFILTER x; SELECT (k) AND (AFTER FIRST (a)).');
    expect(both('k', 'FILTER x; SELECT a MATCHES /;"SELECT -- \\/ /.')).toBe('FILTER x; SELECT (k) AND (a MATCHES /;"SELECT -- \\/ /).');
  });
  it('find the parts of what is not valid', () => {
    expect(['', 'FILTER', 'FILTER x; a = 1', 'a = "', 'FIRST 3', 'FILTER x; SELECT .'].map(text => { const {head, select, tail} = partsOf(text); return head + select + tail; })).toEqual(['', 'FILTER', 'FILTER x; a = 1', 'a = "', 'FIRST 3', 'FILTER x; SELECT .']);
  });
  it('say where an error is in the whole one', () => {
    const base = 'k', filter = 'FILTER é; SELECT aa AND bb FIRST 10.', all = both(base, filter), at = (text: string, word: string) => new TextEncoder().encode(text.slice(0, text.indexOf(word))).length + 1;
    for (const word of ['é', 'SELECT', 'aa', 'bb', 'FIRST', '10', '.'])
      expect([word, columnIn(base, filter, at(all, word))]).toEqual([word, at(filter, word)]);
    expect(columnIn(base, filter, at(all, 'k)'))).toBeNull();
  });
});

describe('a field in a filter', () => {
  it('has backquotes where its name is none', () => {
    expect(['port', 'a.b', 'a b', 'TIME', 'x.FIRST', 'sizes[0]', 'a-b.c', 'Size'].map(fieldName)).toEqual(['port', 'a.b', '`a b`', '`TIME`', 'x.`FIRST`', 'sizes[0]', '`a-b`.c', 'Size']);
  });
});

describe('columns', () => {
  const columns = [{id: 'name', title: '', key: (row: {name: string; size: number}) => row.name, show: () => ''}, {id: 'size', title: '', key: (row: {name: string; size: number}) => row.size, show: () => ''}];
  const rows = [{name: 'b10', size: 2}, {name: 'b9', size: NaN}, {name: 'a', size: 5}];
  it('sort numbers by size and names by number, both ways', () => {
    expect(sorted(rows, columns, 'name').map(row => row.name)).toEqual(['a', 'b9', 'b10']);
    expect(sorted(rows, columns, '-size').map(row => row.size)).toEqual([5, 2, NaN]);
    expect(sorted(rows, columns, 'size').map(row => row.size)).toEqual([2, 5, NaN]);
  });
  it('leave the rows as they are if there is no such column', () => expect(sorted(rows, columns, 'gone')).toEqual(rows));
});

describe('bars', () => {
  it('have no gaps on the axis', () => {
    expect(filled([{low: 16, high: 32, count: 1}, {low: 2, high: 4, count: 5}])).toEqual([{low: 2, high: 4, count: 5}, {low: 4, high: 8, count: 0}, {low: 8, high: 16, count: 0}, {low: 16, high: 32, count: 1}]);
  });
  it('keep values below zero and the one of zero', () => {
    const list = [{low: -3, high: -1, count: 1}, {low: -1, high: 0, count: 2}, {low: 0, high: 2, count: 3}, {low: 2, high: 4, count: 1}];
    expect(filled(list)).toEqual(list);
  });
  it('place a value by its logarithm', () => {
    const list = [{low: 2, high: 4, count: 1}, {low: 4, high: 16, count: 1}];
    expect(placeOnBars(list, 8)).toBeCloseTo(1.5);
    expect(placeOnBars(list, 16)).toBe(2);
    expect(placeOnBars(list, 1)).toBeNaN();
  });
  it('become a filter', () => expect(barFilter('a b', {low: 4, high: 8})).toBe('`a b` >= 4 AND `a b` <= 7'));
  it('of floating-point numbers become one with both ends of their own', () => {
    expect([{low: 0, high: 0}, {low: 0.25, high: 0.5}, {low: -2, high: -1}, {low: 2 ** 1023, high: Number.MAX_VALUE}, {low: -Number.MAX_VALUE, high: -(2 ** 1023)}].map(bar => barFilter('x', bar, true)))
      .toEqual(['x = 0', 'x >= 0.25 AND x < 0.5', 'x >= -2 AND x < -1', 'x >= 8.98846567431158e+307 AND x / 2 < 8.98846567431158e+307', 'x / 2 >= -8.98846567431158e+307 AND x < -8.98846567431158e+307']);
    const {buckets, ...rest} = floatDistribution([0, -0, 1, 1.5, 0.25, -1, -1.5, NaN, Infinity, -Infinity]);
    expect(rest).toEqual({isFloat: true, count: 7, least: -1.5, most: 1.5, mean: expect.closeTo(0.25 / 7), notNumbers: 1, infinite: 2});
    expect(buckets).toEqual([{low: -2, high: -1, count: 1}, {low: -1, high: -0.5, count: 1}, {low: 0, high: 0, count: 2}, {low: 0.25, high: 0.5, count: 1}, {low: 1, high: 2, count: 2}]);
  });
  it('have whole numbers as limits, as large as they may be', () => {
    const text = (low: number, high: number) => { const limits = limitsOf({low, high}); return `${limits.low} ${limits.high}`; };
    expect([text(0, 2), text(-1, 0), text(-3, -1), text(-15, -7)]).toEqual(['0 1', '-1 -1', '-3 -2', '-15 -8']);
    expect(text(2 ** 60, 2 ** 61)).toBe('1152921504606846976 2305843009213693951');
    expect(text(2 ** 62, Number('9223372036854775808'))).toBe('4611686018427387904 9223372036854775807');
    expect(text(Number('-2305843009213693951'), Number('-1152921504606846975'))).toBe('-2305843009213693951 -1152921504606846976');
    expect(text(Number('-18446744073709551614'), Number('-9223372036854775807'))).toBe('-9223372036854775808 -9223372036854775808');
  });
});

describe('latency', () => {
  const kind = (name: string, edge: Kind['edge'], i: number): Kind => ({kind: i, name, events: 1, edge});
  it('finds the kinds at which spans begin and end', () => {
    const kinds = [kind('db:query_begin', 'begins', 0), kind('db:query_end', 'ends', 1), kind('syscall_entry_read', 'begins', 2), kind('syscall_exit_read', 'ends', 3), kind('net:rx', 'plain', 4)];
    expect(edgesOf('db:query', kinds)).toEqual({from: 'db:query_begin', to: 'db:query_end'});
    expect(edgesOf('syscall_read', kinds)).toEqual({from: 'syscall_entry_read', to: 'syscall_exit_read'});
    expect(edgesOf('net:rx', kinds)).toBeNull();
  });
});

describe('compare', () => {
  it('shows changes as parts of the first trace', () => {
    expect([[2, 3], [4, 1], [0, 5], [5, 0], [0, 0], [1, 20], [3, 3]].map(pair => changeText(pair as [number, number]))).toEqual(['+50.0 %', '−75.0 %', 'new', 'gone', '=', '×20.0', '=']);
    expect(change([0, 0])).toBe(0);
  });
});

describe('texts of a trace', () => {
  it('show what would be done instead of being seen', () => {
    expect(visible('\u202egnp.exe \x1b[31m\x07 a\tb\n\u2066x\u2069')).toBe('\\u202egnp.exe \\x1b[31m\\x07 a\tb\n\\u2066x\\u2069');
    expect(visible('שלום <b> 日本 é')).toBe('שלום <b> 日本 é');
  });
});

describe('anomaly', () => {
  it('takes thresholds above 0 and up to 10', () => {
    expect(['', '2.5', '10', '0', '-1', '10.1', 'x', '0.01'].map(thresholdOf)).toEqual([2.5, 2.5, 10, null, null, null, null, 0.01]);
  });
});
