// SPDX-License-Identifier: MIT
// Puts the page together: source, store, model, parts, keys, and the state in the URL.
import type {App, TimelineView} from './app';
import {shownTime} from './app';
import {actions, runner} from './commands';
import {button, element, inNextFrame, setText} from './dom';
import {durationExact} from './format';
import {embeddedTransport} from './embedded';
import {header} from './header';
import type {Connection} from './http';
import {HttpTransport} from './http';
import {commandOf} from './keys';
import {onPrint} from './print';
import {Model} from './model';
import {SETTINGS, Settings, browserKept} from './settings';
import {Snapshots, readFragment, writeFragment} from './snapshots';
import {Source} from './source';
import {Store, read, write} from './state';
import {tabPanel} from './tabpanel';
import {applyTheme, onThemeChange} from './theme';
import {timeline} from './timeline';

const TOKEN_KEY = 'kymo.token', TOKEN = /(?:^|&)token=([0-9a-f]{32})(?=&|$)/;

/** Storage that may be forbidden. */
function keeper(storage: () => Storage): {get(key: string): string | null; set(key: string, value: string): void} {
  const attempt = <T>(work: () => T): T | null => { try { return work(); } catch { return null; } };
  return {get: key => attempt(() => storage().getItem(key)), set: (key, value) => { attempt(() => storage().setItem(key, value)); }};
}
const session = keeper(() => sessionStorage);

/** The token of the address is kept for this tab of the browser, and wiped from the address. */
function takeToken(): string {
  const fragment = location.hash.slice(1), found = TOKEN.exec(fragment);
  if (found) {
    session.set(TOKEN_KEY, found[1]);
    history.replaceState(null, '', '#' + fragment.replace(TOKEN, '').replace(/^&/, ''));
  }
  return found?.[1] ?? session.get(TOKEN_KEY) ?? '';
}

function keepSettings(store: Store, settings: Settings): void {
  store.subscribe(state => settings.take(state), ...SETTINGS, 'tabState');
}

function banner(root: HTMLElement, transport: HttpTransport | null): (connection: Connection) => void {
  return connection => {
    root.hidden = connection === 'up';
    if (connection === 'gone')
      root.replaceChildren(element('span', {}, 'The server is gone. The picture stays; the page goes on when `kymo view` runs again on this port (--port).'), button('Try now', () => transport?.retry()));
    else if (connection === 'ended')
      root.replaceChildren(element('span', {}, 'kymo view has ended. The picture stays until this page is closed.'));
    else if (connection === 'refused')
      root.replaceChildren(element('span', {}, 'The server does not accept this page: its token is missing or of an earlier run. Open the address that ', element('code', {}, 'kymo view'), ' printed, with all after #.'));
  };
}

