#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The page of kymo view: its own checks, that the bundle of the tree is what its sources make, and what becomes of it in Chromium
# (by playwright-core) with each sort of file. Needs node, chromium, and once the network (npm ci). The suites timeline and g2
# use the page as a person does.
#
#   harness.mjs   starts servers and pages, makes CPEL files; of these three suites
#   files.mjs     the command line and the menus: files that are opened, read again, refused
#   states.mjs    traces that grow, are cut off, empty, deeply nested, or made to harm
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/web.sh"
source=$KYMO_SOURCE/src/view/web

needs_web_packages 'the page'

# A copy of the sources beside the packages: the tree may be read-only.
mkdir page
cp -r "$source"/{src,test,tsconfig.json,build.mjs,package.json} page/
ln -s "$KYMO_MODULES" page/node_modules
types() { (cd page && node node_modules/typescript/bin/tsc --noEmit); }
[ -n "${KYMO_PART:-}" ] || check 'the types of the page agree' types
units() { (cd page && node node_modules/vitest/vitest.mjs run --reporter=dot); }
[ -n "${KYMO_PART:-}" ] || check 'the checks of the page pass' units
bundle() { (cd page && node build.mjs "$TMPDIR/fresh") && diff -rq "$source/dist" fresh; }
[ -n "${KYMO_PART:-}" ] || check 'the bundle of the tree is a fresh one (npm run build)' bundle

needs_browser 'the page in a browser'
${KYMO_CC:-cc} -I"$KYMO_SOURCE/include" "$KYMO_SOURCE/tests/serve/live.c" -o live -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread || not_ok 'a live program' 'it cannot be compiled'
run_parts "$KYMO_SOURCE/tests/viewer" files states
