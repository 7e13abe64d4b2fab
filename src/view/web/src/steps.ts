// SPDX-License-Identifier: MIT
// Steps of a field by which events are coloured: where each begins, and its words in the legend.
import {value} from './format';

export interface Range {
  least: number;
  most: number;
}

/** As many as a ramp has colours (colors.ts), so that neighbours are told apart. */
export const STEPS = 6;
const WIDE = 100; // times as large as the least one: then steps grow by a factor

const words = (number: number) => Number.isSafeInteger(number) ? String(number) : value(number);
const finite = (number: number) => Math.max(-Number.MAX_VALUE / 4, Math.min(Number.MAX_VALUE / 4, number));
/** Three digits of a step are enough. */
function rounded(number: number, step: number, isWhole: boolean): number {
  const digit = 10 ** (Math.floor(Math.log10(step)) - 1);
  return isWhole ? Math.ceil(number / Math.max(1, digit) - 1e-9) * Math.max(1, digit) : Number((Math.round(number / digit) * digit).toPrecision(12));
}

/** Where each step begins, the least first; a value belongs to the last step that does not begin above it. */
export function stepsOf(range: Range): number[] {
  const least = finite(range.least), most = finite(range.most), width = most - least, isWhole = Number.isInteger(least) && Number.isInteger(most);
  if (width === 0)
    return [least];
  if (isWhole && width < STEPS)
    return Array.from({length: width + 1}, (_, i) => least + i);
  const low = Math.max(1, least), isWide = least >= 0 && most >= WIDE * low;
  const edges = Array.from({length: STEPS - 1}, (_, i) => isWide ? low * (most / low) ** ((i + 1) / STEPS) : least + width / STEPS * (i + 1));
  return [least, ...edges.map(edge => rounded(edge, isWide ? edge : width / STEPS, isWhole))].filter((edge, i, all) => i === 0 || edge > all[i - 1] && edge <= most);
}

export function stepOf(steps: readonly number[], number: number): number {
  let step = 0;
  while (step + 1 < steps.length && steps[step + 1] <= number)
    step++;
  return step;
}

/** "0 – 9": the values of a step. */
export function stepText(steps: readonly number[], step: number, {most}: Range): string {
  const from = steps[step], next = steps[step + 1], isWhole = steps.every(Number.isInteger) && Number.isInteger(most);
  if (next === undefined)
    return from === most ? words(from) : `${words(from)} – ${words(most)}`;
  return !isWhole ? `${words(from)} – below ${words(next)}` : next - 1 === from ? words(from) : `${words(from)} – ${words(next - 1)}`;
}
