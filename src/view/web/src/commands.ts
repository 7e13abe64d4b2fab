// SPDX-License-Identifier: MIT
// What the commands of keys.ts do.
import type {App} from './app';
import {reveal, setWindow, shownAt, shownTime, windowOf} from './app';
import {askForFile, clocksDialog, colourDialog, fieldDialog, goToTimeDialog, helpDialog, openDialog, paletteDialog, quitDialog, textDialog, trackByDialog} from './dialogs';
import {save} from './dom';
import {fieldFilter, filtered, quote, shellWord} from './filters';
import {durationExact, plural} from './format';
import {COMMANDS} from './keys';
import type {EventDetail} from './protocol';
import {moved} from './rows';
import {Snapshots, patchOf, readFile, writeFile} from './snapshots';
import {finish, isAbort, slewText} from './source';
import type {State} from './state';
import {ROW_HEIGHT} from './state';
import {TABS} from './tabs';
import {between, pan, toEnd, toStart, zoom} from './window';

type Action = (app: App) => void | Promise<void>;

export interface Pages {
  focusSearch(): void;
  nextRegion(): void;
  share(): void;
  quit(): Promise<void>;
  snapshots: Snapshots;
}

const next = <T>(all: readonly T[], now: T): T => all[(all.indexOf(now) + 1) % all.length];
const needs = (app: App, what: string) => app.say(`${what} first.`);

// ---- tracks ----

/** Tracks in the order in which they are shown, also those that are hidden or in collapsed groups. */
function shownOrder(app: App): number[] {
  const shown = app.timeline.rows.rows.flatMap(row => row.type === 'track' ? [row.track.track] : []), there = new Set(shown);
  return [...shown, ...app.model.tracks.map(track => track.track).filter(track => !there.has(track))];
}
function order(app: App, tracks: number[], said: string): void {
  app.store.update({order: tracks});
  app.say(said);
}
export function moveTrack(app: App, track: number | null, place: (at: number, count: number) => number): void {
  const now = shownOrder(app), at = track === null ? -1 : now.indexOf(track);
  if (track === null || at < 0)
    return needs(app, 'Choose a track');
  const to = Math.max(0, Math.min(now.length - 1, place(at, now.length)));
  order(app, moved(now, track, to), `${app.model.trackName(track)} is track ${to + 1} of ${now.length}.`);
  app.timeline.reveal(track);
}
function focusBy(app: App, step: number): void {
  const tracks = app.timeline.rows.rows.flatMap(row => row.type === 'track' ? [row.track.track] : []);
  if (tracks.length === 0)
    return;
  const at = tracks.indexOf(app.store.state.focus ?? -1), to = at < 0 ? 0 : Math.max(0, Math.min(tracks.length - 1, at + step));
  app.store.update({focus: tracks[to]}, null);
  app.timeline.reveal(tracks[to]);
}
export function toggled(list: readonly number[], item: number): number[] {
  return list.includes(item) ? list.filter(other => other !== item) : [...list, item];
}
function hide(app: App): void {
  const {selected, focus, hidden} = app.store.state, which = selected.length ? selected : focus === null ? [] : [focus];
  if (which.length === 0)
    return needs(app, 'Choose a track');
  focusBy(app, 1);
  app.store.update({hidden: [...new Set([...hidden, ...which])].sort((a, b) => a - b), selected: []});
  app.say(`${plural(which.length, 'track')} hidden.`);
}
function slew(app: App, sign: bigint): void {
  const {selection, selected, slew: before} = app.store.state;
  if (!selection)
    return app.say('No time interval is set: measure one with the ruler first.');
  if (selected.length === 0)
    return needs(app, 'Select tracks');
  const ns = sign * (selection.end - selection.begin), after = new Map(before);
  for (const track of selected) {
    after.set(track, (after.get(track) ?? 0n) + ns);
    if (after.get(track) === 0n)
      after.delete(track);
  }
  app.store.update({slew: after});
  app.say(`${plural(selected.length, 'track')} slewed by ${ns > 0n ? '+' : ''}${durationExact(ns)}.`);
}
/** The command that opens the same traces with the same slews. */
export function slewCommand(command: string, slews: readonly (readonly [name: string, ns: bigint])[]): string {
  return [command.replace(/^kymo cat/, 'kymo view'), ...slews.map(([name, ns]) => `--slew ${shellWord(`${name}=${ns}`)}`)].join(' ');
}
function copySlews(app: App): void | Promise<void> {
  const {slew} = app.store.state, {server, tracks} = app.model, named = [...slew].map(([track, ns]) => [app.model.trackName(track), ns] as const);
  const twice = named.find(([name]) => tracks.filter(track => track.name === name).length > 1);
  if (named.length === 0)
    return app.say('No track is slewed: { and } slew the selected tracks by the ruler.');
  if (twice)
    return app.say(`Several tracks are called ${twice[0]}: the link (y) has the slews, a command cannot name them.`);
  return app.copy(slewCommand(server?.command ?? 'kymo cat', named), 'The command with the slews');
}

