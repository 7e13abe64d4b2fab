// SPDX-License-Identifier: MIT
// Light, dark and high contrast: as the system has it, unless the reader chose otherwise.
import type {Palette, Rgb} from './colors';
import {dark, light, luminance} from './colors';
import type {State} from './state';

const prefersDark = matchMedia('(prefers-color-scheme: dark)'), prefersContrast = matchMedia('(prefers-contrast: more), (forced-colors: active)'), isForced = matchMedia('(forced-colors: active)');

export function isDark(theme: State['theme']): boolean {
  return theme === 'dark' || theme === 'auto' && prefersDark.matches;
}

/** A colour of the system, by its name in CSS. */
function systemColour(name: string): Rgb {
  const probe = document.createElement('span');
  probe.style.cssText = `color: ${name}; forced-color-adjust: none`;
  document.body.append(probe);
  const [red = 0, green = 0, blue = 0] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
  probe.remove();
  return [red, green, blue];
}
/** Where the reader's own colours are in force, the canvas has them too; hues are those that are seen on the background. */
function forcedPalette(): Palette {
  const background = systemColour('Canvas'), text = systemColour('CanvasText');
  return {...luminance(background) < 0.5 ? dark : light, background, text, selected: systemColour('Highlight')};
}

/** Sets the theme of the document, and returns the colours of the canvas. */
export function applyTheme(theme: State['theme']): Palette {
  const isDarkNow = isDark(theme), palette = isDarkNow ? dark : light;
  document.documentElement.dataset.theme = isDarkNow ? 'dark' : 'light';
  if (isForced.matches)
    return forcedPalette();
  if (!prefersContrast.matches)
    return palette;
  const black: Rgb = [0, 0, 0], white: Rgb = [255, 255, 255];
  return {...palette, background: isDarkNow ? black : white, text: isDarkNow ? white : black};
}

export function onThemeChange(listener: () => void): void {
  prefersDark.addEventListener('change', listener);
  prefersContrast.addEventListener('change', listener);
  isForced.addEventListener('change', listener);
}
