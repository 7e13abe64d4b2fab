// SPDX-License-Identifier: MIT
// The table of commands and their keys: those of g2, and modern ones. The dialog of `?`, the menus and the palette are made of it.

export type Group = 'File' | 'Time' | 'Tracks' | 'Events' | 'Search' | 'Snapshots' | 'View' | 'Page';

export interface Command {
  id: string;
  title: string;
  group: Group;
  keys: readonly string[];
  /** The row of g2's checklist that it answers. */
  g2?: string;
}

const command = (group: Group, id: string, title: string, keys: string[] = [], g2?: string): Command => ({id, title, group, keys, g2});

export const COMMANDS: readonly Command[] = [
  command('File', 'open', 'Open another trace …', ['Ctrl+o'], 'B1, B2'),
  command('File', 'reload', 'Read the trace and its definitions again', ['Alt+r'], 'B3'),
  command('File', 'clocks', 'Change the clocks of Gist logs and CPEL files …', [], 'B4, B5'),
  command('File', 'export-png', 'Save the picture as PNG', [], 'B6, P'),
  command('File', 'export-svg', 'Save the picture as SVG', [], 'B6, P'),
  command('File', 'print', 'Print the picture …', ['Ctrl+p'], 'B6, P'),
  command('File', 'quit', 'End kymo view …', ['Ctrl+q', 'Q'], 'B7'),
  command('Time', 'zoom-in', 'Zoom in: two thirds of the window', ['w', 'Ctrl+='], 'E1'),
  command('Time', 'zoom-out', 'Zoom out: four thirds of the window', ['s', 'Ctrl+-'], 'E2'),
  command('Time', 'pan-left', 'Move left by a sixth', ['a', 'Shift+ArrowLeft'], 'E3'),
  command('Time', 'pan-right', 'Move right by a sixth', ['d', 'Shift+ArrowRight'], 'E4'),
  command('Time', 'start', 'Go to the start', ['Home'], 'E5'),
  command('Time', 'end', 'Go to the end', ['End'], 'E6'),
  command('Time', 'fit', 'Show the whole trace', ['0']),
  command('Time', 'zoom-ruler', 'Zoom to the ruler', ['Z'], 'E9'),
  command('Time', 'clear-ruler', 'Remove the ruler', [], 'E9'),
  command('Time', 'ruler-from-window', 'Set the ruler to the window', ['u']),
  command('Time', 'ruler-from-marks', 'Set the ruler from A to B', ['U']),
  command('Time', 'go-to-time', 'Go to a time …', ['G', ':']),
  command('Time', 'undo', 'Undo the last change of the view', ['Backspace', 'Ctrl+z']),
  command('Time', 'redo', 'Redo', ['Shift+Backspace', 'Ctrl+y', 'Ctrl+Shift+Z']),
  command('Time', 'clock', 'Next clock of the ruler: relative, absolute, UTC', ['.']),
  command('Tracks', 'row-up', 'Scroll up by a track', ['r'], 'F1'),
  command('Tracks', 'row-down', 'Scroll down by a track', ['f'], 'F1'),
  command('Tracks', 'rows-up', 'Scroll up by ten tracks', ['R', 'PageUp'], 'F1'),
  command('Tracks', 'rows-down', 'Scroll down by ten tracks', ['F', 'PageDown'], 'F1'),
  command('Tracks', 'top', 'Go to the first track', ['Ctrl+Home'], 'F2'),
  command('Tracks', 'bottom', 'Go to the last track', ['Ctrl+End'], 'F2'),
  command('Tracks', 'focus-up', 'Focus the track above', ['ArrowUp']),
  command('Tracks', 'focus-down', 'Focus the track below', ['ArrowDown']),
  command('Tracks', 'more-tracks', 'More tracks: lower rows', ['g', '-'], 'F4'),
  command('Tracks', 'less-tracks', 'Fewer tracks: higher rows', ['t', '+'], 'F4'),
  command('Tracks', 'track-first', 'Push the track to the top', ['<'], 'F6'),
  command('Tracks', 'track-last', 'Pull the track to the bottom', ['>'], 'F5'),
  command('Tracks', 'track-up', 'Move the track up', ['Alt+ArrowUp']),
  command('Tracks', 'track-down', 'Move the track down', ['Alt+ArrowDown']),
  command('Tracks', 'select-track', 'Select the track, or not', [' '], 'F7'),
  command('Tracks', 'select-none', 'Select no track', [], 'F7'),
  command('Tracks', 'pin', 'Pin the track above the others, or not', ['P']),
  command('Tracks', 'hide', 'Hide the track (or the selected tracks)', ['h'], 'F9'),
  command('Tracks', 'show-all', 'Show all hidden tracks', ['H'], 'F9'),
  command('Tracks', 'fold', 'Fold or unfold the group of the track', ['v']),
  command('Tracks', 'order-activity', 'Order by activity in the window', ['A']),
  command('Tracks', 'order-name', 'Order by name', [], 'F8'),
  command('Tracks', 'order-value', 'Order by number', [], 'F8'),
  command('Tracks', 'order-original', 'Original order (no chase)', ['O'], 'I2'),
  command('Tracks', 'track-by', 'What a track is: thread, processor, field …', ['T']),
  command('Tracks', 'slew-left', 'Slew the selected tracks left by the ruler', ['{'], 'M'),
  command('Tracks', 'slew-right', 'Slew the selected tracks right by the ruler', ['}'], 'M'),
  command('Tracks', 'slew-clear', 'Remove all slews', [], 'M'),
  command('Tracks', 'slew-copy', 'Copy a command with the slews', [], 'M'),
  command('Events', 'next-event', 'Next event of the track', [']', 'ArrowRight']),
  command('Events', 'previous-event', 'Previous event of the track', ['[', 'ArrowLeft']),
  command('Events', 'box', 'Open or close the details of the event', ['Enter'], 'G1'),
  command('Events', 'close-boxes', 'Close all details', ['B'], 'G1'),
  command('Events', 'mark-a', 'Set mark A', ['m']),
  command('Events', 'mark-b', 'Set mark B', ['M']),
  command('Events', 'clear-marks', 'Remove the marks'),
  command('Events', 'latency-from', 'Latency from the kind of this event', ['k']),
  command('Events', 'latency-to', 'Latency to the kind of this event', ['K']),
  command('Events', 'only-kind', 'Show only the kind of this event', ['o'], 'G6'),
  command('Events', 'all-kinds', 'Show all kinds', ['i'], 'G6'),
  command('Search', 'search', 'Search or filter', ['/'], 'H1'),
  command('Search', 'next', 'Next match in the direction', ['n'], 'H4'),
  command('Search', 'previous', 'Next match against the direction', ['N'], 'H4'),
  command('Search', 'direction', 'Turn the direction of search and chase', ['b'], 'H6'),
  command('Search', 'filter-mode', 'The filter dims or hides', ['\\']),
  command('Search', 'clear-filter', 'Remove the filter'),
  command('Search', 'copy-command', 'Copy the filter as a command line', ['Y']),
  command('Search', 'chase-event', 'Chase: tracks by their next event of this kind', ['j'], 'I1'),
  command('Search', 'chase-datum', 'Chase: tracks by their next event with this datum', ['J'], 'I1'),
  command('Search', 'chase-track', 'Chase: the track of this event first', [], 'I1'),
  command('Snapshots', 'snapshot', 'Take a snapshot of the view', ['x'], 'K1'),
  command('Snapshots', 'next-snapshot', 'Go to the next (older) snapshot', ['z'], 'K2'),
  command('Snapshots', 'delete-snapshot', 'Delete the current snapshot', ['Delete'], 'K3'),
  command('Snapshots', 'name-snapshot', 'Name the current snapshot …', [], 'K4'),
  command('Snapshots', 'write-snapshots', 'Write the snapshots to a file', ['p'], 'K4'),
  command('Snapshots', 'load-snapshots', 'Load snapshots from a file', ['l'], 'K5'),
  command('View', 'shape', 'Density, or events with their names', ['e'], 'L1'),
  command('View', 'colour', 'Next colours: by kind, by track, by the field if one is chosen, none', ['c'], 'L2'),
  command('View', 'colour-field', 'Colours by the value of a field …', ['C'], 'L2'),
  command('View', 'field', 'Draw a field as a line …', ['V']),
  command('View', 'theme', 'Next theme: of the system, light, dark'),
  command('Page', 'share', 'Copy the link to this view', ['y']),
  command('Page', 'palette', 'Search all commands', ['Ctrl+k']),
  command('Page', 'next-region', 'Go to the next part of the page', ['F6']),
  command('Page', 'help', 'Show all keys', ['?', 'F1'], 'B8'),
  ...Array.from({length: 9}, (_, i) => command('Page', `tab-${i + 1}`, `Open tab ${i + 1}`, [String(i + 1)])),
];