// ---- events ----

async function currentEvent(app: App): Promise<EventDetail | null> {
  const {event} = app.store.state;
  if (event === null) {
    needs(app, 'Choose an event (← and →, or a click)');
    return null;
  }
  return app.source.event(event);
}
async function step(app: App, isBack: boolean): Promise<void> {
  const {focus, event} = app.store.state, {source, model} = app;
  if (focus === null) {
    focusBy(app, 0);
    return;
  }
  const window = windowOf(app), filter = model.shownId, now = event === null ? null : await source.event(event);
  let mark = null;
  if (now && now.track === focus)
    ({mark} = await source.search({number: now.number, back: isBack, track: focus, filter}));
  else
    mark = await source.nearest(focus, window.begin + window.span / 2n - (app.store.state.slew.get(focus) ?? 0n), filter);
  if (!mark)
    return app.say(`${model.trackName(focus)} has no event${filter ? ' that the filter selects' : ''}.`);
  reveal(app, mark);
  app.say(`${model.trackName(focus)}: ${model.kindName(mark.kind)} at ${shownTime(app, shownAt(app, mark))}, event ${mark.number}.`);
}
async function mark(app: App, which: 'markA' | 'markB'): Promise<void> {
  const event = await currentEvent(app);
  if (!event)
    return;
  app.store.update({[which]: shownAt(app, event)});
  const {markA, markB} = app.store.state;
  app.say(markA !== null && markB !== null ? `A to B: ${durationExact(markB - markA)}.` : `Mark ${which.slice(4)} is at ${shownTime(app, shownAt(app, event))}.`);
}
async function latency(app: App, which: 'latencyFrom' | 'latencyTo'): Promise<void> {
  const event = await currentEvent(app);
  if (!event)
    return;
  app.store.update({[which]: event.name}, null);
  const {latencyFrom, latencyTo} = app.store.state;
  app.say(`Latency from ${latencyFrom || '…'} to ${latencyTo || '…'}.`);
  if (latencyFrom && latencyTo && TABS.some(tab => tab.id === 'latency'))
    app.showTab('latency');
}

// ---- search and chase ----

async function search(app: App, isAgainst: boolean): Promise<void> {
  const {state} = app.store, {model} = app, filter = model.filterId, isBack = state.back !== isAgainst;
  if (!state.filter)
    return app.say('Nothing is searched: type a filter, a name or a text first.');
  if (!filter)
    return app.say(model.filter?.error ? model.filter.error.message : 'The search is being prepared.');
  const {mark: found, isWrapped} = await app.source.search({number: state.found ?? state.event ?? 0, back: isBack, filter, slew: slewText(state.slew)});
  if (!found)
    return app.say('Search failed: no event matches.');
  reveal(app, found, {found: found.number});
  app.say(`${isWrapped ? `From the ${isBack ? 'end' : 'start'} again: ` : ''}${model.kindName(found.kind)} on ${model.trackName(found.track)}, event ${found.number}.`);
}
async function chase(app: App, by: 'event' | 'datum' | 'track'): Promise<void> {
  const event = await currentEvent(app);
  if (!event)
    return;
  if (by === 'track') {
    order(app, [event.track, ...shownOrder(app).filter(track => track !== event.track)], `${app.model.trackName(event.track)} is the first track.`);
    return app.timeline.scrollTo(0);
  }
  const field = app.store.state.field ? event.fields.find(item => item.path === app.store.state.field) : event.fields.find(item => item.path !== 'track') ?? event.fields[0];
  if (by === 'datum' && !field)
    return app.say('The event has no datum.');
  const text = by === 'event' ? `EVENT = ${quote(event.name)}` : fieldFilter(field?.path ?? '', field?.text ?? '');
  app.say(`Chasing ${text} …`);
  const filter = await finish(() => app.source.filter(text), new AbortController().signal);
  if (filter.state === 'failed')
    return app.say(`Chase failed: ${filter.error?.message ?? ''}`);
  const tracks = await app.source.chase({filter: filter.id, number: event.number, back: app.store.state.back, slew: slewText(app.store.state.slew)});
  order(app, tracks, `Tracks are ordered by their ${app.store.state.back ? 'previous' : 'next'} ${text}.`);
  app.timeline.scrollTo(0);
}

