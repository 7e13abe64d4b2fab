// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import type {Picture, ValuePicture} from '../src/protocol';
import {ReplyError, incompleteness, lateness, parseEvent, parseFilter, parseLatency, parseMark, parsePicture, parseRows, parseState, parseTrack, time, writePicture} from '../src/protocol';

const cell = (pixel: number, count: number, longest: number, kind: number) => ({pixel, doubles: [count, longest], words: [kind, 1 << kind, 0]});

describe('binary replies', () => {
  it('become arrays without a copy', () => {
    for (const rows of [[[cell(0, 3, 10, 1), cell(7, 1, 0.5, 2)], [], [cell(9, 2 ** 40, 2 ** 60, 0)]], [[], []], [[]], [] as ReturnType<typeof cell>[][]]) {
      const bytes = writePicture(0, 77, 10, rows), picture = parsePicture(bytes) as Picture;
      expect(picture).toMatchObject({type: 'tile', generation: 77, rows: rows.length, pixels: 10});
      expect(picture.count.buffer).toBe(bytes);
      const flat = rows.flat();
      expect([...picture.pixel]).toEqual(flat.map(item => item.pixel));
      expect([...picture.count]).toEqual(flat.map(item => item.doubles[0]));
      expect([...picture.longest]).toEqual(flat.map(item => item.doubles[1]));
      expect([...picture.kind]).toEqual(flat.map(item => item.words[0]));
      expect([...picture.kindsLow]).toEqual(flat.map(item => item.words[1]));
      expect([...picture.start]).toEqual(rows.reduce((ends, row) => [...ends, ends[ends.length - 1] + row.length], [0]));
    }
  });
  it('of values have four doubles', () => {
    for (const cells of [1, 2, 3]) {
      const row = Array.from({length: cells}, (_, i) => ({pixel: i, doubles: [1, -i, i, 0.5], words: []}));
      const picture = parsePicture(writePicture(2, 1, 4, [row], {least: -3, most: cells})) as ValuePicture;
      expect(picture.range).toEqual({least: -3, most: cells});
      expect(picture.type).toBe('values');
      expect([...picture.least]).toEqual(row.map((_, i) => -i));
      expect([...picture.last]).toEqual(row.map(() => 0.5));
    }
  });
  it('of texts have these after them', () => {
    for (const texts of [[], [{text: 'é "<b>', isCut: false, events: 3}, {text: '', isCut: true, events: 2 ** 40}]])
      for (const cells of [0, 1, 2]) {
        const row = Array.from({length: cells}, (_, i) => ({pixel: i, doubles: [1, i, i, i], words: []})), bytes = writePicture(2, 1, 4, [row], {least: 0, most: 1}, texts), picture = parsePicture(bytes) as ValuePicture;
        expect([picture.type, picture.texts, picture.range, [...picture.most]]).toEqual(['values', texts, {least: 0, most: 1}, row.map((_, i) => i)]);
        for (const length of [0, 1, 0x7fffffff, 0xffffffff, bytes.byteLength - 4]) {
          const spoilt = bytes.slice(0);
          new DataView(spoilt).setUint32(bytes.byteLength - 4, length, true);
          expect(() => parsePicture(spoilt), String(length)).toThrow(ReplyError);
        }
        for (let size = 0; size < bytes.byteLength; size += 4)
          expect(() => parsePicture(bytes.slice(0, size)), `${size} bytes`).toThrow(ReplyError);
      }
    expect((parsePicture(writePicture(2, 1, 4, [[]])) as ValuePicture).texts).toBeNull();
  });
  it('that lie are refused', () => {
    const good = () => writePicture(1, 1, 10, [[cell(0, 1, 1, 1), cell(5, 1, 1, 1)], [cell(3, 1, 1, 1)]]), words = (bytes: ArrayBuffer) => new Uint32Array(bytes);
    const spoil = (change: (words: Uint32Array) => void) => { const bytes = good(); change(words(bytes)); return () => parsePicture(bytes); };
    expect(parsePicture(good()).rows).toBe(2);
    expect(spoil(w => { w[0] = 1; })).toThrow(ReplyError);
    expect(spoil(w => { w[2] = 0xffffffff; })).toThrow(ReplyError);
    expect(spoil(w => { w[3] = 2; })).toThrow(ReplyError);
    expect(spoil(w => { w[3] = 0x7fffffff; })).toThrow(ReplyError);
    expect(spoil(w => { w[4] = 3; })).toThrow(/pixel 5 of 3/);
    expect(spoil(w => { w[5] = 3; })).toThrow(ReplyError);
    expect(spoil(w => { w[7] = 9; })).toThrow(/ends before it begins/);
    expect(spoil(w => { w[6] = 1; })).toThrow(ReplyError);
    for (let size = 0; size < good().byteLength; size += 4)
      expect(() => parsePicture(good().slice(0, size)), `${size} bytes`).toThrow(ReplyError);
  });
});

describe('JSON replies', () => {
  it('keep 64 bits of times', () => {
    expect(time('18446744073709551615')).toBe(18446744073709551615n);
    expect(time('-9223372036854775808')).toBe(-9223372036854775808n);
    expect(time('x')).toBe(0n);
    expect(parseMark({time: '9007199254740993', number: '5', track: 1, kind: 2})).toEqual({time: 9007199254740993n, number: 5, track: 1, kind: 2});
    expect(parseMark(null)).toBeNull();
  });
  it('have a value for what is missing', () => {
    expect(parseState({})).toMatchObject({events: 0, hasTimes: true, isComplete: false, progress: null, error: null, compare: null, trackBy: 'thread', files: []});
    expect(parseState({events: '50000000', progress: 0.5, compare: {title: 'b'}})).toMatchObject({events: 50_000_000, progress: 0.5, compare: {title: 'b'}});
    expect(parseTrack({track: 3, process: null}).process).toBeNull();
    expect(parseEvent('nonsense')).toMatchObject({number: 0, fields: []});
    expect(parseFilter({state: 'failed', id: null, error: {message: 'E1', column: 4}})).toMatchObject({state: 'failed', id: '', error: {message: 'E1', column: 4}});
    expect(parseLatency({state: 'running', done: 0.25})).toMatchObject({state: 'running', done: 0.25, count: 0, worst: []});
  });
  it('say what the rings have overwritten', () => {
    const row = {time: '7', number: '1', track: 0, kind: 0};
    expect(parseRows({first: '0', total: '2', rows: [{...row, text: null}, {...row, text: 'a = 1'}]}).rows.map(({text}) => text)).toEqual([null, 'a = 1']);
    expect([parseEvent({...row, fields: [], isGone: true}).isGone, parseEvent({...row, fields: []}).isGone]).toEqual([true, false]);
    expect([parseState({overwrittenBefore: '5'}).overwrittenBefore, parseState({overwrittenBefore: null}).overwrittenBefore]).toEqual([5n, null]);
    expect([parseFilter({state: 'done', from: '9007199254740993'}).from, parseFilter({state: 'done', from: null}).from]).toEqual([9007199254740993n, null]);
    expect(incompleteness('+1.5')).toBe('Events before +1.5 were overwritten in the rings: this result does not have them all.');
  });
  it('say of how many events an earlier result is', () => {
    expect(lateness(parseFilter({state: 'done', id: 1, indexed: '100', error: null}))).toBeNull();
    expect(lateness(parseFilter({state: 'done', id: 1, indexed: '100', error: null, renewal: 'too many open files'})))
      .toBe('This result is of the first 100 events, and cannot be made anew: too many open files');
  });
});
