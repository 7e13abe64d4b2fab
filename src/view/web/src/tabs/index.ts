// SPDX-License-Identifier: MIT
// The tabs in their order.
import {about} from './about';
import {anomaly} from './anomaly';
import {compare} from './compare';
import {events} from './events';
import {histogram} from './histogram';
import {kinds} from './kinds';
import {latency} from './latency';
import {problems} from './problems';
import {selection} from './selection';
import type {Tab} from './tab';

export const TABS: readonly Tab[] = [events, selection, latency, histogram, anomaly, compare, problems, kinds, about];
