// SPDX-License-Identifier: MIT
// Chromium, as the suites of the page of kymo view start it.
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const {chromium} = await import(pathToFileURL(join(process.env.KYMO_MODULES, 'playwright-core/index.mjs')));

/** One process draws all pages, and none is started in advance: to start it takes Chromium longer than most cases take. */
const PROCESSES = ['--renderer-process-limit=1', '--disable-gpu'];
const QUIET = ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export const launch = () => chromium.launch({executablePath: process.env.KYMO_CHROMIUM, headless: true, args: ['--no-sandbox', '--disable-dev-shm-usage', ...PROCESSES, ...QUIET]});
