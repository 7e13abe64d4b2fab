// SPDX-License-Identifier: MIT
// Filters in FDL (docs/filters.md) as the page makes them.

export function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t').replace(/\0/g, '\\0')}"`;
}

/** The kinds that are on, as an expression; '' if all are. The shorter list of names is written. */
export function kindsFilter(kinds: readonly string[], off: readonly string[]): string {
  const offNames = new Set(off), there = new Set(kinds), without = off.filter(name => there.has(name)), rest = kinds.filter(name => !offNames.has(name));
  if (without.length === 0)
    return '';
  return rest.length > 0 && rest.length < without.length ? `EVENT IN (${rest.map(quote).join(', ')})` : `NOT EVENT IN (${without.map(quote).join(', ')})`;
}

const TOKENS = /(?<blank>\s+|--[^\n]*)|"(?:[^"\\\n]|\\.)*"|`[^`\n]*`|[A-Za-z_]\w*|\d[\w]*(?:\.\d[\w]*)?(?:(?<=[eE])[+-]\d+)?|[^]/y, PATTERN = /\s*\/(?:[^/\\\n]|\\.)*\//y;

interface Token {
  text: string;
  begin: number;
  end: number;
}
/** The words and signs of a filter; comments are left out. What follows MATCHES is a pattern, whatever is in it. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    const rule = tokens[tokens.length - 1]?.text === 'MATCHES' && (PATTERN.lastIndex = at, PATTERN.test(text)) ? PATTERN : TOKENS;
    rule.lastIndex = at;
    const found = rule.exec(text), end = rule.lastIndex || at + 1;
    if (found && !found.groups?.blank)
      tokens.push({text: text.slice(at, end), begin: at, end});
    at = end;
  }
  return tokens;
}

/** A filter in three parts: "FILTER name; … SELECT ", the expression that selects, " FIRST 10." The first and the last may be ''. */
export interface FilterParts {
  head: string;
  select: string;
  tail: string;
}
export function partsOf(text: string): FilterParts {
  const tokens = tokensOf(text), isWhole = tokens[0]?.text === 'FILTER', select = isWhole ? tokens.findIndex(token => token.text === 'SELECT') : -1;
  let first = select + 1, last = tokens.length - 1;
  if (isWhole && select < 0 || first > last)
    return {head: '', select: text, tail: ''};
  if (isWhole && tokens[last].text === '.')
    last--;
  if (last - 1 > first && tokens[last - 1].text === 'FIRST' && /^\d/.test(tokens[last].text))
    last -= 2;
  first = Math.min(first, last);
  return {head: text.slice(0, tokens[first].begin), select: text.slice(tokens[first].begin, tokens[last].end), tail: text.slice(tokens[last].end, tokens[tokens.length - 1].end)};
}

/** What both filters select. One of them may be a whole one, with definitions: the other becomes a part of its SELECT. */
export function both(a: string, b: string): string {
  if (!a.trim() || !b.trim())
    return a.trim() ? a : b;
  const x = partsOf(a), y = partsOf(b);
  return `${x.head}${y.head}(${x.select}) AND (${y.select})${x.tail}${y.tail}`;
}

/** A word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

/** The name of a field as filters write it; words in capitals may be those of the language. */
export function fieldName(path: string): string {
  return path.split('.').map(word => /^[A-Za-z_]\w*(\[\d+\])*$/.test(word) && !/^[A-Z]+$/.test(word) ? word : '`' + word + '`').join('.');
}
/** A field that is equal to the text by which it is shown: a number, or a text in quotes. */
export function fieldFilter(path: string, text: string): string {
  const number = /^(-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?))(?:\s|$)/.exec(text);
  return `${fieldName(path)} = ${number ? number[1] : quote(text.replace(/^"(.*)"$/s, '$1'))}`;
}
/** The whole numbers in a bar, both ends of it: bars are powers of two, which doubles have exactly, and end one before. */
export function limitsOf({low, high}: {low: number; high: number}): {low: bigint; high: bigint} {
  const most = 2n ** 63n, end = low < 0 ? BigInt(2 ** Math.round(Math.log2(1 - low))) : BigInt(high);
  const [first, last] = low < 0 ? [1n - end, -(end / 2n)] : [BigInt(low), end - 1n];
  return {low: first < -most ? -most : first, high: last >= most ? most - 1n : last};
}
/**
 * The values in a bar of floating-point numbers, as a filter: bars have their begin, and zero has a bar of its own. FDL has
 * no number above 1e308, and infinities are in no bar: half of the largest numbers is compared.
 */
export function floatFilter(path: string, {low, high}: {low: number; high: number}): string {
  const name = fieldName(path), half = 2 ** 1023, isLow = low === -Number.MAX_VALUE, isHigh = high === Number.MAX_VALUE;
  return low === high ? `${name} = ${low}` : `${isLow ? `${name} / 2 >= -${half}` : `${name} >= ${low}`} AND ${isHigh ? `${name} / 2 < ${half}` : `${name} < ${high}`}`;
}
/** A command that reads the traces with a filter: `command` is what the server says, "kymo cat TRACE --as pcap". */
export function filtered(command: string, filter: string): string {
  return filter ? `${command} --filter ${shellWord(filter)}` : command;
}
/** The command of statistics that reads the traces as `command` does: "kymo stat latency --from a TRACE". */
export function statCommand(command: string, words: readonly string[]): string {
  return command.replace(/^kymo cat\b/, ['kymo', 'stat', ...words.map(shellWord)].join(' '));
}
/** The events of a time window, `end` not in it, as a filter that counts from the begin of the trace. */
export function timeFilter(begin: bigint, end: bigint, traceBegin: bigint): string {
  const from = begin > traceBegin ? begin - traceBegin : 0n, to = end - 1n - traceBegin;
  return `TIME IN (+${from} ns .. +${to > from ? to : from} ns)`;
}

/**
 * A place in both(base, filter), where the base is an expression, as a place in the filter's own text; from 1. Null: it is
 * in none. Columns count bytes of UTF-8.
 */
export function columnIn(base: string, filter: string, column: number): number | null {
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  if (!base)
    return column >= 1 && column <= bytes(filter) + 1 ? column : null;
  const {head, select, tail} = partsOf(filter), before = bytes(head), selectAt = before + bytes(`(${base}) AND (`), tailAt = selectAt + bytes(select) + 1;
  if (column <= before)
    return column;
  if (column > selectAt && column <= tailAt)
    return column - selectAt + before;
  return column > tailAt && column <= tailAt + bytes(tail) + 1 ? column - tailAt + before + bytes(select) : null;
}
/** Splits a text at a column of bytes: what is before, the character there, and what follows. */
export function splitAt(text: string, column: number): [string, string, string] {
  const bytes = new TextEncoder().encode(text), decoder = new TextDecoder();
  let at = Math.max(0, Math.min(bytes.length, column - 1));
  while (at > 0 && at < bytes.length && (bytes[at] & 0xc0) === 0x80)
    at--;
  const before = decoder.decode(bytes.subarray(0, at)), rest = text.slice(before.length), [here = ''] = rest;
  return [before, here, rest.slice(here.length)];
}
