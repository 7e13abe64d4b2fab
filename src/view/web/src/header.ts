// SPDX-License-Identifier: MIT
// The bar at the top: what is open, search and filter, menus.
import type {App} from './app';
import {button, element, set, setText} from './dom';
import {filterBar} from './filterbar';
import {filtered, quote} from './filters';
import {count, countShort, duration} from './format';
import type {Group} from './keys';
import {COMMANDS, spelled} from './keys';

type SearchMode = 'filter' | 'name' | 'text';

export interface Header {
  root: HTMLElement;
  focusSearch(): void;
  update(): void;
}

/** What is typed, as a filter. */
export function typedFilter(mode: SearchMode, typed: string, textFields: readonly string[]): string {
  const wanted = typed.trim();
  if (!wanted || mode === 'filter')
    return wanted;
  const like = quote(`*${wanted.replace(/[*?[\]]/g, '[$&]')}*`);
  if (mode === 'name')
    return `EVENT LIKE ${like}`;
  return [`EVENT LIKE ${like}`, ...textFields.map(name => `${/^[A-Za-z_][\w.]*$/.test(name) ? name : '`' + name + '`'} LIKE ${like}`)].join(' OR ');
}

export function header(app: App): Header {
  const title = element('span', {class: 'title'}), facts = element('span', {class: 'facts'}), progress = element('progress', {max: 1, 'aria-label': 'Indexing'});
  const mode = element('select', {'aria-label': 'How the text is searched'},
    element('option', {value: 'filter'}, 'Filter'), element('option', {value: 'name'}, 'Name'), element('option', {value: 'text'}, 'Text'));
  const input = element('input', {type: 'search', class: 'search', placeholder: 'Search or filter:  EVENT = "net:rx" AND port < 1024', 'aria-label': 'Search or filter', spellcheck: 'false', autocomplete: 'off', 'aria-describedby': 'filter-state'});
  const state = element('span', {id: 'filter-state', class: 'filter-state', role: 'status'});
  const hides = button('Dim', () => app.run('filter-mode'), {class: 'quiet'});
  const back = button('→', () => app.run('direction'), {class: 'quiet', title: 'Direction of search and chase (b)'});
  let written = '';
  const apply = () => {
    const texts = app.model.fields.filter(field => !field.isNumeric).map(field => field.name);
    written = typedFilter(mode.value as SearchMode, input.value, texts);
    app.store.update({filter: written}, 'filter');
  };
  let timer = 0;
  input.addEventListener('input', () => { clearTimeout(timer); timer = window.setTimeout(apply, 350); });
  input.addEventListener('keydown', event => {
    if (event.key === 'Enter') {
      clearTimeout(timer);
      apply();
      app.run(event.shiftKey ? 'previous' : 'next');
    } else if (event.key === 'Escape') {
      if (input.value) { input.value = ''; apply(); } else input.blur();
    } else
      return;
    event.preventDefault();
    event.stopPropagation();
  });
  mode.addEventListener('change', apply);

  const search = element('div', {class: 'search-box', role: 'search'}, mode, input, state, hides,
    button('‹', () => app.run('previous'), {class: 'quiet', 'aria-label': 'Match before', title: 'Next match against the direction (N)'}),
    button('›', () => app.run('next'), {class: 'quiet', 'aria-label': 'Next match', title: 'Next match in the direction (n)'}), back);
  const menus = element('nav', {class: 'menus', 'aria-label': 'Menus'},
    ...(['File', 'Time', 'Tracks', 'Events', 'Search', 'Snapshots', 'View'] as Group[]).map(group => menu(app, group)),
    button('Share', () => app.run('share'), {title: 'Copy the link to this view (y)'}),
    button('?', () => app.run('help'), {'aria-label': 'Help: keys and gestures', title: 'Keys and gestures (?)'}));
  const bar = filterBar(app, place => { input.focus(); input.setSelectionRange(place, place + 1); });
  const root = element('header', {'data-region': 'header'}, element('div', {class: 'what'}, title, facts, progress), search, menus, bar.root);

  const update = () => {
    const {server, filter, base} = app.model, page = app.store.state;
    if (server) {
      setText(title, server.title || 'kymo view');
      const span = server.end - server.begin;
      setText(facts, `${countShort(server.events)} events${server.hasTimes && server.events ? ` · ${duration(Number(span), 4)}` : ''}${server.isLive ? ' · live' : ''}`);
      progress.hidden = server.isComplete || server.isLive;
      if (server.progress === null) progress.removeAttribute('value'); else progress.value = server.progress;
      document.title = server.title ? `${server.title} – kymo view` : 'kymo view';
    }
    if (page.filter !== written && document.activeElement !== input) {
      written = page.filter;
      mode.value = 'filter';
      input.value = page.filter;
    }
    const active = page.filter ? filter : base;
    setText(state, !active ? '' : active.error ? 'not valid'
      : active.state === 'running' ? `${count(active.count)} … ${active.done === null ? '' : Math.floor(active.done * 100) + ' %'}` : `${count(active.count)}${active.late === null ? '' : ' (earlier)'}`);
    set(state, {class: active?.error ? 'filter-state error' : 'filter-state', title: active?.error ? active.error.message : active?.late ? active.late : active ? filtered(server?.command ?? '', active.text) : null});
    set(input, {'aria-invalid': active?.error ? 'true' : null});
    bar.update();
    setText(hides, page.hides ? 'Hide' : 'Dim');
    set(hides, {'aria-pressed': String(page.hides), 'aria-label': `${page.hides ? 'Hide' : 'Dim'} what the filter does not select`, title: page.hides ? 'Others are hidden (\\)' : 'Others are dimmed (\\)'});
    setText(back, page.back ? '←' : '→');
    set(back, {'aria-label': page.back ? 'Direction: backward' : 'Direction: forward'});
  };
  return {root, update, focusSearch() { input.focus(); input.select(); }};
}

