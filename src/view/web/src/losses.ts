// SPDX-License-Identifier: MIT
// Losses by track and time, so that a picture looks only at those that it shows.
import type {Loss} from './protocol';

interface Sorted {
  begin: Float64Array; // from `base`, ascending
  end: Float64Array;
  latest: Float64Array; // the latest end up to here
}

export class LossIndex {
  private byOwner = new Map<string, Sorted>();

  constructor(losses: readonly Loss[], readonly base: bigint) {
    const owners = new Map<string, Loss[]>();
    for (const loss of losses) {
      const owner = loss.track === null ? `part ${loss.part}` : `track ${loss.track}`, list = owners.get(owner);
      if (list) list.push(loss); else owners.set(owner, [loss]);
    }
    for (const [owner, list] of owners) {
      list.sort((a, b) => a.begin < b.begin ? -1 : a.begin > b.begin ? 1 : 0);
      const begin = Float64Array.from(list, loss => Number(loss.begin - base)), end = Float64Array.from(list, loss => Number(loss.end - base));
      let latest = -Infinity;
      this.byOwner.set(owner, {begin, end, latest: Float64Array.from(end, value => latest = Math.max(latest, value))});
    }
  }

  /** Calls `visit` with the losses of a track, and of all tracks of its part, between two times after `base`. */
  between(track: number, part: number, from: number, to: number, visit: (begin: number, end: number) => void): void {
    for (const owner of [`track ${track}`, `part ${part}`]) {
      const sorted = this.byOwner.get(owner);
      if (!sorted)
        continue;
      for (let i = firstAtLeast(sorted.latest, from); i < sorted.begin.length && sorted.begin[i] <= to; i++)
        if (sorted.end[i] >= from)
          visit(sorted.begin[i], sorted.end[i]);
    }
  }
}

function firstAtLeast(values: Float64Array, wanted: number): number {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
