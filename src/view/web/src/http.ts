// SPDX-License-Identifier: MIT
// Asks the server of `kymo view`. A server that is gone is asked again, so a page goes on when it is back.
import type {Json} from './protocol';
import {ReplyError, fields, numberOrNull, text} from './protocol';
import type {Query, Transport} from './source';
import {pause} from './source';

export type Connection = 'up' | 'gone' | 'refused' | 'ended';

const RETRY_MS = [250, 500, 1000, 2000];

export class HttpTransport implements Transport {
  readonly name = 'http';
  private failures = 0;
  private waiting = new Set<() => void>();
  connection: Connection = 'up';

  /** `changed` is called when the server goes, comes back, or refuses the token. */
  constructor(private token: string, private changed: (connection: Connection) => void) {}

  async get(path: string, query: Query, signal?: AbortSignal): Promise<Json | ArrayBuffer> {
    for (;;) {
      if (this.connection === 'ended')
        return new Promise(() => {});
      let reply: Response;
      try {
        reply = await fetch(address(path, query), {headers: {'X-Kymo-Token': this.token}, signal, cache: 'no-store', credentials: 'omit', redirect: 'error'});
        const result = await this.read(reply);
        this.failures = 0;
        if (this.connection !== 'refused')
          this.set('up');
        return result;
      } catch (error) {
        if (error instanceof ReplyError || signal?.aborted)
          throw error;
        if ((this.connection as Connection) === 'ended')
          continue;
        this.failures++;
        this.set('gone');
        await this.retryTime(signal);
      }
    }
  }

  /** Ends the server. Nothing is asked any more. */
  async end(): Promise<void> {
    await this.get('/api/quit', {});
    this.set('ended');
  }

  /** Asks at once instead of after the pause. */
  retry(): void {
    for (const go of [...this.waiting])
      go();
  }

  private async read(reply: Response): Promise<Json | ArrayBuffer> {
    const isBinary = (reply.headers.get('Content-Type') ?? '').startsWith('application/octet-stream');
    if (reply.ok && isBinary)
      return reply.arrayBuffer();
    const body = await reply.text();
    let json: Json = null;
    try {
      json = JSON.parse(body) as Json;
    } catch {
      throw new ReplyError(reply.ok ? 'The server answers with text that is not JSON.' : `The server answers with status ${reply.status}.`, reply.status);
    }
    if (reply.ok)
      return json;
    if (reply.status === 403)
      this.set('refused');
    const error = fields(fields(json).error);
    throw new ReplyError(text(error.message) || `The server answers with status ${reply.status}.`, reply.status, numberOrNull(error.column));
  }

  private async retryTime(signal?: AbortSignal): Promise<void> {
    const ms = RETRY_MS[Math.min(this.failures - 1, RETRY_MS.length - 1)];
    let go = () => {};
    const woken = new Promise<void>(resolve => { go = resolve; });
    this.waiting.add(go);
    try {
      await Promise.race([pause(ms, signal), woken]);
    } finally {
      this.waiting.delete(go);
    }
  }

  private set(connection: Connection): void {
    if (connection === this.connection || this.connection === 'ended')
      return;
    this.connection = connection;
    this.changed(connection);
  }
}

export function address(path: string, query: Query): string {
  const parts = Object.entries(query).filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${encodeURIComponent(String(value)).replace(/%2C/g, ',').replace(/%3A/g, ':')}`);
  return parts.length ? `${path}?${parts.join('&')}` : path;
}
