// SPDX-License-Identifier: MIT
// Dialogs: keys and gestures, all commands, a time to go to.
import type {App} from './app';
import {clockOf, setWindow, windowOf} from './app';
import {button, dialog, element, set, setText} from './dom';
import {bytes, count, parseTime, utcDate, utcTime} from './format';
import type {Group} from './keys';
import {COMMANDS, GESTURES, spelled} from './keys';
import type {Offer} from './protocol';
import {isAbort} from './source';
import {colourField} from './state';
import {center} from './window';

export function helpDialog(): void {
  const groups = [...new Set(COMMANDS.map(item => item.group))] as Group[];
  const row = (keys: (string | Node)[], text: string) => element('tr', {}, element('td', {}, ...keys), element('td', {}, text));
  dialog('Keys and gestures',
    element('div', {class: 'key-groups'},
      ...groups.map(group => element('section', {}, element('h3', {}, group), element('table', {}, element('tbody', {},
        ...COMMANDS.filter(item => item.group === group && !/^tab-[2-9]$/.test(item.id)).map(item =>
          item.id === 'tab-1' ? row([element('kbd', {}, '1'), '… ', element('kbd', {}, '9')], 'Open a tab')
            : row(item.keys.length ? item.keys.map(key => element('kbd', {}, spelled(key))) : [element('span', {class: 'note'}, 'menu')], item.title)))))),
      element('section', {}, element('h3', {}, 'Pointer'), element('table', {}, element('tbody', {}, ...GESTURES.map(([gesture, effect]) => row([gesture], effect)))))));
}

export function paletteDialog(app: App): void {
  const input = element('input', {type: 'text', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette-list', 'aria-label': 'Command', placeholder: 'What to do …', autocomplete: 'off'});
  const list = element('div', {id: 'palette-list', role: 'listbox', 'aria-label': 'Commands'});
  const box = dialog('Commands', element('div', {class: 'palette'}, input, list));
  let at = 0, found = COMMANDS;
  const choose = (id: string) => { box.close(); app.run(id); };
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    found = COMMANDS.filter(item => words.every(word => `${item.group} ${item.title}`.toLowerCase().includes(word)));
    at = Math.max(0, Math.min(at, found.length - 1));
    list.replaceChildren(...found.map((item, i) => element('div', {role: 'option', id: `palette-${item.id}`, 'aria-selected': String(i === at), onclick: () => choose(item.id)},
      element('span', {}, item.title), element('kbd', {}, item.keys[0] ? spelled(item.keys[0]) : ''))));
    list.children[at]?.scrollIntoView({block: 'nearest'});
    set(input, {'aria-activedescendant': found[at] ? `palette-${found[at].id}` : null});
  };
  input.addEventListener('input', () => { at = 0; show(); });
  input.addEventListener('keydown', event => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
      at = (at + (event.key === 'ArrowDown' ? 1 : -1) + found.length) % Math.max(1, found.length);
    else if (event.key === 'Enter') {
      if (found[at]) choose(found[at].id);
    } else
      return;
    event.preventDefault();
    show();
  });
  show();
  input.focus();
}

export function goToTimeDialog(app: App): void {
  const input = element('input', {type: 'text', 'aria-label': 'Time', size: 34, autocomplete: 'off'}), error = element('p', {class: 'note', role: 'status'});
  const clock = clockOf(app);
  const go = () => {
    const time = parseTime(input.value, clock);
    if (time === null) {
      setText(error, 'This is not a time.');
      set(input, {'aria-invalid': 'true'});
      return;
    }
    box.close();
    setWindow(app, center(windowOf(app), time, app.model.bounds), '');
  };
  const box = dialog('Go to a time', element('div', {class: 'bar'}, input, button('Go', go)), error,
    element('p', {class: 'note'}, clock.hasTimes ? `+1.5, +20 ms, -3 us: from the begin of the trace. 12.345: of its clock.${clock.isEpoch ? ' 12:34:56.789 and 2026-11-21 12:34:56: in UTC.' : ''}` : 'The number of an event.'));
  input.addEventListener('keydown', event => {
    if (event.key === 'Enter') { event.preventDefault(); go(); }
  });
  input.focus();
}

