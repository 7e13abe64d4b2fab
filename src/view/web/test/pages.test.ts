// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import {PAGE_ROWS, RowPages} from '../src/pages';
import type {Row, Rows} from '../src/protocol';

const row = (number: number): Row => ({number, time: BigInt(number), track: 0, kind: 0, text: `event ${number}`});

function setup(total: number) {
  const asked: number[] = [], waiting: (() => void)[] = [], came: number[] = [], failed: unknown[] = [], aborted: number[] = [];
  const source = {total, fails: false, shift: 0};
  const pages = new RowPages((first, count, signal) => {
    asked.push(first);
    signal.addEventListener('abort', () => aborted.push(first));
    return new Promise<Rows>((resolve, reject) => waiting.push(() => source.fails ? reject(new Error('no')) : resolve({first, total: source.total, rows: Array.from({length: Math.max(0, Math.min(count, source.total - first))}, (_, i) => row(first + i + 1 + source.shift))})));
  }, all => came.push(all), error => failed.push(error));
  const answer = async () => { waiting.splice(0).forEach(go => go()); await new Promise(done => setTimeout(done)); };
  return {pages, asked, aborted, came, failed, source, answer};
}

describe('pages of rows', () => {
  it('read each page in view once', async () => {
    const {pages, asked, came, answer} = setup(1000);
    pages.want(PAGE_ROWS - 5, 10);
    pages.want(PAGE_ROWS - 4, 10);
    expect(asked).toEqual([0, PAGE_ROWS]);
    expect(pages.get(PAGE_ROWS)).toBeUndefined();
    await answer();
    expect(pages.get(PAGE_ROWS)?.number).toBe(PAGE_ROWS + 1);
    expect(pages.find(PAGE_ROWS + 1)).toBe(PAGE_ROWS);
    expect(came).toEqual([1000, 1000]);
    pages.want(PAGE_ROWS - 5, 10);
    expect(asked.length).toBe(2);
  });
  it('give up pages that are out of view', async () => {
    const {pages, aborted, answer} = setup(100_000);
    pages.want(0, 10);
    pages.want(50_000, 10);
    expect(aborted).toEqual([0]);
    await answer();
    expect(pages.get(0)).toBeUndefined();
    expect(pages.get(50_000)?.number).toBe(50_001);
  });
  it('read a page that was not full again when rows have come', async () => {
    const {pages, source, answer} = setup(250);
    pages.want(0, 240);
    await answer();
    source.total = 300;
    pages.grow();
    expect([pages.get(0)?.number, pages.get(240)]).toEqual([1, undefined]);
    pages.want(240, 40);
    await answer();
    expect(pages.get(299)?.number).toBe(300);
  });
  it('read rows again that may be others, and show the earlier ones in view until then', async () => {
    const {pages, asked, source, answer} = setup(2000);
    pages.want(0, 10);
    await answer();
    pages.want(PAGE_ROWS, 10);
    await answer();
    source.shift = 7;
    pages.renew();
    expect([pages.get(0), pages.get(PAGE_ROWS)?.number]).toEqual([undefined, PAGE_ROWS + 1]);
    pages.want(PAGE_ROWS, 10);
    pages.want(PAGE_ROWS, 10);
    expect(asked).toEqual([0, PAGE_ROWS, PAGE_ROWS]);
    source.shift = 9;
    pages.renew(); // what is on its way is too old
    pages.want(PAGE_ROWS, 10);
    expect(asked.length).toBe(4);
    await answer();
    expect(pages.get(PAGE_ROWS)?.number).toBe(PAGE_ROWS + 10);
    pages.want(PAGE_ROWS, 10);
    expect(asked.length).toBe(4);
  });
  it('forget rows of another filter, also those that are on their way', async () => {
    const {pages, answer} = setup(1000);
    pages.want(0, 10);
    pages.clear();
    await answer();
    expect(pages.get(0)).toBeUndefined();
  });
  it('keep a bounded number of pages', async () => {
    const {pages, answer} = setup(1_000_000);
    for (let page = 0; page < 200; page++) {
      pages.want(page * PAGE_ROWS, 1);
      await answer();
    }
    expect(pages.get(0)).toBeUndefined();
    expect(pages.get(199 * PAGE_ROWS)).toBeDefined();
  });
  it('report what fails once, not again and again', async () => {
    const {pages, asked, failed, source, answer} = setup(1000);
    source.fails = true;
    pages.want(0, 10);
    await answer();
    pages.want(0, 10);
    expect([asked.length, failed.length]).toEqual([1, 1]);
    source.fails = false;
    pages.grow();
    pages.want(0, 10);
    await answer();
    expect(pages.get(0)?.number).toBe(1);
  });
});