/** Gestures of the pointer, for the same dialog. */
export const GESTURES: readonly [gesture: string, effect: string, g2?: string][] = [
  ['Drag', 'Zooms to the interval. Escape cancels', 'E8'],
  ['Drag with the right button, or on the ruler', 'Measures: the ruler stays until Escape, and snaps to events', 'E9'],
  ['Drag with the middle button, or with Shift', 'Moves the view'],
  ['Wheel', 'Scrolls the tracks; with Shift by ten', 'F1'],
  ['Ctrl + wheel', 'Zooms at the pointer'],
  ['Wheel to the side', 'Moves in time'],
  ['Click on an event or span', 'Opens its details, or closes them', 'G1'],
  ['Click beside events, or on a name', 'Selects the track, or not', 'F7'],
  ['Shift + click', 'Pushes the track to the top', 'F6'],
  ['Ctrl + click', 'Pulls the track to the bottom', 'F5'],
  ['Drag a name', 'Moves the track'],
  ['Double click', 'Zooms in at the pointer'],
];

export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}

/** The name of a key press as in the table: "w", "Ctrl+Home". Shift is named only where the key itself does not say it. */
export function chord(press: KeyPress): string {
  const isText = [...press.key].length === 1 && press.key !== ' ';
  const withControl = press.ctrlKey || press.metaKey;
  const shift = press.shiftKey && (!isText || withControl && /[A-Z]/.test(press.key)) ? 'Shift+' : '';
  return `${withControl ? 'Ctrl+' : ''}${press.altKey ? 'Alt+' : ''}${shift}${press.key}`;
}

const byKey = new Map(COMMANDS.flatMap(item => item.keys.map(key => [key, item] as const)));

export function commandOf(press: KeyPress): Command | undefined {
  return byKey.get(chord(press));
}

const SPELLED: {[key: string]: string} = {' ': 'Space', ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→'};

/** A key as it is shown: "Ctrl+↑". */
export function spelled(key: string): string {
  return key.replace(/[^+]+$|\+$/, part => SPELLED[part] ?? part);
}