// ---- snapshots ----

function snapshotActions(snapshots: Snapshots): Record<string, Action> {
  const keys = (app: App) => Object.keys(app.store.view()) as (keyof State)[];
  const place = () => `${snapshots.current + 1} of ${snapshots.list.length}`;
  return {
    'snapshot': app => {
      const window = windowOf(app);
      snapshots.add(app.store.view(), `${shownTime(app, window.begin)} (${durationExact(window.span)})`);
      app.say(`Snapshot taken: ${plural(snapshots.list.length, 'snapshot')}.`);
    },
    'next-snapshot': app => {
      const snapshot = snapshots.next();
      if (!snapshot)
        return app.say('There are no snapshots: x takes one.');
      app.store.update(patchOf(snapshot, keys(app)));
      app.say(`Snapshot ${place()}: ${snapshot.name}.`);
    },
    'delete-snapshot': app => app.say(snapshots.remove() ? `Snapshot deleted: ${plural(snapshots.list.length, 'snapshot')} left.` : 'There is no snapshot to delete.'),
    'name-snapshot': app => {
      const now = snapshots.list[snapshots.current];
      if (!now)
        return app.say('There are no snapshots: x takes one.');
      textDialog('Name the snapshot', 'Name', now.name, name => { snapshots.rename(name); app.say(`Snapshot ${place()} is called ${name}.`); });
    },
    'write-snapshots': app => {
      if (snapshots.list.length === 0)
        return app.say('There are no snapshots: x takes one.');
      save('snapshots.json', new Blob([writeFile(snapshots.list, app.model.tracks)], {type: 'application/json'}));
      app.say(`Wrote ${plural(snapshots.list.length, 'snapshot')}.`);
    },
    'load-snapshots': async app => {
      const text = await askForFile('.json,application/json');
      if (text === null)
        return;
      const {list, unknown} = readFile(text, app.model.tracks);
      snapshots.replace(list);
      app.say(`Read ${plural(list.length, 'snapshot')}${unknown ? `; ${plural(unknown, 'track')} of them are not here` : ''}.`);
    },
  };
}

