// SPDX-License-Identifier: MIT
// Pages of `kymo view --html`: the events are in the page, and their replies are computed here.
import {EmbeddedTransport} from './embedded/transport';
import type {Json} from './protocol';
import type {Transport} from './source';

/** The transport of a page with data in it; null: there is a server. */
export function embeddedTransport(): Transport | null {
  const data = document.getElementById('data');
  return data ? new EmbeddedTransport(JSON.parse(data.textContent ?? '') as Json) : null;
}