function start(): void {
  const token = takeToken(), settings = new Settings(browserKept), store = new Store(settings.begin(location.hash.slice(1))), root = document.getElementById('app') as HTMLElement;
  const fragment = location.hash, bannerRoot = element('div', {class: 'banner', role: 'alert', hidden: true});
  let connected: (connection: Connection) => void = () => {};
  const embedded = embeddedTransport(), http = embedded ? null : new HttpTransport(token, connection => connected(connection));
  connected = banner(bannerRoot, http);
  const source = new Source(embedded ?? http as HttpTransport), snapshots = new Snapshots(), model = new Model(source, store, before => snapshots.renumber(before, model.tracks));
  const said = element('span', {class: 'said', role: 'status', 'aria-live': 'polite'}), cursor = element('span', {class: 'cursor'}), marks = element('span', {});
  const app: App = {
    store, source, model, snapshots, settings, palette: applyTheme(store.state.theme), timeline: null as unknown as TimelineView,
    say: message => setText(said, message),
    run: () => {},
    async copy(text, what) {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = element('textarea', {class: 'hidden-visually'});
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand('copy');
        area.remove();
      }
      app.say(`${what} is copied: ${text.length > 200 ? text.slice(0, 200) + '…' : text}`);
    },
    showTab: tab => store.update({tab}, null),
  };
  const top = header(app), lines = timeline(app, cursor), tabs = tabPanel(app);
  app.timeline = lines.view;
  const regions = () => [...root.querySelectorAll<HTMLElement>('[data-region]')];
  app.run = runner(app, actions({
    snapshots,
    focusSearch: top.focusSearch,
    share() {
      const state = fragmentOf(store, snapshots), address = embedded ? location.href : `${location.origin}/#token=${token}${state && '&' + state}`;
      void app.copy(address, 'The link, with the token of this run,');
    },
    async quit() {
      if (!http)
        return app.say('This page has no server.');
      await http.end();
    },
    nextRegion() {
      const all = regions(), at = all.findIndex(region => region.contains(document.activeElement)), to = all[(at + 1) % all.length];
      to.querySelector<HTMLElement>('input, [tabindex="0"], [role="tab"][aria-selected="true"]')?.focus();
    },
  }));
  snapshots.replace(readFragment(fragment));
  lines.root.append(bannerRoot);
  root.append(top.root, lines.root, tabs.splitter, tabs.panel, element('footer', {}, said, cursor, marks));

  const update = inNextFrame(() => {
    top.update();
    const {markA, markB, selection} = store.state, parts: string[] = [];
    if (selection) parts.push(`ruler ${durationExact(selection.end - selection.begin)}`);
    if (markA !== null) parts.push(`A ${shownTime(app, markA)}`);
    if (markB !== null) parts.push(`B ${shownTime(app, markB)}`);
    if (markA !== null && markB !== null) parts.push(`A→B ${durationExact(markB - markA)}`);
    setText(marks, parts.join(' · '));
  });
  store.subscribe(update);
  model.subscribe(update);
  const themed = () => { app.palette = applyTheme(store.state.theme); lines.themeChanged(); tabs.update(); };
  store.subscribe(themed, 'theme');
  onThemeChange(themed);
  keepSettings(store, settings);
  keepInUrl(store, snapshots);
  onPrint(app);

  document.addEventListener('keydown', event => {
    const target = event.target as HTMLElement, isTyped = target.matches('input:not([type="checkbox"], [type="radio"]), select, textarea') || target.closest('dialog') !== null;
    if (event.defaultPrevented || isTyped && !/^F\d/.test(event.key) && !(event.ctrlKey && /^[kp]$/.test(event.key)) || target.closest('dialog'))
      return;
    if (event.key === 'Escape') {
      if (!lines.view.escape()) app.say('');
      return;
    }
    const isActivation = (event.key === 'Enter' || event.key === ' ') && target.matches('button, a, [role="tab"], summary, input');
    const isScroll = /^(Arrow|Page|Home|End)/.test(event.key) && target.closest('[role="tabpanel"], .splitter, [role="scrollbar"]') && !event.ctrlKey && !event.altKey;
    const command = isActivation || isScroll ? undefined : commandOf(event);
    if (!command)
      return;
    event.preventDefault();
    app.run(command.id);
  });
  const hasView = /(^|&)(t|w|f)=/.test(location.hash.slice(1)), end = model.subscribe(change => {
    if (change !== 'lists' || !model.server)
      return;
    end();
    const {filter, begin, end: last} = model.server.start;
    if (model.server.files.length === 0)
      return app.run('open');
    if (hasView)
      return;
    store.update({filter}, null);
    if (begin !== null || last !== null) {
      const from = begin ?? model.bounds.begin, to = last ?? model.bounds.end;
      if (to > from)
        store.update({begin: from, span: to - from}, null);
    }
  });
  const slewed = model.subscribe(() => { // tracks are known as they are indexed
    if (!model.server?.isComplete && !model.server?.isLive || model.tracks.length === 0)
      return;
    slewed();
    const slew = new Map(model.server.start.slew.flatMap(({track, ns}) => model.tracks.filter(item => item.name === track).map(item => [item.track, ns] as const)));
    if (slew.size > 0 && !/(^|&)slew=/.test(location.hash.slice(1)))
      store.update({slew}, null);
  });
  sayChanges(app);
  update();
  void model.run();
  (window as unknown as {kymo: App}).kymo = app;
}

/** Says that the trace has become another one, or what is wrong with it. */
function sayChanges(app: App): void {
  let before = app.model.server;
  app.model.subscribe(() => {
    const {server} = app.model, last = before;
    before = server;
    if (!server || !last || server === last)
      return;
    if (server.error && server.error !== last.error)
      app.say(server.error);
    else if (server.rebuilt !== last.rebuilt && server.opened === last.opened)
      app.say('The trace has changed: it is indexed anew.');
  });
}

/** The state and the snapshots, for the URL. */
function fragmentOf(store: Store, snapshots: Snapshots): string {
  return [write(store.state), writeFragment(snapshots.list)].filter(Boolean).join('&');
}

function keepInUrl(store: Store, snapshots: Snapshots): void {
  let timer = 0, written = '';
  const change = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      written = '#' + fragmentOf(store, snapshots);
      history.replaceState(null, '', written);
    }, 200);
  };
  store.subscribe(change);
  snapshots.changed = change;
  window.addEventListener('hashchange', () => {
    if (location.hash === written)
      return;
    takeToken();
    snapshots.replace(readFragment(location.hash));
    store.update(read(location.hash));
  });
}

start();
