// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import {HEIGHT_MAX, contentHeight, lastPlace, placeOfScroll, placeToShow, scrollOfPlace} from '../src/virtual';

const small = {total: 100, rowHeight: 20, viewHeight: 200}, large = {total: 30_000_000, rowHeight: 20, viewHeight: 210};

describe('virtual rows', () => {
  it('give a short list its true height', () => {
    expect(contentHeight(small)).toBe(2000);
    expect(placeOfScroll(140, small)).toBe(7);
    expect(scrollOfPlace(7, small)).toBe(140);
  });
  it('limit the height of a list of 30 million rows, and reach the first and the last one', () => {
    expect(contentHeight(large)).toBe(HEIGHT_MAX);
    expect(placeOfScroll(0, large)).toBe(0);
    expect(placeOfScroll(HEIGHT_MAX - large.viewHeight, large)).toBe(30_000_000 - 10.5);
    expect(placeOfScroll(1e12, large)).toBe(lastPlace(large));
  });
  it('map places to scroll positions and back', () => {
    for (const place of [0, 1, 12_345.25, 15_000_000, 29_999_980])
      expect(placeOfScroll(scrollOfPlace(place, large), large)).toBeCloseTo(place, 3);
  });
  it('do not scroll a list that is wholly in view', () => {
    const tiny = {total: 3, rowHeight: 20, viewHeight: 200};
    expect([placeOfScroll(50, tiny), scrollOfPlace(2, tiny), placeToShow(2, 0, tiny)]).toEqual([0, 0, 0]);
  });
  it('scroll no more than is needed to show a row', () => {
    expect(placeToShow(12, 10, small)).toBe(10);
    expect(placeToShow(5, 10, small)).toBe(5);
    expect(placeToShow(20, 10, small)).toBe(11);
    expect(placeToShow(99, 10, small)).toBe(90);
    expect(placeToShow(50, 10, small, 3)).toBe(44);
    expect(placeToShow(1, 10, small, 3)).toBe(0);
  });
});
