// SPDX-License-Identifier: MIT
// A list of any length in a scroller of limited height: only the rows in view are elements. Browsers limit the height of
// an element (Chromium: 2^25 px), so a longer list maps the place of the scroll bar to rows; the wheel still moves by
// pixels.

/** The greatest height that is given to the scroller's content. */
export const HEIGHT_MAX = 8_000_000;

export interface Geometry {
  total: number; // rows
  rowHeight: number;
  viewHeight: number; // for rows
}

/** Height of the content. */
export function contentHeight({total, rowHeight}: Geometry): number {
  return Math.min(HEIGHT_MAX, total * rowHeight);
}
/** The last place at which a view of rows can begin, in rows with a fraction. */
export function lastPlace({total, rowHeight, viewHeight}: Geometry): number {
  return Math.max(0, total - viewHeight / rowHeight);
}
/** The place of the first row in view (with a fraction) at a position of the scroll bar. */
export function placeOfScroll(scrollTop: number, geometry: Geometry): number {
  const most = contentHeight(geometry) - geometry.viewHeight;
  if (most <= 0)
    return 0;
  return Math.max(0, Math.min(1, scrollTop / most)) * lastPlace(geometry);
}
/** The reverse. */
export function scrollOfPlace(place: number, geometry: Geometry): number {
  const last = lastPlace(geometry), most = contentHeight(geometry) - geometry.viewHeight;
  return last <= 0 || most <= 0 ? 0 : Math.max(0, Math.min(1, place / last)) * most;
}
/** The nearest place at which a row is wholly in view; `context` rows of others are shown beside it where there is space. */
export function placeToShow(row: number, place: number, geometry: Geometry, context = 0): number {
  const rows = geometry.viewHeight / geometry.rowHeight, beside = Math.min(context, Math.max(0, (rows - 1) / 2)), last = lastPlace(geometry);
  if (row < place + beside)
    return Math.max(0, Math.min(last, row - beside));
  if (row + 1 > place + rows - beside)
    return Math.max(0, Math.min(last, row + 1 + beside - rows));
  return place;
}

export interface VirtualOptions {
  rowHeight: number;
  /** Height of what is fixed at the top of the scroller. */
  headHeight: number;
  /** Makes an element of a row, without content. */
  make(): HTMLElement;
  /** Fills it. Called for each row in view after each change. */
  fill(element: HTMLElement, row: number): void;
  /** The rows in view are others than before. */
  shown?(first: number, count: number): void;
  /** The user has scrolled. */
  scrolled?(): void;
}

/** Draws the rows of a scroller. `layer` is sticky in it and holds the rows; `spacer` makes its height. */
export class VirtualRows {
  private place = 0;
  private total = 0;
  private lastScroll = 0;
  private pool: HTMLElement[] = [];
  private viewHeight = 0;

  constructor(private scroller: HTMLElement, private layer: HTMLElement, private spacer: HTMLElement, private options: VirtualOptions) {
    scroller.addEventListener('scroll', () => this.readScroll());
    scroller.addEventListener('wheel', event => this.wheel(event), {passive: false});
    new ResizeObserver(() => this.draw()).observe(scroller);
  }

  get first(): number {
    return Math.floor(this.place);
  }
  /** How many rows are wholly in view. */
  get count(): number {
    return Math.max(1, Math.floor(this.geometry.viewHeight / this.options.rowHeight));
  }
  private get geometry(): Geometry {
    return {total: this.total, rowHeight: this.options.rowHeight, viewHeight: this.viewHeight};
  }

  setTotal(total: number): void {
    if (total === this.total)
      return;
    this.catchUp();
    this.total = total;
    this.draw();
  }
  /** Scrolls so that a row is in view. */
  show(row: number, context = 0): void {
    this.catchUp();
    this.measure();
    this.move(placeToShow(row, this.place, this.geometry, context));
  }
  isShown(row: number): boolean {
    return row >= this.first && row < this.first + this.count;
  }
  /** The element of a row in view, or null. */
  elementOf(row: number): HTMLElement | null {
    const element = this.pool[row - this.first];
    return element && !element.hidden ? element : null;
  }
  /** Draws what is in view again. */
  draw(): void {
    this.catchUp();
    this.measure();
    this.move(this.place);
  }
  /** Goes where the user has scrolled to, if the browser has not reported that yet: what follows would undo it. */
  catchUp(): void {
    if (this.heightInView() === this.viewHeight) // in another height the browser has moved the scroll bar
      this.readScroll();
  }

  private heightInView(): number {
    return Math.max(0, this.scroller.clientHeight - this.options.headHeight);
  }
  private measure(): void {
    this.viewHeight = this.heightInView();
    const height = contentHeight(this.geometry);
    this.spacer.style.height = `${height}px`;
    this.layer.style.height = `${Math.min(this.viewHeight, height)}px`;
  }
  private readScroll(): void {
    if (Math.abs(this.scroller.scrollTop - this.lastScroll) < 1)
      return;
    this.lastScroll = this.scroller.scrollTop;
    this.place = placeOfScroll(this.lastScroll, this.geometry);
    this.fill();
    this.options.scrolled?.();
  }
  private wheel(event: WheelEvent): void {
    if (this.total * this.options.rowHeight <= HEIGHT_MAX || event.ctrlKey || event.deltaY === 0)
      return;
    event.preventDefault();
    const unit = [1, this.options.rowHeight, this.viewHeight][event.deltaMode] ?? 1;
    this.move(this.place + event.deltaY * unit / this.options.rowHeight);
    this.options.scrolled?.();
  }
  private move(place: number): void {
    this.place = Math.max(0, Math.min(lastPlace(this.geometry), place));
    const wanted = scrollOfPlace(this.place, this.geometry);
    if (Math.abs(this.scroller.scrollTop - wanted) >= 1)
      this.scroller.scrollTop = wanted;
    this.lastScroll = this.scroller.scrollTop;
    this.fill();
  }
  private fill(): void {
    const {rowHeight} = this.options, first = this.first, shift = (this.place - first) * rowHeight;
    const count = this.viewHeight > 0 ? Math.min(this.total - first, Math.ceil((this.viewHeight + shift) / rowHeight)) : 0;
    while (this.pool.length < count) {
      const element = this.options.make();
      element.style.height = `${rowHeight}px`;
      this.pool.push(element);
      this.layer.append(element);
    }
    this.pool.forEach((element, i) => {
      element.hidden = i >= count;
      if (i < count) {
        element.style.transform = `translateY(${i * rowHeight - shift}px)`;
        this.options.fill(element, first + i);
      }
    });
    this.options.shown?.(first, Math.max(0, count));
  }
}
