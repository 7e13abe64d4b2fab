// SPDX-License-Identifier: MIT
// A part of FDL (docs/filters.md) for pages without a server: names, relations, IN, LIKE, MATCHES, IS PRESENT, TIME IN,
// AND, OR, NOT. What it does not have is refused, with its place; it never selects other events than kymo does.
import {ReplyError} from '../protocol';
import type {Data, Event} from './data';
import {bare, numberOf} from './data';

type Test = (event: Event) => boolean;
type Value = {number: number; text: null} | {number: null; text: string};
interface Token {
  type: 'name' | 'quoted' | 'text' | 'number' | 'pattern' | 'sign' | 'end';
  text: string;
  at: number;
}

const BLANKS = /(?:\s|--[^\n]*(?:\n|$))*/y;
const TOKENS = /(?:(?<text>"(?:[^"\\\n]|\\.)*")|(?<quoted>`[^`\n]*`)|(?<pattern>\/(?:[^/\\\n]|\\.)+\/)|(?<number>0x[0-9a-fA-F]+|\d+(?:\.(?!\.)\d+)?(?:[eE][+-]?\d+)?)|(?<name>[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*)|(?<sign><>|<=|>=|\.\.|[=<>(),+\-;]))/y;
const UNITS: {[unit: string]: number} = {ns: 1, us: 1e3, ms: 1e6, s: 1e9};
const KEYWORDS = /^(AND|OR|NOT|IN|LIKE|MATCHES|IS|PRESENT|TIME|START|END|FILTER|SELECT|BETWEEN|AFTER|BEFORE|WITHIN|EVERY|ACTIVITY|KIND|SEGMENT|DAMAGED|HAS|COUNT|SIZE|IF|CHANGED|FIRST|LAST)$/;

function bytesBefore(text: string, at: number): number {
  return new TextEncoder().encode(text.slice(0, at)).length;
}

class Parser {
  private token: Token = {type: 'end', text: '', at: 0};
  private next = 0;

  constructor(private text: string, private data: Data, private kinds: readonly string[]) {
    this.step();
  }

  all(): Test {
    const test = this.or();
    if (this.token.type !== 'end')
      this.fail(`expected the end, found ${this.token.text}`);
    return test;
  }

  private fail(message: string, at = this.token.at): never {
    throw new ReplyError(message, 400, bytesBefore(this.text, at) + 1);
  }
  private step(): Token {
    const before = this.token;
    BLANKS.lastIndex = this.next;
    BLANKS.exec(this.text);
    const at = TOKENS.lastIndex = BLANKS.lastIndex, found = TOKENS.exec(this.text);
    if (!found) {
      if (at < this.text.length)
        this.fail(this.text[at] === '"' ? 'this string has no closing quote on its line' : `a page without a server does not know ${this.text[at]}`, at);
      this.token = {type: 'end', text: 'the end', at};
      return before;
    }
    const [type, text] = Object.entries(found.groups ?? {}).find(([, value]) => value !== undefined) as [Token['type'], string];
    this.next = TOKENS.lastIndex;
    this.token = {type, text, at: this.next - text.length};
    return before;
  }
  private isWord(word: string): boolean {
    return this.token.type === (/\w/.test(word) ? 'name' : 'sign') && this.token.text === word;
  }
  private take(word: string): boolean {
    const isIt = this.isWord(word);
    if (isIt)
      this.step();
    return isIt;
  }
  private need(word: string): void {
    if (!this.take(word))
      this.fail(`expected ${word}, found ${this.token.text}`);
  }

  private or(): Test {
    let test = this.and();
    while (this.take('OR')) {
      const a = test, b = this.and();
      test = event => a(event) || b(event);
    }
    return test;
  }
  private and(): Test {
    let test = this.not();
    while (this.take('AND')) {
      const a = test, b = this.not();
      test = event => a(event) && b(event);
    }
    return test;
  }
  private not(): Test {
    if (this.take('NOT')) {
      const test = this.not();
      return event => !test(event);
    }
    if (this.take('(')) {
      const test = this.or();
      this.need(')');
      return test;
    }
    return this.relation();
  }

  private relation(): Test {
    const {token} = this;
    if (this.take('TIME')) {
      this.need('IN');
      return this.times();
    }
    if (token.type !== 'name' && token.type !== 'quoted')
      this.fail(`expected a name, found ${token.text}`);
    if (token.type === 'name' && KEYWORDS.test(token.text))
      this.fail(`a page without a server does not know ${token.text}; kymo cat --filter does`);
    this.step();
    const read = this.reader(token);
    if (this.take('IS')) {
      const isNot = this.take('NOT');
      this.need('PRESENT');
      return event => (read(event) !== null) !== isNot;
    }
    const isNot = this.take('NOT');
    if (this.take('IN'))
      return this.negated(isNot, this.list(read));
    if (this.take('LIKE'))
      return this.negated(isNot, this.like(read));
    if (this.take('MATCHES'))
      return this.negated(isNot, this.matches(read));
    const sign = this.token.text;
    if (isNot || this.token.type !== 'sign' || !['=', '<>', '<', '<=', '>', '>='].includes(sign))
      this.fail(`expected a relation, found ${sign}`);
    this.step();
    const at = this.token.at, wanted = this.value();
    if (token.type === 'name' && token.text === 'EVENT' && wanted.text !== null && !this.kinds.includes(wanted.text))
      this.fail(`EVENT is never "${wanted.text}"`, at);
    return event => { const value = read(event); return value !== null && compare(value, wanted, sign); };
  }
  private negated(isNot: boolean, test: Test): Test {
    return isNot ? event => !test(event) : test;
  }

