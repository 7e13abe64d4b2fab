// SPDX-License-Identifier: MIT
// The tabs below the timeline, and the line by which their height is changed.
import type {App} from './app';
import {element, inNextFrame, set, setText} from './dom';
import {TABS} from './tabs';
import type {TabView} from './tabs/tab';

const LEAST_HEIGHT = 60, STEP = 24;

export function tabPanel(app: App): {splitter: HTMLElement; panel: HTMLElement; update(): void} {
  const views = new Map<string, TabView>(), tablist = element('div', {role: 'tablist', 'aria-label': 'Tabs'}), bodies = element('div', {class: 'tab-bodies'});
  const parts = TABS.map(tab => {
    const badge = element('span', {class: 'badge'});
    const head = element('button', {type: 'button', role: 'tab', id: `tab-${tab.id}`, 'aria-controls': `panel-${tab.id}`, onclick: () => app.showTab(tab.id)}, tab.title, badge);
    const body = element('div', {role: 'tabpanel', id: `panel-${tab.id}`, 'aria-labelledby': head.id, tabindex: 0, hidden: true});
    return {tab, head, body, badge};
  });
  tablist.append(...parts.map(part => part.head));
  bodies.append(...parts.map(part => part.body));
  tablist.addEventListener('keydown', event => {
    const at = parts.findIndex(part => part.tab.id === app.store.state.tab), step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? parts.length - 1 : step ? (at + step + parts.length) % parts.length : -1;
    if (to < 0)
      return;
    event.preventDefault();
    event.stopPropagation();
    app.showTab(parts[to].tab.id);
    parts[to].head.focus();
  });

  let shown = '';
  const update = inNextFrame(() => {
    const wanted = parts.find(part => part.tab.id === app.store.state.tab) ?? parts[0];
    for (const {tab, head, body, badge} of parts) {
      const isShown = tab === wanted.tab;
      set(head, {'aria-selected': String(isShown), tabindex: isShown ? 0 : -1});
      body.hidden = !isShown;
      setText(badge, tab.badge?.(app) ?? '');
    }
    if (shown !== wanted.tab.id && shown)
      views.get(shown)?.hide?.();
    shown = wanted.tab.id;
    if (!views.has(shown))
      views.set(shown, wanted.tab.mount(wanted.body, app));
    views.get(shown)?.update();
  });

  const panel = element('section', {class: 'tabs', 'aria-label': 'Details', 'data-region': 'tabs'}, tablist, bodies);
  const splitter = element('div', {class: 'splitter', role: 'separator', 'aria-orientation': 'horizontal', 'aria-label': 'Height of the tabs', tabindex: 0});
  const resize = (height: number, isOwn = true) => {
    const most = Math.max(LEAST_HEIGHT, window.innerHeight - 220), rounded = Math.round(Math.max(LEAST_HEIGHT, Math.min(most, height)));
    panel.style.height = `${rounded}px`;
    set(splitter, {'aria-valuenow': rounded, 'aria-valuemin': LEAST_HEIGHT, 'aria-valuemax': most});
    if (isOwn)
      app.settings.setSize('tabs-height', rounded);
  };
  resize(app.settings.size('tabs-height') ?? window.innerHeight * 0.32, false);
  splitter.addEventListener('keydown', event => {
    const step = {ArrowUp: STEP, ArrowDown: -STEP}[event.key];
    if (!step)
      return;
    event.preventDefault();
    event.stopPropagation();
    resize(panel.offsetHeight + step);
  });
  splitter.addEventListener('pointerdown', event => {
    const from = event.clientY + panel.offsetHeight;
    splitter.setPointerCapture(event.pointerId);
    splitter.onpointermove = move => resize(from - move.clientY);
    splitter.onpointerup = splitter.onpointercancel = () => { splitter.onpointermove = null; };
  });
  app.store.subscribe(update);
  app.model.subscribe(update);
  update();
  return {splitter, panel, update};
}