/** Asks for a text. */
export function textDialog(title: string, label: string, current: string, done: (text: string) => void): void {
  const input = element('input', {type: 'text', 'aria-label': label, size: 40, value: current, autocomplete: 'off'});
  const choose = () => { if (input.value.trim()) { box.close(); done(input.value.trim()); } };
  const box = dialog(title, element('div', {class: 'bar'}, input, button('OK', choose)));
  input.addEventListener('keydown', event => {
    if (event.key === 'Enter') { event.preventDefault(); choose(); }
  });
  input.focus();
  input.select();
}

/** One of several; `done` gets its value. */
function choiceDialog(title: string, label: string, options: {value: string; text: string}[], current: string, note: string, done: (value: string) => void): void {
  const select = element('select', {'aria-label': label}, ...options.map(option => element('option', {value: option.value}, option.text)));
  select.value = current;
  const choose = () => { box.close(); done(select.value); };
  const box = dialog(title, element('div', {class: 'bar'}, select, button('OK', choose)), element('p', {class: 'note'}, note));
  select.addEventListener('keydown', event => {
    if (event.key === 'Enter') { event.preventDefault(); choose(); }
  });
  select.focus();
}

const fieldsOf = (app: App, isNumeric: boolean) => app.model.fields.filter(field => field.isNumeric || !isNumeric).map(field => ({value: field.name, text: field.name}));

export function colourDialog(app: App): void {
  const {state} = app.store;
  choiceDialog('Colours by the value of a field', 'Field of the colours', [{value: '', text: '(colours by kind)'}, ...fieldsOf(app, false)], colourField(state), 'Where several events are in one place, the largest number gives the colour; of texts that which is met last in the trace for the first time.',
    field => app.store.update({colour: field ? 'field' : 'kind', colourField: field}));
}

export function fieldDialog(app: App): void {
  const fields = fieldsOf(app, true);
  choiceDialog('Draw a field as a line', 'Field', [{value: '', text: '(none)'}, ...fields], app.store.state.field, 'Below each track: a line through the values, in a band from the least to the most.', field => app.store.update({field}));
}

/** What an action says when it fails. */
function attempt(app: App, work: Promise<unknown>): void {
  work.catch((error: unknown) => { if (!isAbort(error)) app.say(error instanceof Error ? error.message : String(error)); });
}

const OFFERS_SHOWN = 300;

/** The traces that kymo view offers (--offer), the newest first. The page names none: it asks for a number of the list. */
export async function openDialog(app: App): Promise<void> {
  if (!app.model.server?.canChange)
    return app.say('This page has no server: kymo view opens other traces.');
  const {list, offers} = await app.source.offers();
  const input = element('input', {type: 'text', 'aria-label': 'Find a trace', placeholder: 'A part of the name', autocomplete: 'off'}), rows = element('tbody'), said = element('p', {class: 'note', role: 'status'});
  const open = (offer: Offer) => {
    setText(said, `Opening ${offer.name} …`);
    app.source.open(list, offer.offer).then(() => { box.close(); app.say(`${offer.name} is open.`); app.model.poll(); },
      (error: unknown) => setText(said, error instanceof Error ? error.message : String(error)));
  };
  const show = () => {
    const found = offers.filter(offer => offer.name.toLowerCase().includes(input.value.trim().toLowerCase()));
    rows.replaceChildren(...found.slice(0, OFFERS_SHOWN).map(offer => element('tr', {}, element('td', {}, button(offer.name, () => open(offer), {class: 'link'})),
      element('td', {class: 'number'}, offer.isFolder ? 'folder' : bytes(offer.bytes)), element('td', {}, `${utcDate(offer.changed)} ${utcTime(offer.changed, 0)} UTC`))));
    setText(said, offers.length === 0 ? 'Nothing is offered.' : found.length > OFFERS_SHOWN ? `${found.length - OFFERS_SHOWN} more: search for a part of the name.` : '');
    return found;
  };
  input.addEventListener('input', show);
  input.addEventListener('keydown', event => {
    const [first] = show();
    if (event.key === 'Enter' && first) { event.preventDefault(); open(first); }
  });
  const box = dialog('Open another trace', element('div', {class: 'bar'}, input), said,
    element('table', {class: 'list'}, element('thead', {}, element('tr', {}, ...['Trace', 'Size', 'Changed'].map(name => element('th', {scope: 'col'}, name)))), rows),
    element('p', {class: 'note'}, 'Those that the command offers: kymo view --offer FOLDER TRACE. They are read with the options of the command.'));
  show();
  input.focus();
}

