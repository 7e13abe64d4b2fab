// SPDX-License-Identifier: MIT
// Damaged places of the files, and where events were lost.
import type {App} from '../app';
import {setWindow, shownTime} from '../app';
import {button, element, setText} from '../dom';
import {bytes, count, durationExact, plural} from '../format';
import type {Loss, Problem} from '../protocol';
import {max} from '../window';
import type {Tab} from './tab';
import {sortedTable} from './table';

/** Shows a loss in the timeline, with as much before and after it. */
function showLoss(app: App, loss: Loss): void {
  const length = max(loss.end - loss.begin, 1000n);
  setWindow(app, {begin: loss.begin - length, span: 3n * length}, '');
  if (loss.track !== null)
    app.timeline.reveal(loss.track);
}

export const problems: Tab = {
  id: 'problems',
  title: 'Problems',
  badge: app => { const {problems: found, server} = app.model, all = found.length + app.model.schema.warnings.length + (server?.losses ?? 0) + (server?.error ? 1 : 0); return all ? count(all) : ''; },
  mount(panel, app) {
    const error = element('p', {class: 'error-text', role: 'alert'}), note = element('p', {class: 'note'});
    const damage = sortedTable<{problem: Problem; i: number}>(app, {
      caption: 'Damaged places: what follows could be read', stateKey: 'problems.damage', first: 'order', id: row => String(row.i),
      columns: [
        {id: 'order', title: 'No.', isNumber: true, key: row => row.i, show: row => String(row.i + 1)},
        {id: 'path', title: 'File', key: row => row.problem.path, show: row => row.problem.path},
        {id: 'offset', title: 'Byte offset', isNumber: true, key: row => row.problem.offset ?? NaN, show: row => row.problem.offset === null ? '–' : String(row.problem.offset)},
        {id: 'lost', title: 'Lost', isNumber: true, about: 'Bytes that could not be read', key: row => row.problem.bytesLost, show: row => row.problem.bytesLost ? bytes(row.problem.bytesLost) : '–'},
        {id: 'message', title: 'What is wrong', key: row => row.problem.message, show: row => row.problem.message}],
      empty: 'No damaged place was found.',
    });
    const losses = sortedTable<{loss: Loss; i: number}>(app, {
      caption: 'Lost events: the gaps of the timeline', stateKey: 'problems.losses', first: 'begin', id: row => String(row.i),
      columns: [
        {id: 'begin', title: 'From', isNumber: true, key: row => Number(row.loss.begin - (app.model.server?.begin ?? 0n)), show: row => shownTime(app, row.loss.begin)},
        {id: 'length', title: 'Within', isNumber: true, key: row => Number(row.loss.end - row.loss.begin), show: row => durationExact(row.loss.end - row.loss.begin)},
        {id: 'count', title: 'Lost', isNumber: true, key: row => row.loss.count ?? NaN, show: row => row.loss.count === null ? 'not known' : plural(row.loss.count, row.loss.isPackets ? 'packet' : 'event')},
        {id: 'track', title: 'Track', key: row => row.loss.track ?? NaN, show: row => row.loss.track === null ? 'all of the trace' : app.model.trackName(row.loss.track)},
        {id: 'go', title: '', key: row => row.i, show: row => button('Show', () => showLoss(app, row.loss), {class: 'quiet', 'aria-label': `Show the loss ${row.i + 1}`})}],
      empty: 'No event was lost.',
    });
    const warnings = element('ul', {'aria-label': 'Warnings'}), warned = element('section', {}, element('h3', {}, 'Warnings'), warnings);
    panel.append(error, note, warned, damage.root, losses.root);
    return {
      update() {
        const {server} = app.model;
        setText(error, server?.error ?? '');
        error.hidden = !server?.error;
        setText(note, server && server.problems > app.model.problems.length ? `The first ${count(app.model.problems.length)} of ${count(server.problems)} places are listed.` : '');
        const texts = app.model.schema.warnings.map(({path, offset, message}) => `${path}: ${offset === null ? '' : `byte ${offset}: `}${message}`);
        warned.hidden = texts.length === 0;
        if (warnings.children.length !== texts.length)
          warnings.replaceChildren(...texts.map(() => element('li')));
        texts.forEach((text, i) => setText(warnings.children[i], text));
        damage.update(app.model.problems.map((problem, i) => ({problem, i})));
        losses.update(app.model.losses.map((loss, i) => ({loss, i})));
      },
    };
  },
};
