// SPDX-License-Identifier: MIT
// What a tab is. One file a tab, listed in index.ts.
import type {App} from '../app';

export interface Tab {
  /** In the URL: lower-case letters and "-". */
  id: string;
  title: string;
  /** Makes the content of the panel, once, when the tab is opened for the first time. */
  mount(panel: HTMLElement, app: App): TabView;
  /** A short text after the title ("3"), or nothing. Called after each change; it must be quick. */
  badge?(app: App): string;
}

export interface TabView {
  /** Brings the content up to date: when the tab is opened, and while it is open at most once a frame after changes of the state or of the model. */
  update(): void;
  /** The tab is closed: stop requests. */
  hide?(): void;
}