const CPEL_CLOCKS = [{value: 'none', text: 'as their numbers say'}, {value: 'us', text: 'ticks per microsecond'}, {value: 's', text: 'ticks per second'}];

/** Clocks that files do not state: g2 asks for them when it reads an event log. */
export function clocksDialog(app: App): void {
  const {server} = app.model;
  if (!server?.canChange || server.files.length === 0)
    return app.say(server?.canChange ? 'No trace is open.' : 'This page has no server: kymo view changes clocks.');
  const gist = element('input', {type: 'text', inputmode: 'numeric', 'aria-label': 'Ticks per second of Gist logs', placeholder: '1000000000', value: server.gistClock, size: 14}), said = element('p', {class: 'note', role: 'status'});
  const cpel = element('select', {'aria-label': 'Clocks of CPEL files'}, ...CPEL_CLOCKS.map(item => element('option', {value: item.value}, item.text)));
  cpel.value = server.cpelClock || 'none';
  const change = () => {
    const hz = gist.value.trim(), isValid = hz === '' || /^\d{1,10}$/.test(hz) && +hz >= 1 && +hz < 2 ** 32;
    set(gist, {'aria-invalid': isValid ? null : 'true'});
    if (!isValid)
      return setText(said, 'The clock of Gist logs is a number from 1 to 4294967295.');
    app.source.reload({gistclock: hz || '0', cpelclock: cpel.value}).then(() => {
      box.close();
      app.store.restart({begin: 0n, span: 0n, selection: null, markA: null, markB: null, slew: new Map()}); // times of another clock
      app.say('The clocks are changed: the whole trace is shown.');
      app.model.poll();
    }, (error: unknown) => setText(said, error instanceof Error ? error.message : String(error)));
  };
  const box = dialog('Clocks', element('div', {class: 'bar'}, element('label', {}, 'Gist logs: ', gist, ' ticks per second')), element('div', {class: 'bar'}, element('label', {}, 'CPEL files: ', cpel)),
    element('div', {class: 'bar'}, button('Read again', change)), said,
    element('p', {class: 'note'}, `Other formats state their clocks. Now: ${app.model.schema.clocks.map(clock => `${clock.name || 'clock'} ${count(clock.frequency)} Hz`).join(', ') || 'no clock'}.`));
  for (const control of [gist, cpel] as HTMLElement[])
    control.addEventListener('keydown', event => { if (event.key === 'Enter') { event.preventDefault(); change(); } });
  gist.focus();
  gist.select();
}

export function quitDialog(app: App, quit: () => Promise<void>): void {
  const end = button('End kymo view', () => { box.close(); attempt(app, quit()); });
  const box = dialog('End kymo view?', element('p', {}, 'The server ends. What is shown stays in this page, but nothing more can be read.'), element('div', {class: 'bar'}, end));
  end.focus();
}

const WAYS = [{value: 'thread', text: 'thread'}, {value: 'process', text: 'process'}, {value: 'cpu', text: 'processor'}, {value: 'stream', text: 'stream'}, {value: 'class', text: 'kind of event'}];

export function trackByDialog(app: App): void {
  const fields = app.model.fields.map(field => ({value: `field ${field.name}`, text: `field ${field.name}`}));
  choiceDialog('What a track is', 'A track for each', [...WAYS, ...fields], app.model.server?.trackBy ?? 'thread', 'The index is built again. Order, hidden and selected tracks are forgotten.', by => {
    const isField = by.startsWith('field ');
    app.source.trackBy(isField ? 'field' : by, isField ? by.slice(6) : undefined).then(() => app.model.poll(), error => app.say(error instanceof Error ? error.message : String(error)));
  });
}

/** Asks for a file of the reader's machine; the file never leaves the page. */
export function askForFile(accept: string): Promise<string | null> {
  return new Promise(resolve => {
    const input = element('input', {type: 'file', accept});
    input.addEventListener('change', () => { const file = input.files?.[0]; void (file ? file.text().then(resolve) : resolve(null)); });
    input.addEventListener('cancel', () => resolve(null));
    input.click();
  });
}
