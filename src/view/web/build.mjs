// SPDX-License-Identifier: MIT
// Writes the page to a folder (dist, or the one given): the same bytes from the same sources.
import {build} from 'esbuild';
import {copyFile, mkdir} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist');
const options = {bundle: true, minify: true, target: 'chrome109', legalComments: 'none', charset: 'utf8', logLevel: 'warning', absWorkingDir: here};

await mkdir(out, {recursive: true});
await build({...options, entryPoints: ['src/main.ts'], format: 'iife', outfile: join(out, 'kymo.js')});
await build({...options, entryPoints: ['src/kymo.css'], outfile: join(out, 'kymo.css')});
for (const name of ['index.html', 'icon.svg'])
  await copyFile(join(here, 'src', name), join(out, name));
