// SPDX-License-Identifier: MIT
// The picture on paper: what is printed is not the page but the SVG of the picture, in light colours, as wide as the paper.
import type {App} from './app';
import {element} from './dom';

/** Makes the sheet before the browser prints, and removes it afterwards. */
export function onPrint(app: App): void {
  const sheet = element('div', {class: 'sheet'}), paper = matchMedia('print');
  const make = () => {
    if (!app.model.server || sheet.firstChild)
      return;
    const picture = document.importNode(new DOMParser().parseFromString(app.timeline.paper(), 'image/svg+xml').documentElement, true);
    picture.setAttribute('width', '100%');
    picture.removeAttribute('height');
    sheet.append(picture);
  };
  const clear = () => sheet.replaceChildren();
  document.body.append(sheet);
  window.addEventListener('beforeprint', make);
  window.addEventListener('afterprint', clear);
  paper.addEventListener('change', event => { if (event.matches) make(); else clear(); });
}
