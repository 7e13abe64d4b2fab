// SPDX-License-Identifier: MIT
// The selected event with all of its fields, beside the table of events.
import type {App} from '../app';
import {clockOf, shownAt, shownTime} from '../app';
import {button, element, setText} from '../dom';
import {both, fieldFilter} from '../filters';
import {timeText} from '../format';
import {type EventDetail, GONE} from '../protocol';
import {Job} from './job';

/** An event as lines of text, for the clipboard. */
export function eventText(app: Pick<App, 'model'>, event: EventDetail, times: string): string {
  return [`event ${event.number}`, `time ${times}`, `track ${app.model.trackName(event.track)}`, `kind ${event.name}`, ...event.fields.map(({path, text}) => `${path} = ${text}`)].join('\n') + '\n';
}

export function detail(app: App): {root: HTMLElement; update(): void; hide(): void; copy(): void} {
  const heading = element('h3', {}, ''), bar = element('div', {class: 'bar'}), list = element('dl', {class: 'facts'}), note = element('p', {class: 'note'});
  const root = element('section', {class: 'detail', 'aria-label': 'The selected event', tabindex: 0}, heading, bar, list, note);
  let now: EventDetail | null = null;
  const job = new Job(message => { now = null; show(); setText(note, message); });
  const copy = () => {
    if (now)
      void app.copy(eventText(app, now, timeText(now.time, 'absolute', clockOf(app))), `Event ${now.number}`);
    else
      app.say('Choose an event first.');
  };
  const also = (path: string, text: string) => app.store.update({filter: both(app.store.state.filter, fieldFilter(path, text))});
  bar.append(button('Copy', copy, {title: 'Copy the event as text (Ctrl+C in the table)'}), button('Mark A', () => app.run('mark-a')), button('Mark B', () => app.run('mark-b')),
    button('Latency from', () => app.run('latency-from'), {title: 'Latency from this kind'}), button('Latency to', () => app.run('latency-to'), {title: 'Latency to this kind'}),
    button('Only this kind', () => app.run('only-kind')));
  const row = (name: string, text: string, filterOf?: () => void) => [element('dt', {}, name), element('dd', {}, element('span', {}, text),
    filterOf && button('+', filterOf, {class: 'quiet small', 'aria-label': `Filter: ${name} = ${text.slice(0, 40)}`, title: 'Add to the filter'}))];
  const show = () => {
    setText(heading, now ? `${now.name} · ${now.number}` : '');
    heading.hidden = bar.hidden = list.hidden = !now;
    setText(note, now ? '' : app.store.state.event === null ? 'Choose an event in the table or in the timeline.' : '');
    if (now?.isGone)
      setText(note, GONE);
    list.replaceChildren(...now ? [
      ...row('time', shownTime(app, shownAt(app, now))), ...row('track', app.model.trackName(now.track)),
      ...now.isGone ? [] : row('text', now.text),
      ...now.fields.flatMap(({path, text}) => row(path, text, () => also(path, text)))] : []);
  };
  show();
  return {
    root, copy,
    hide() { job.stop(); },
    update() {
      const {event, clock} = app.store.state;
      if (event === null) {
        job.forget();
        if (now) { now = null; show(); }
        return;
      }
      job.ask(`${event} ${clock} ${app.model.server?.shows}`, async signal => {
        now = await app.source.event(event, signal);
        show();
      });
    },
  };
}