function menu(app: App, group: Group): HTMLElement {
  const id = `menu-${group}`, items = COMMANDS.filter(item => item.group === group).map(item =>
    element('button', {type: 'button', role: 'menuitem', tabindex: -1, onclick: () => { close(true); app.run(item.id); }},
      element('span', {}, item.title), element('kbd', {}, item.keys[0] ? spelled(item.keys[0]) : '')));
  const list = element('div', {id, role: 'menu', class: 'menu', 'aria-label': group, hidden: true}, ...items);
  const opener = button(group, () => list.hidden ? open() : close(false), {'aria-haspopup': 'menu', 'aria-expanded': 'false', 'aria-controls': id});
  const root = element('div', {class: 'menu-root'}, opener, list);
  const outside = (event: Event) => { if (!root.contains(event.target as Node)) close(false); };
  const open = () => {
    list.hidden = false;
    set(opener, {'aria-expanded': 'true'});
    document.addEventListener('pointerdown', outside);
    items[0].focus();
  };
  const close = (isBack: boolean) => {
    list.hidden = true;
    set(opener, {'aria-expanded': 'false'});
    document.removeEventListener('pointerdown', outside);
    if (isBack)
      opener.focus();
  };
  list.addEventListener('keydown', event => {
    const at = items.indexOf(document.activeElement as HTMLButtonElement);
    const to = {ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1}[event.key];
    event.stopPropagation();
    if (event.key === 'Escape' || event.key === 'Tab')
      close(event.key === 'Escape');
    else if (to !== undefined)
      items[to % items.length].focus();
    else
      return;
    if (event.key !== 'Tab')
      event.preventDefault();
  });
  root.addEventListener('focusout', event => { if (!list.hidden && event.relatedTarget && !root.contains(event.relatedTarget as Node)) close(false); });
  opener.addEventListener('keydown', event => {
    if (event.key === 'ArrowDown') { event.preventDefault(); event.stopPropagation(); open(); }
  });
  return root;
}
