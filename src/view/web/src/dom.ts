// SPDX-License-Identifier: MIT
// Elements without HTML strings: names of traces are untrusted and only ever become text.

type Attributes = {[name: string]: string | number | boolean | null | undefined | ((event: never) => void)};
export type Child = Node | string | null | undefined | false;

/**
 * A text with those characters written out that would do something instead of being seen: controls, as kymo cat writes them
 * (\\x1b), and marks that turn the direction of what follows (\\u202e). Line feeds and tabs stay.
 */
export function visible(text: string): string {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, one => {
    const code = one.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
  });
}

/** element('button', {class: 'x', 'aria-label': 'Close', onclick: f}, 'text', …) */
export function element<K extends keyof HTMLElementTagNameMap>(name: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const result = document.createElement(name);
  set(result, attributes);
  result.append(...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false).map(child => typeof child === 'string' ? visible(child) : child));
  return result;
}

/** Attributes that are read by people. */
const SEEN = new Set(['title', 'aria-label', 'placeholder']);

export function set(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes))
    if (typeof value === 'function')
      target.addEventListener(name.replace(/^on/, ''), value as EventListener);
    else if (value === null || value === undefined || value === false)
      target.removeAttribute(name);
    else
      target.setAttribute(name, value === true ? '' : SEEN.has(name) ? visible(String(value)) : String(value));
}

/** Sets the text if it is another one: the document is not laid out again for nothing. */
export function setText(target: Element, text: string): void {
  const shown = visible(text);
  if (target.textContent !== shown)
    target.textContent = shown;
}

export function button(label: string, action: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return element('button', {type: 'button', onclick: action, ...attributes}, label);
}

/** Calls `work` in the next frame, once however often it is asked for. */
export function inNextFrame(work: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked)
      return;
    isAsked = true;
    requestAnimationFrame(() => { isAsked = false; work(); });
  };
}

export function save(name: string, blob: Blob): void {
  const link = element('a', {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A modal dialog; Escape and the button close it. */
export function dialog(title: string, ...content: Child[]): HTMLDialogElement {
  const heading = element('h2', {id: `dialog-${Math.random().toString(36).slice(2)}`}, title);
  const result = element('dialog', {'aria-labelledby': heading.id}, element('div', {class: 'dialog-head'}, heading, button('Close', () => result.close(), {class: 'quiet'})), ...content);
  const before = document.activeElement;
  result.addEventListener('close', () => { result.remove(); if (before instanceof HTMLElement) before.focus(); });
  document.body.append(result);
  result.showModal();
  return result;
}