export function actions(pages: Pages): Record<string, Action> {
  const update = (patch: (state: Readonly<State>) => Partial<State>, join?: string | null): Action => app => app.store.update(patch(app.store.state), join);
  const height = (step: number) => update(state => ({rowHeight: Math.max(ROW_HEIGHT.least, Math.min(ROW_HEIGHT.most, state.rowHeight + step))}), 'height');
  const windowed = (change: (window: ReturnType<typeof windowOf>, app: App) => ReturnType<typeof windowOf>): Action => app => setWindow(app, change(windowOf(app), app));
  return {
    'open': openDialog,
    'reload': async app => {
      app.say('Reading the files again …');
      await app.source.reload();
      app.model.poll();
      app.say('The files are read again.');
    },
    'clocks': clocksDialog,
    'print': () => window.print(),
    'quit': app => quitDialog(app, () => pages.quit()),
    'zoom-in': windowed((window, app) => zoom(window, 2n, 3n, 0.5, app.model.bounds)),
    'zoom-out': windowed((window, app) => zoom(window, 4n, 3n, 0.5, app.model.bounds)),
    'pan-left': windowed((window, app) => pan(window, -1n, 6n, app.model.bounds)),
    'pan-right': windowed((window, app) => pan(window, 1n, 6n, app.model.bounds)),
    'start': windowed((window, app) => toStart(window, app.model.bounds)),
    'end': windowed((window, app) => toEnd(window, app.model.bounds)),
    'fit': update(() => ({begin: 0n, span: 0n})),
    'zoom-ruler': app => {
      const {selection} = app.store.state;
      if (!selection)
        return app.say('There is no ruler: drag with the right button, or on the time axis.');
      setWindow(app, between(selection.begin, selection.end), '');
    },
    'clear-ruler': update(() => ({selection: null})),
    'ruler-from-window': app => { const window = windowOf(app); app.store.update({selection: {begin: window.begin, end: window.begin + window.span}}); },
    'ruler-from-marks': app => {
      const {markA, markB} = app.store.state;
      if (markA === null || markB === null)
        return app.say('Set the marks A and B first.');
      const window = between(markA, markB);
      app.store.update({selection: {begin: window.begin, end: window.begin + window.span}});
    },
    'go-to-time': goToTimeDialog,
    'undo': app => app.say(app.store.undo() ? 'Undone.' : 'There is nothing to undo.'),
    'redo': app => app.say(app.store.redo() ? 'Redone.' : 'There is nothing to redo.'),
    'clock': app => {
      const modes = app.model.server?.isEpoch ? ['relative', 'absolute', 'utc'] as const : ['relative', 'absolute'] as const;
      app.store.update({clock: next<State['clock']>(modes, app.store.state.clock)}, null);
      app.say(`Times are ${{relative: 'from the begin of the trace', absolute: 'of the clock of the trace', utc: 'in UTC'}[app.store.state.clock]}.`);
    },
    'row-up': app => app.timeline.scrollRows(-1),
    'row-down': app => app.timeline.scrollRows(1),
    'rows-up': app => app.timeline.scrollRows(-10),
    'rows-down': app => app.timeline.scrollRows(10),
    'top': app => app.timeline.scrollTo(0),
    'bottom': app => app.timeline.scrollTo(Infinity),
    'focus-up': app => focusBy(app, -1),
    'focus-down': app => focusBy(app, 1),
    'more-tracks': height(-1),
    'less-tracks': height(1),
    'track-first': app => moveTrack(app, app.store.state.focus, () => 0),
    'track-last': app => moveTrack(app, app.store.state.focus, (_, count) => count - 1),
    'track-up': app => moveTrack(app, app.store.state.focus, at => at - 1),
    'track-down': app => moveTrack(app, app.store.state.focus, at => at + 1),
    'select-track': app => {
      const {focus, selected} = app.store.state;
      if (focus === null)
        return needs(app, 'Choose a track');
      app.store.update({selected: toggled(selected, focus)});
      app.say(`${app.model.trackName(focus)} is ${selected.includes(focus) ? 'not ' : ''}selected; ${plural(app.store.state.selected.length, 'track')} in all.`);
    },
    'select-none': update(() => ({selected: []})),
    'pin': app => {
      const {focus, pinned} = app.store.state;
      if (focus === null)
        return needs(app, 'Choose a track');
      app.store.update({pinned: toggled(pinned, focus)});
      app.say(`${app.model.trackName(focus)} is ${pinned.includes(focus) ? 'not pinned any more' : 'pinned'}.`);
    },
    'hide': hide,
    'show-all': update(() => ({hidden: []})),
    'fold': app => {
      const {rows} = app.timeline.rows, {collapsed, focus} = app.store.state, at = rows.findIndex(row => row.type === 'track' && row.track.track === focus);
      const group = at < 0 ? rows.find(row => row.type === 'group') : rows.slice(0, at).reverse().find(row => row.type === 'group');
      if (at < 0 && collapsed.length > 0) // the track is in a folded group
        return app.store.update({collapsed: []});
      if (!group)
        return app.say('The tracks have no groups.');
      app.store.update({collapsed: [...collapsed, group.key]});
    },
    'order-activity': async app => { const window = windowOf(app); order(app, await app.source.activity(window.begin, window.begin + window.span), 'Tracks are ordered by their events in the window.'); },
    'order-name': app => order(app, [...app.model.tracks].sort((a, b) => a.name.localeCompare(b.name, 'en', {numeric: true}) || a.track - b.track).map(track => track.track), 'Tracks are ordered by name.'),
    'order-value': app => order(app, app.model.tracks.map(track => track.track), 'Tracks are ordered by number.'),
    'order-original': app => { app.store.update({order: []}); app.timeline.scrollTo(0); app.say('Tracks have their original order.'); },
    'slew-left': app => slew(app, -1n),
    'slew-right': app => slew(app, 1n),
    'slew-clear': update(() => ({slew: new Map()})),
    'slew-copy': copySlews,
    'next-event': app => step(app, false),
    'previous-event': app => step(app, true),
    'box': async app => { const {event, boxes} = app.store.state; if (event === null) await currentEvent(app); else app.store.update({boxes: toggled(boxes, event)}); },
    'close-boxes': update(() => ({boxes: []})),
    'mark-a': app => mark(app, 'markA'),
    'mark-b': app => mark(app, 'markB'),
    'clear-marks': update(() => ({markA: null, markB: null})),
    'latency-from': app => latency(app, 'latencyFrom'),
    'latency-to': app => latency(app, 'latencyTo'),
    'only-kind': async app => { const event = await currentEvent(app); if (event) app.store.update({kindsOff: app.model.kinds.map(kind => kind.name).filter(name => name !== event.name)}); },
    'all-kinds': update(() => ({kindsOff: []})),
    'search': () => pages.focusSearch(),
    'next': app => search(app, false),
    'previous': app => search(app, true),
    'direction': app => { app.store.update({back: !app.store.state.back}, null); app.say(`Search and chase go ${app.store.state.back ? 'backward' : 'forward'}.`); },
    'filter-mode': app => { app.store.update({hides: !app.store.state.hides}); app.say(`Other events are ${app.store.state.hides ? 'hidden' : 'dimmed'}.`); },
    'clear-filter': update(() => ({filter: '', found: null})),
    'copy-command': app => app.copy(filtered(app.model.server?.command ?? 'kymo cat', app.model.filterText), 'The command'),
    'chase-event': app => chase(app, 'event'),
    'chase-datum': app => chase(app, 'datum'),
    'chase-track': app => chase(app, 'track'),
    ...snapshotActions(pages.snapshots),
    'shape': update(state => ({shape: next(['summary', 'events'] as const, state.shape)})),
    'colour': update(state => ({colour: next(state.colourField ? ['kind', 'track', 'field', 'none'] as const : ['kind', 'track', 'none'] as const, state.colour)})),
    'colour-field': colourDialog,
    'field': fieldDialog,
    'track-by': trackByDialog,
    'theme': app => { app.store.update({theme: next(['auto', 'light', 'dark'] as const, app.store.state.theme)}, null); app.say(`Theme: ${app.store.state.theme === 'auto' ? 'of the system' : app.store.state.theme}.`); },
    'export-png': app => app.timeline.exportPng(),
    'export-svg': app => app.timeline.exportSvg(),
    'share': () => pages.share(),
    'palette': paletteDialog,
    'next-region': () => pages.nextRegion(),
    'help': () => helpDialog(),
    ...Object.fromEntries(TABS.map((tab, i) => [`tab-${i + 1}`, (app: App) => app.showTab(tab.id)])),
  };
}

/** Runs a command; what fails is said. */
export function runner(app: App, all: Record<string, Action>): (id: string) => void {
  return id => {
    const report = (error: unknown) => { if (!isAbort(error)) app.say(error instanceof Error ? error.message : String(error)); };
    try {
      const result = all[id]?.(app);
      if (result instanceof Promise)
        result.catch(report);
    } catch (error) {
      report(error);
    }
  };
}
export function unknownCommands(all: Record<string, unknown>): string[] {
  return COMMANDS.map(item => item.id).filter(id => !(id in all) && !/^tab-\d$/.test(id));
}
