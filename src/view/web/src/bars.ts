// SPDX-License-Identifier: MIT
// Histograms: one bar for each power of two. A bar is a button; the arrow keys go from one to the next.
import {element, set} from './dom';
import {count as countText, countShort, plural} from './format';
import type {Bucket} from './protocol';

const BARS_MAX = 140;

/** The buckets with the empty ones between them, so that the axis has no gaps. */
export function filled(buckets: readonly Bucket[]): Bucket[] {
  const list = [...buckets].sort((a, b) => a.low - b.low), result: Bucket[] = [];
  list.forEach((bucket, i) => {
    if (i > 0)
      for (let low = list[i - 1].high; low > 0 && low < bucket.low && result.length < BARS_MAX; low *= 2)
        result.push({low, high: Math.min(low * 2, bucket.low), count: 0});
    result.push(bucket);
  });
  return result;
}

/** The place of a value on the axis, in bars; NaN: it is on none. Inside of a bar the axis is logarithmic. */
export function placeOnBars(bars: readonly Bucket[], value: number): number {
  const at = bars.findIndex(bar => value >= bar.low && value < bar.high), bar = bars[at] ?? (bars.length && value === bars[bars.length - 1].high ? bars[bars.length - 1] : undefined);
  if (!bar)
    return NaN;
  if (at < 0)
    return bars.length;
  return at + (bar.low > 0 ? Math.log(value / bar.low) / Math.log(bar.high / bar.low) : (value - bar.low) / (bar.high - bar.low));
}

export interface BarsOptions {
  label: string;
  /** A value as a text: of the axis. */
  show(value: number): string;
  /** Lines at values: percentiles. */
  marks?: readonly {name: string; value: number}[];
  choose?(bar: Bucket): void;
  /** The bar that is chosen now. */
  isChosen?(bar: Bucket): boolean;
  /** What choosing does, for tool tips. */
  does?: string;
}

export function bars(buckets: readonly Bucket[], options: BarsOptions): HTMLElement {
  const all = filled(buckets), most = Math.max(1, ...all.map(bar => bar.count)), columns = element('div', {class: 'bars', role: 'group', 'aria-label': options.label});
  const every = Math.max(1, Math.ceil(all.length / 16)), buttons: HTMLElement[] = [];
  all.forEach((bar, i) => {
    const range = `${options.show(bar.low)} to ${options.show(bar.high)}`, fillOf = element('span', {class: 'fill'});
    fillOf.style.height = `${bar.count ? Math.max(1.5, 100 * bar.count / most) : 0}%`;
    const action = bar.count && options.choose ? () => options.choose?.(bar) : undefined;
    const column = element('button', {type: 'button', class: 'bar-column', tabindex: -1, 'data-low': bar.low, 'data-count': bar.count, title: `${range}: ${plural(bar.count, 'value')}${action && options.does ? `\n${options.does}` : ''}`, ...action && {onclick: action}, ...action && options.isChosen && {'aria-pressed': String(options.isChosen(bar))}},
      element('span', {class: 'hidden-visually'}, `${range}: ${countText(bar.count)}`), element('span', {class: 'bar-count', 'aria-hidden': 'true'}, bar.count ? countShort(bar.count) : ''), element('span', {class: 'bar-room'}, fillOf),
      element('span', {class: 'bar-name', 'aria-hidden': 'true'}, i % every === 0 ? options.show(bar.low) : ''));
    buttons.push(column);
  });
  columns.append(...buttons);
  const focus = (at: number) => buttons.forEach((item, i) => set(item, {tabindex: i === at ? 0 : -1}));
  focus(Math.max(0, all.findIndex(bar => bar.count === most)));
  columns.addEventListener('keydown', event => {
    const at = buttons.indexOf(document.activeElement as HTMLElement), to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1}[event.key];
    if (at < 0 || to === undefined)
      return;
    event.preventDefault();
    event.stopPropagation();
    const next = Math.max(0, Math.min(buttons.length - 1, to));
    focus(next);
    buttons[next].focus();
  });
  let lastPlace = -Infinity, level = 0;
  for (const {name, value} of options.marks ?? []) {
    const place = placeOnBars(all, value);
    if (Number.isNaN(place))
      continue;
    level = place - lastPlace < all.length / 14 ? (level + 1) % 3 : 0;
    lastPlace = place;
    const line = element('span', {class: `bar-mark level-${level}${place > 0.93 * all.length ? ' left' : ''}`, 'aria-hidden': 'true'}, element('span', {}, name));
    line.style.left = `${100 * place / all.length}%`;
    columns.append(line);
  }
  return columns;
}
