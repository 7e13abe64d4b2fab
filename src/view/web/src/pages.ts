// SPDX-License-Identifier: MIT
// Rows of the table of events, read by pages; those that were seen last are kept.
import type {Row, Rows} from './protocol';
import {isAbort} from './source';

export const PAGE_ROWS = 200;
const PAGES_MAX = 64;

export class RowPages {
  private pages = new Map<number, Row[]>();
  private fresh = new Set<number>(); // pages that are as they would be read now
  private last = [0, -1]; // the pages in view
  private asked = new Map<number, AbortController>();
  private failedAt = -1;
  private version = 0;

  /** `read` reads rows; `changed` is called when pages have come, with how many rows there are. */
  constructor(private read: (first: number, count: number, signal: AbortSignal) => Promise<Rows>, private changed: (total: number) => void, private failed: (error: unknown) => void) {}

  get(row: number): Row | undefined {
    const page = Math.floor(row / PAGE_ROWS), rows = this.pages.get(page);
    return rows?.[row - page * PAGE_ROWS];
  }
  /** The row of an event, if it is in a page that is here; -1: it is not. */
  find(number: number): number {
    for (const [page, rows] of this.pages) {
      const at = rows.findIndex(row => row.number === number);
      if (at >= 0)
        return page * PAGE_ROWS + at;
    }
    return -1;
  }

  /** Asks for the pages of these rows, and gives up those that are out of view. */
  want(first: number, count: number): void {
    const from = Math.floor(first / PAGE_ROWS), to = Math.floor(Math.max(first, first + count - 1) / PAGE_ROWS);
    this.last = [from, to];
    for (const [page, controller] of this.asked)
      if (page < from || page > to) {
        controller.abort();
        this.asked.delete(page);
      }
    for (let page = from; page <= to; page++) {
      const rows = this.pages.get(page);
      if (rows) {
        this.pages.delete(page); // the newest is the last one
        this.pages.set(page, rows);
      }
      if (!this.fresh.has(page) && !this.asked.has(page) && this.failedAt !== page)
        void this.load(page);
    }
  }

  /** Forgets all: the rows are others now. */
  clear(): void {
    for (const controller of this.asked.values())
      controller.abort();
    this.asked.clear();
    this.pages.clear();
    this.fresh.clear();
    this.failedAt = -1;
    this.version++;
  }
  /** The rows may be others now: those in view stay until they are read again, so that the table does not flicker. */
  renew(): void {
    const [from, to] = this.last;
    for (const page of this.pages.keys())
      if (page < from || page > to)
        this.pages.delete(page);
    this.stop();
    this.fresh.clear();
    this.failedAt = -1;
  }
  /** Forgets pages that were not full: rows came after them. */
  grow(): void {
    this.failedAt = -1;
    for (const [page, rows] of this.pages)
      if (rows.length < PAGE_ROWS) {
        this.pages.delete(page);
        this.fresh.delete(page);
      }
  }
  stop(): void {
    for (const controller of this.asked.values())
      controller.abort();
    this.asked.clear();
  }

  private async load(page: number): Promise<void> {
    const controller = new AbortController(), {version} = this;
    this.asked.set(page, controller);
    try {
      const reply = await this.read(page * PAGE_ROWS, PAGE_ROWS, controller.signal);
      if (controller.signal.aborted || version !== this.version)
        return;
      this.pages.set(page, reply.rows);
      this.fresh.add(page);
      for (const old of this.pages.keys()) {
        if (this.pages.size <= PAGES_MAX)
          break;
        this.pages.delete(old);
        this.fresh.delete(old);
      }
      this.asked.delete(page);
      this.changed(reply.total);
    } catch (error) {
      if (version === this.version && this.asked.get(page) === controller)
        this.asked.delete(page);
      if (controller.signal.aborted || isAbort(error))
        return;
      this.failedAt = page; // it is asked again when something has changed
      this.failed(error);
    }
  }
}
