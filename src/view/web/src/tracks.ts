// SPDX-License-Identifier: MIT
// The names at the left: a grid that says in words what the canvas shows (track, event, count), and handles of the tracks.
import type {App} from './app';
import {moveTrack, toggled} from './commands';
import {button, element, set, setText} from './dom';
import {count, countShort, duration, durationExact} from './format';
import type {Row, TrackRow} from './rows';
import {rowAt} from './rows';
import {deeperText} from './scene';

const DRAG_LEAST = 6, TEXT_LEAST = 9;

interface Filled {
  row: TrackRow;
  index: number;
  top: number;
  seen: number | null;
  isSelected: boolean;
  isFocus: boolean;
  slew: bigint | undefined;
}

export interface TrackList {
  root: HTMLElement;
  /** Shows these rows; `top` is the place of the list at the upper edge. `inWindow` counts the events of tracks that are seen. */
  show(rows: readonly Row[], first: number, top: number, inWindow: ReadonlyMap<number, number>): void;
}

export function trackList(app: App): TrackList {
  const root = element('div', {class: 'labels', id: 'timeline-grid', role: 'grid', 'aria-label': 'Tracks: arrows up and down choose a track, left and right its events', tabindex: 0, 'aria-multiselectable': 'true'});
  const made = new Map<string, HTMLElement>(), line = element('div', {class: 'drop-line', hidden: true});
  let top = 0;
  root.append(line);

  const trackElement = (row: TrackRow): HTMLElement => element('div', {class: 'label', role: 'row', id: `row-${row.track.track}`},
    element('span', {class: 'name', role: 'rowheader'}), element('span', {class: 'events', role: 'gridcell'}), element('span', {class: 'hidden-visually', role: 'gridcell'}));
  const pairsElement = (): HTMLElement => element('div', {class: 'label pairs', role: 'row'},
    element('span', {class: 'name', role: 'rowheader'}), element('span', {class: 'events', role: 'gridcell'}), element('span', {class: 'hidden-visually', role: 'gridcell'}));
  const groupElement = (row: Row): HTMLElement => {
    const toggle = button('', () => {
      const {collapsed} = app.store.state;
      app.store.update({collapsed: collapsed.includes(row.key) ? collapsed.filter(key => key !== row.key) : [...collapsed, row.key]});
    }, {class: 'fold'});
    return element('div', {class: 'label group', role: 'row'}, element('span', {class: 'name', role: 'rowheader'}, toggle), element('span', {class: 'events', role: 'gridcell'}));
  };

  /** What each element says, so that a frame changes only what is another now. */
  const filled = new WeakMap<HTMLElement, Filled>();
  const isFilled = (target: HTMLElement, row: TrackRow, index: number, seen: number | null): boolean => {
    const {state: {selected, focus, slew}} = app.store, {track} = row.track, before = filled.get(target);
    const now: Filled = {row, index, top, seen, isSelected: selected.includes(track), isFocus: focus === track, slew: slew.get(track)};
    filled.set(target, now);
    return before !== undefined && (Object.keys(now) as (keyof Filled)[]).every(key => before[key] === now[key]);
  };
  const fill = (target: HTMLElement, row: Row, index: number, inWindow: ReadonlyMap<number, number>) => {
    const {state} = app.store, {pairs} = app.model, [name, events] = target.children;
    if (row.type === 'track' && isFilled(target, row, index, inWindow.get(row.track.track) ?? null))
      return;
    const above = row.type === 'track' ? Math.max(0, Math.min(top - row.y, row.height - row.strip)) : 0; // of many lanes: the name stays in sight
    target.style.transform = `translateY(${row.y + above - top}px)`;
    target.style.height = `${row.height - above}px`;
    (name as HTMLElement).style.paddingLeft = `${8 + row.level * 12}px`;
    if (row.type === 'group') {
      const toggle = name.firstElementChild as HTMLElement;
      setText(toggle, `${row.isCollapsed ? '▸' : '▾'} ${row.name}`);
      set(toggle, {'aria-expanded': String(!row.isCollapsed), title: row.name});
      setText(events, row.isCollapsed ? `${count(row.tracks)} tracks` : '');
      set(target, {'aria-rowindex': index + 1});
      return;
    }
    if (row.type === 'pairs') {
      setText(name, row.name);
      setText(events, countShort(pairs.current?.reply.count ?? 0));
      setText(target.children[2], `${count(pairs.current?.reply.count ?? 0)} pairs, the longest ${duration(pairs.current?.reply.most ?? NaN)}`);
      set(target, {'aria-rowindex': index + 1, title: `${row.name}: each pair where it ends, as high as it is long`});
      return;
    }
    const {track} = row, isSelected = state.selected.includes(track.track), slew = state.slew.get(track.track), seen = inWindow.get(track.track) ?? null;
    const badges = `${row.isPinned ? '📌 ' : ''}${isSelected ? '✓ ' : ''}`;
    setText(name, badges + (row.height < TEXT_LEAST ? '' : track.name || '(no name)') + (slew ? ` ${slew > 0n ? '+' : ''}${durationExact(slew)}` : ''));
    setText(events, row.height < TEXT_LEAST ? '' : countShort(seen ?? track.events));
    setText(target.children[2], `${seen === null ? '' : `${count(Math.round(seen))} events in the window, `}${count(track.events)} in all${track.spans ? `, ${count(track.spans)} spans` : ''}${row.note ? `. ${deeperText(track)}` : ''}`);
    set(target, {
      class: `label${isSelected ? ' selected' : ''}${state.focus === track.track ? ' focused' : ''}${row.height < 14 ? ' small' : row.height < 22 ? ' low' : ''}`, 'aria-selected': String(isSelected), 'aria-rowindex': index + 1,
      title: `${track.name}${track.process ? `, process ${track.process}` : ''}${track.part ? `, ${track.part}` : ''}: ${count(track.events)} events`,
    });
  };

  root.addEventListener('pointerdown', event => {
    const box = (event.target as Element).closest<HTMLElement>('.label[id]');
    if (!box || event.button !== 0)
      return;
    const track = Number(box.id.slice(4)), startY = event.clientY, bounds = root.getBoundingClientRect(), rows = app.timeline.rows.rows;
    let isDrag = false, to = -1;
    event.preventDefault();
    root.focus();
    root.setPointerCapture(event.pointerId);
    root.onpointermove = moved => {
      isDrag ||= Math.abs(moved.clientY - startY) >= DRAG_LEAST;
      if (!isDrag)
        return;
      const y = moved.clientY - bounds.top + top, at = rowAt(rows, y), row = rows[Math.max(0, at)];
      to = row && y > row.y + row.height / 2 ? at + 1 : Math.max(0, at);
      line.hidden = false;
      line.style.transform = `translateY(${(to < rows.length ? rows[to].y : app.timeline.rows.height) - top - 1}px)`;
    };
    root.onpointerup = released => {
      end();
      if (isDrag && to >= 0) {
        const before = rows.slice(0, to).filter(row => row.type === 'track' && row.track.track !== track).length;
        moveTrack(app, track, () => before);
      } else if (released.shiftKey)
        moveTrack(app, track, () => 0);
      else if (released.ctrlKey || released.metaKey)
        moveTrack(app, track, (_, all) => all - 1);
      else
        app.store.update({focus: track, selected: toggled(app.store.state.selected, track)});
    };
    const end = () => { root.onpointermove = root.onpointerup = root.onpointercancel = null; line.hidden = true; };
    root.onpointercancel = end;
  });

  return {
    root,
    show(rows, first, newTop, inWindow) {
      top = newTop;
      const keep = new Set(rows.map(row => row.key));
      for (const [key, old] of made)
        if (!keep.has(key)) {
          old.remove();
          made.delete(key);
        }
      rows.forEach((row, i) => {
        let target = made.get(row.key);
        if (!target) {
          target = row.type === 'track' ? trackElement(row) : row.type === 'pairs' ? pairsElement() : groupElement(row);
          made.set(row.key, target);
          root.append(target);
        }
        fill(target, row, first + i, inWindow);
      });
      const {focus} = app.store.state;
      set(root, {'aria-rowcount': app.timeline.rows.rows.length, 'aria-activedescendant': focus !== null && made.has(`track ${focus}`) ? `row-${focus}` : null});
    },
  };
}
