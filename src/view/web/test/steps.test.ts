// SPDX-License-Identifier: MIT
import {describe, expect, it} from 'vitest';
import {contrast, dark, light, luminance, rampOf} from '../src/colors';
import {STEPS, stepOf, stepText, stepsOf} from '../src/steps';

const texts = (least: number, most: number) => { const range = {least, most}, steps = stepsOf(range); return steps.map((_, i) => stepText(steps, i, range)); };

describe('steps of a field', () => {
  it('are the values themselves if there are few', () => {
    expect(texts(3, 3)).toEqual(['3']);
    expect(texts(0, 3)).toEqual(['0', '1', '2', '3']);
    expect(texts(-2, 2)).toEqual(['-2', '-1', '0', '1', '2']);
  });
  it('are of the same width, or grow by a factor where values differ much', () => {
    expect(stepsOf({least: 0, most: 59})).toEqual([0, 10, 20, 30, 40, 50]);
    expect(texts(0, 59)[0]).toBe('0 – 9');
    expect(stepsOf({least: 1, most: 1e6})).toEqual([1, 10, 100, 1000, 10000, 100000]);
    expect(texts(0, 0.6)[1]).toBe('0.1 – below 0.2');
    expect(texts(0, 4294967295).at(-1)).toMatch(/4294967295$/);
  });
  it('rise, have all values, and are at most as many as colours', () => {
    for (const [least, most] of [[0, 7], [5, 11], [-1e300, 1e300], [-Infinity, Infinity], [0, Infinity], [1e-9, 2e-9], [0, 1.5], [99, 10000], [2 ** 60, 2 ** 64], [-0.5, -0.25]]) {
      const steps = stepsOf({least, most});
      expect(steps.length).toBeGreaterThan(1);
      expect(steps.length).toBeLessThanOrEqual(STEPS);
      for (let i = 1; i < steps.length; i++)
        expect(steps[i]).toBeGreaterThan(steps[i - 1]);
      steps.forEach((edge, i) => expect(stepOf(steps, edge)).toBe(i));
      expect([stepOf(steps, least), stepOf(steps, most)]).toEqual([0, steps.length - 1]);
    }
  });
  it('have colours that are seen and rise or fall in brightness, so that they need no hue', () => {
    for (const palette of [light, dark]) {
      expect(palette.ramp.length).toBe(STEPS);
      for (const colour of [...palette.ramp, palette.unvalued])
        expect(contrast(colour, palette.background)).toBeGreaterThanOrEqual(3);
      for (let i = 1; i < STEPS; i++)
        expect(contrast(palette.ramp[i], palette.ramp[i - 1])).toBeGreaterThan(1.2);
      expect(Math.sign(luminance(palette.ramp[STEPS - 1]) - luminance(palette.ramp[0]))).toBe(palette === dark ? 1 : -1);
      for (let steps = 1; steps <= STEPS; steps++)
        expect(new Set(rampOf(palette.ramp, steps).map(String)).size).toBe(steps);
    }
  });
});
