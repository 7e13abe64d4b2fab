// SPDX-License-Identifier: MIT
// A question of a tab to the source: asked once, given up when the tab asks another one or is closed.
import type {App} from '../app';
import {lateness, type Task} from '../protocol';
import {finish, isAbort, pause} from '../source';

const AGAIN_MS = 500;

/**
 * Asks until the task is done; of a trace that grows again and again, until the answer is of all events that there are. `show` sees
 * each answer, `report` what is said before the first one: "12 %".
 */
export async function settle<T extends Task>(app: App, ask: () => Promise<T>, signal: AbortSignal, show: (reply: T) => void, report?: (progress: string) => void): Promise<void> {
  let said: string | null = null;
  for (let isFirst = true; ; isFirst = false) {
    const reply = await finish(ask, signal, now => { if (isFirst && now.state === 'running') report?.(now.done === null ? '…' : `${Math.floor(now.done * 100)} %`); });
    if (reply.state === 'failed')
      throw new Error(reply.error?.message ?? 'This cannot be computed.');
    show(reply);
    const late = lateness(reply);
    if (late !== null && said === null)
      app.say(late);
    said = late;
    const {server} = app.model;
    if (!server?.isLive || reply.indexed === null || reply.indexed >= server.events)
      return;
    await pause(AGAIN_MS, signal);
  }
}

export class Job {
  private key: string | null = null;
  private version: number | string = 0;
  private running: AbortController | null = null;

  /** Calls `failed` with what is said to the reader. */
  constructor(private failed: (message: string) => void) {}

  /**
   * Starts the work unless it is the one of the same key; the one before is given up. The work begins after a pause, so that a window
   * that is moved asks once. The same question of another version (there are more events) is asked again after the answer that is on its way.
   */
  ask(key: string, work: (signal: AbortSignal) => Promise<void>, {pauseMs = 0, version = 0}: {pauseMs?: number; version?: number | string} = {}): void {
    if (key === this.key && (version === this.version || this.running))
      return;
    this.stop();
    this.key = key;
    this.version = version;
    const {signal} = this.running = new AbortController();
    void (async () => {
      try {
        if (pauseMs > 0)
          await pause(pauseMs, signal);
        await work(signal);
      } catch (error) {
        if (!signal.aborted && !isAbort(error))
          this.failed(error instanceof Error ? error.message : String(error));
      }
      if (!signal.aborted)
        this.running = null;
    })();
  }
  /** Gives the work up; the same question is asked again next time if it has no answer. */
  stop(): void {
    if (this.running) {
      this.running.abort();
      this.key = null;
    }
    this.running = null;
  }
  forget(): void {
    this.stop();
    this.key = null;
  }
}