  /** What a name means for an event; null: it has no such field. */
  private reader(token: Token): (event: Event) => Value | null {
    const name = token.type === 'quoted' ? token.text.slice(1, -1) : token.text, {data, kinds} = this;
    if (name === 'EVENT' && token.type === 'name')
      return event => ({number: null, text: kinds[event.kind] ?? ''});
    if (name === 'RECORD' && token.type === 'name')
      return event => ({number: event.number, text: null});
    if (!data.events.some(event => event.values.has(name)))
      this.fail(`no event has a field "${name}"`, token.at);
    return event => {
      const value = event.values.get(name);
      if (value === undefined)
        return null;
      const number = numberOf(value);
      return number === null ? {number: null, text: bare(value)} : {number, text: null};
    };
  }

  private value(): Value {
    const isMinus = this.take('-'), token = this.step();
    if (token.type === 'text' && !isMinus)
      return {number: null, text: unescape(token.text)};
    if (token.type !== 'number')
      this.fail(`expected a value, found ${token.text}`, token.at);
    let number = Number(token.text);
    if (this.token.type === 'name' && UNITS[this.token.text])
      number *= UNITS[this.step().text];
    return {number: isMinus ? -number : number, text: null};
  }
  private list(read: (event: Event) => Value | null): Test {
    const tests: ((value: Value) => boolean)[] = [];
    this.need('(');
    do {
      const low = this.value();
      if (this.take('..')) {
        const high = this.value();
        tests.push(value => compare(value, low, '>=') && compare(value, high, '<='));
      } else
        tests.push(value => compare(value, low, '='));
    } while (this.take(','));
    this.need(')');
    return event => { const value = read(event); return value !== null && tests.some(test => test(value)); };
  }
  private like(read: (event: Event) => Value | null): Test {
    const token = this.step();
    if (token.type !== 'text')
      this.fail(`expected a text, found ${token.text}`, token.at);
    const pattern = glob(unescape(token.text));
    return event => { const value = read(event); return value !== null && value.text !== null && pattern.test(value.text); };
  }
  private matches(read: (event: Event) => Value | null): Test {
    const token = this.step();
    if (token.type !== 'pattern')
      this.fail(`expected a pattern between slashes, found ${token.text}`, token.at);
    let pattern: RegExp;
    try {
      pattern = new RegExp(token.text.slice(1, -1).replace(/\\\//g, '/'), 's');
    } catch {
      this.fail('this pattern is not valid', token.at);
    }
    return event => { const value = read(event); return value !== null && value.text !== null && pattern.test(value.text); };
  }
  private times(): Test {
    const {begin, end} = this.data.state, length = Number(end - begin);
    const bound = (): number => {
      if (this.take('START'))
        return 0;
      if (this.take('END'))
        return length;
      const isFromEnd = this.isWord('-');
      if (!isFromEnd && !this.isWord('+'))
        this.fail('a page without a server knows times as +5 ms, -5 ms, START and END');
      this.step();
      const size = this.value().number;
      if (size === null)
        this.fail('expected a time');
      return isFromEnd ? length - size : size;
    };
    this.need('(');
    const from = bound();
    this.need('..');
    const to = bound();
    this.need(')');
    return event => event.at >= from && event.at <= to;
  }
}

function unescape(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(.)/gs, (_, one: string) => ({n: '\n', r: '\r', t: '\t', 0: '\0'})[one] ?? one);
}
/** A glob as a pattern of the whole text. */
export function glob(text: string): RegExp {
  const parts = text.replace(/\[(!?)([^\]]*)\]|[*?]|[\\^$.|+(){}[\]/]/g, (all, not: string | undefined, set: string | undefined) =>
    all === '*' ? '.*' : all === '?' ? '.' : set !== undefined && set !== '' ? `[${not ? '^' : ''}${set.replace(/[\\\]^]/g, '\\$&')}]` : `\\${all}`);
  return new RegExp(`^${parts}$`, 'su');
}
function compare(value: Value, wanted: Value, sign: string): boolean {
  if (wanted.text !== null) {
    return value.text !== null && (sign === '=' ? value.text === wanted.text : sign === '<>' && value.text !== wanted.text);
  }
  const {number} = value, other = wanted.number;
  if (number === null)
    return false;
  return {'=': number === other, '<>': number !== other, '<': number < other, '<=': number <= other, '>': number > other, '>=': number >= other}[sign] ?? false;
}

/** A filter as a test of events. Throws a ReplyError with the place (in bytes, from 1) of what it does not know. */
export function compileFilter(text: string, data: Data): Test {
  return new Parser(text, data, data.kinds.kinds.map(kind => kind.name)).all();
}
