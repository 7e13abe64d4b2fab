// SPDX-License-Identifier: MIT
// Colours: twelve hues that people with red-green blindness tell apart, chosen by a stable hash of a name, so that the
// same name has the same colour in every trace. Colour is never the only sign: names, heights and hatches say the same.

export type Rgb = readonly [number, number, number];

export interface Palette {
  background: Rgb;
  text: Rgb;
  muted: Rgb; // of what a filter dims
  plain: Rgb; // without colours
  selected: Rgb; // of selected tracks
  loss: Rgb;
  ramp: readonly Rgb[]; // of the values of a field, from the least to the most: lighter or darker step by step
  unvalued: Rgb; // of events without the field
  hues: readonly Rgb[];
}

const hex = (text: string): Rgb => [parseInt(text.slice(1, 3), 16), parseInt(text.slice(3, 5), 16), parseInt(text.slice(5, 7), 16)];

export const light: Palette = {
  background: hex('#ffffff'), text: hex('#16191d'), muted: hex('#c3c8ce'), plain: hex('#3d4650'), selected: hex('#c8102e'), loss: hex('#b3261e'), ramp: ['#21a582', '#238c8c', '#2e6e8e', '#3c4f89', '#472a79', '#440154'].map(hex), unvalued: hex('#878f97'),
  hues: ['#0060aa', '#d66208', '#0d8061', '#b1178f', '#6d9bef', '#8b5a07', '#5525a8', '#45b55d', '#9e0234', '#388dac', '#e292c1', '#515b63'].map(hex),
};
export const dark: Palette = {
  background: hex('#14171b'), text: hex('#e9ecef'), muted: hex('#3d444c'), plain: hex('#b9c1ca'), selected: hex('#ff5c6c'), loss: hex('#ff7b6b'), ramp: ['#2e6e8e', '#228e8c', '#29ad80', '#5fc860', '#b0dc2f', '#fde725'].map(hex), unvalued: hex('#6b747d'),
  hues: ['#2c9fd1', '#ed955a', '#43c184', '#f563c4', '#9ebfff', '#e6b811', '#b68bff', '#8be277', '#f95253', '#51edff', '#ffc6d5', '#bdb5b9'].map(hex),
};

/** FNV-1a of the name in UTF-16 units: the same on every machine. */
export function hash(name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) {
    h ^= name.charCodeAt(i);
    h = Math.imul(h, 0x01000193);
  }
  h ^= h >>> 15;
  h = Math.imul(h, 0x2c1b3c6d);
  return (h ^ h >>> 12) >>> 0;
}

export function hueOf(name: string, palette: Palette): Rgb {
  return palette.hues[hash(name) % palette.hues.length];
}

/** A pixel of an ImageData seen as Uint32 on a little-endian machine. */
export function pixel([red, green, blue]: Rgb): number {
  return (0xff000000 | blue << 16 | green << 8 | red) >>> 0;
}
export function css([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}
export function toHex(rgb: Rgb): string {
  return '#' + rgb.map(part => part.toString(16).padStart(2, '0')).join('');
}
/** part 0: a, 1: b. */
export function mix(a: Rgb, b: Rgb, part: number): Rgb {
  return [0, 1, 2].map(i => Math.round(a[i] + (b[i] - a[i]) * part)) as unknown as Rgb;
}

export const SHADES = 16;
/** Shades of a colour, from sparse to dense. */
export function shades(colour: Rgb, background: Rgb): Uint32Array {
  return Uint32Array.from({length: SHADES}, (_, i) => pixel(mix(background, colour, 0.5 + 0.5 * (i + 1) / SHADES)));
}

/** A ramp of fewer steps, from its first colour to its last. */
export function rampOf(ramp: readonly Rgb[], steps: number): Rgb[] {
  return Array.from({length: steps}, (_, i) => ramp[steps > 1 ? Math.round(i * (ramp.length - 1) / (steps - 1)) : 0]);
}

/** Relative luminance and contrast, as in WCAG 2. */
export function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map(part => { const x = part / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
/** Black or white, whichever is better read on the colour. */
export function textOn(rgb: Rgb): Rgb {
  return contrast(rgb, [0, 0, 0]) >= contrast(rgb, [255, 255, 255]) ? [0, 0, 0] : [255, 255, 255];
}
