// SPDX-License-Identifier: MIT
// The sum of tracks, as one row: what a folded group shows.
import type {Picture} from './protocol';

export class PictureSum {
  private readonly count: Float64Array;
  private readonly longest: Float64Array;
  private readonly kind: Uint32Array;
  private generation = 0;

  constructor(private pixels: number) {
    this.count = new Float64Array(pixels);
    this.longest = new Float64Array(pixels);
    this.kind = new Uint32Array(pixels);
  }

  /** Adds all rows of a picture of the same window. */
  add({generation, count, longest, kind, pixel}: Picture): void {
    this.generation = generation;
    for (let cell = 0; cell < pixel.length; cell++) {
      const at = pixel[cell];
      if (this.count[at] === 0 || longest[cell] > this.longest[at]) {
        this.longest[at] = longest[cell];
        this.kind[at] = kind[cell];
      }
      this.count[at] += count[cell];
    }
  }

  /** The picture with the one row. */
  picture(): Picture {
    const pixel = Uint32Array.from(this.count.keys()).filter(at => this.count[at] > 0), none = new Uint32Array(pixel.length);
    return {
      type: 'tile', generation: this.generation, rows: 1, pixels: this.pixels, start: Uint32Array.of(0, pixel.length), pixel, kindsLow: none, kindsHigh: none,
      count: Float64Array.from(pixel, at => this.count[at]), longest: Float64Array.from(pixel, at => this.longest[at]), kind: Uint32Array.from(pixel, at => this.kind[at]),
    };
  }
}
