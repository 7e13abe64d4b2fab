// SPDX-License-Identifier: MIT
// Times, durations and counts in the forms of `kymo cat` and `kymo stat`.

const UNITS = [{name: 's', ns: 1e9, places: 9}, {name: 'ms', ns: 1e6, places: 6}, {name: 'us', ns: 1e3, places: 3}, {name: 'ns', ns: 1, places: 0}];
const EXACT = [1_000_000_000n, 1_000_000n, 1_000n];

function digitsOf(value: number): number {
  let count = 1;
  for (; value >= 10; value /= 10)
    count++;
  return count;
}

/** A duration with a number of digits, as `kymo stat` prints it: "12.853225 ms". */
export function duration(ns: number, digits = 7): string {
  if (!Number.isFinite(ns))
    return '–';
  const wanted = digits > 0 && digits < 16 ? digits : 15, step = 10 ** (digitsOf(Math.abs(ns)) - wanted);
  const size = step > 1 ? Math.round(Math.abs(ns) / step) * step : Math.abs(ns);
  const found = UNITS.findIndex(unit => size >= unit.ns), i = found < 0 ? UNITS.length - 1 : found, value = size / UNITS[i].ns;
  const most = i === UNITS.length - 1 && size !== Math.floor(size) ? 3 : UNITS[i].places;
  const places = Math.max(0, Math.min(wanted - digitsOf(value), most));
  return `${ns < 0 && value > 0 ? '-' : ''}${value.toFixed(places)} ${UNITS[i].name}`;
}

/** All digits of a duration: "1.204000001 s". */
export function durationExact(ns: bigint): string {
  const sign = ns < 0n ? '-' : '', size = ns < 0n ? -ns : ns, i = EXACT.findIndex(unit => size >= unit);
  if (i < 0)
    return `${sign}${size} ns`;
  return `${sign}${size / EXACT[i]}.${String(size % EXACT[i]).padStart(UNITS[i].places, '0')} ${UNITS[i].name}`;
}

/** Seconds with nine places: "2.084914514". */
export function seconds(ns: bigint, places = 9): string {
  const sign = ns < 0n ? '-' : '', size = ns < 0n ? -ns : ns;
  const fraction = String(size % 1_000_000_000n).padStart(9, '0').slice(0, places);
  return `${sign}${size / 1_000_000_000n}${places > 0 ? '.' + fraction : ''}`;
}

const DAY_NS = 86_400_000_000_000n;

function dayOf(ns: bigint): bigint {
  return ns >= 0n ? ns / DAY_NS : -((-ns + DAY_NS - 1n) / DAY_NS);
}

/** "2026-11-21" of nanoseconds since 1970 in UTC. */
export function utcDate(ns: bigint): string {
  const date = new Date(Number(dayOf(ns)) * 86_400_000);
  return Number.isNaN(date.getTime()) ? '?' : date.toISOString().replace(/T.*/, '');
}

/** "02:04:12.288324572" of nanoseconds since 1970 in UTC. */
export function utcTime(ns: bigint, places = 9): string {
  const inDay = ns - dayOf(ns) * DAY_NS, total = inDay / 1_000_000_000n, two = (value: bigint) => String(value).padStart(2, '0');
  const fraction = String(inDay % 1_000_000_000n).padStart(9, '0').slice(0, places);
  return `${two(total / 3600n)}:${two(total / 60n % 60n)}:${two(total % 60n)}${places > 0 ? '.' + fraction : ''}`;
}

export type ClockMode = 'relative' | 'absolute' | 'utc';

/** What times of a trace mean. */
export interface Clock {
  begin: bigint;
  isEpoch: boolean;
  hasTimes: boolean;
}

/** A time in the mode: since the trace's begin, in seconds of its clock, or of the day. Without times it is an event's number. */
export function timeText(ns: bigint, mode: ClockMode, clock: Clock, places = 9): string {
  if (!clock.hasTimes)
    return `#${ns}`;
  if (mode === 'utc' && clock.isEpoch)
    return utcTime(ns, places);
  if (mode === 'relative')
    return `${ns >= clock.begin ? '+' : ''}${seconds(ns - clock.begin, places)}`;
  return seconds(ns, places);
}

/** A whole number with thin spaces between thousands: "50 000 000". */
export function count(value: number): string {
  return Number.isFinite(value) ? String(Math.trunc(value)).replace(/\B(?=(\d{3})+$)/g, '\u202f') : '–';
}

const SIZES = [{size: 1e12, name: 'T'}, {size: 1e9, name: 'G'}, {size: 1e6, name: 'M'}, {size: 1e3, name: 'k'}];

/** Three digits and a letter: "13.6 M". */
export function countShort(value: number): string {
  if (!Number.isFinite(value))
    return '–';
  for (const {size, name} of SIZES)
    if (Math.abs(value) >= size * 0.9995)
      return `${Number(value / size) >= 999.5 ? Math.round(value / size) : (value / size).toPrecision(3)} ${name}`;
  return String(value);
}

/** Bytes: "12.3 MB". */
export function bytes(value: number): string {
  return value < 1000 ? `${value} B` : `${countShort(value)}B`;
}

/** A value of a field: at most seven digits, no needless zeros. */
export function value(number: number): string {
  return Number.isFinite(number) ? String(Number(number.toPrecision(7))) : '–';
}

export function plural(number: number, one: string, many = one + 's'): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/**
 * A time as a person types it: "+1.5", "+20 ms" and "-3us" from the trace's begin; seconds of the clock; "12:34:56.789" of the first
 * day; "2026-11-21 12:34:56"; without times a number. Null: it is none.
 */
export function parseTime(input: string, clock: Clock): bigint | null {
  const typed = input.trim();
  if (!clock.hasTimes)
    return /^#?\d+$/.test(typed) ? BigInt(typed.replace('#', '')) : null;
  const plain = /^([+-]?)(\d+)(?:\.(\d*))?\s*(s|ms|us|µs|ns|)$/.exec(typed);
  if (plain) {
    const [, sign, whole, fraction = '', unit] = plain;
    const places = {s: 9, '': 9, ms: 6, us: 3, 'µs': 3, ns: 0}[unit] ?? 9;
    const ns = BigInt(whole + fraction.padEnd(places, '0').slice(0, places));
    return sign ? clock.begin + (sign === '-' ? -ns : ns) : unit ? clock.begin + ns : ns;
  }
  const moment = /^(?:(\d{4}-\d\d-\d\d)[ T])?(\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?Z?$/.exec(typed);
  if (!moment || !clock.isEpoch)
    return null;
  const [, date = utcDate(clock.begin), hours, minutes, secs = '0', fraction = ''] = moment, day = Date.parse(date + 'T00:00:00Z');
  if (Number.isNaN(day))
    return null;
  return BigInt(day) * 1_000_000n + (BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(secs)) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
}

/** A name without what groups it, for places where it does not fit: "net:rx" is "rx". */
export function withoutGroup(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1) || name;
}
/** A name, as much of it as fits: the group is left out first. `widthOf` measures. '': not even two characters do. */
export function fitted(name: string, room: number, widthOf: (text: string) => number): string {
  if (widthOf(name) <= room)
    return name;
  const short = withoutGroup(name), width = widthOf(short);
  if (width <= room)
    return short;
  const length = Math.floor(short.length * (room - 8) / width);
  return length > 1 ? short.slice(0, length) + '…' : '';
}
