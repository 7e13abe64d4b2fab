#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The page of kymo view: its own checks, that the bundle of the tree is what its sources make, and a person's work with it
# in Chromium, by playwright-core. Needs node, chromium, and once the network (npm ci).
#
#   harness.mjs   starts servers and pages, makes CPEL files
#   *.mjs         one part of the page each; prints the lines that tests/run counts
set -u
. "$KYMO_SOURCE/tests/lib.sh"
. "$KYMO_SOURCE/tests/web.sh"
here=$KYMO_SOURCE/tests/viewer
source=$KYMO_SOURCE/src/view/web
cd "$TMPDIR" || exit 1
export XDG_CACHE_HOME=$TMPDIR/cache KYMO_DESCRIPTIONS=$KYMO_SOURCE/descriptions KYMO_RINGS=$TMPDIR/rings
unset DISPLAY WAYLAND_DISPLAY SSH_CONNECTION BROWSER
mkdir -p rings

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
for part in "$here"/*.mjs; do
  [ "$(basename "$part")" = harness.mjs ] || [ -n "${KYMO_PART:-}" ] && [ "$(basename "$part" .mjs)" != "${KYMO_PART:-}" ] || node "$part" || not_ok "$(basename "$part")" "exit code $?"
done
