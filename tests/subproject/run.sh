#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# A Meson project that has kymo as a subproject: dependency('kymo-trace') and dependency('kymo') are its libraries, the
# command is built, and nothing else of kymo is: no tests, fuzzers, examples, manual pages.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1
unset KYMO_DESCRIPTIONS LD_LIBRARY_PATH

# The project is built anew in each round, by a cache in the build folder where there is one.
export CCACHE_DIR=$KYMO_BUILD/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

mkdir -p project/subprojects && cd project && ln -s "$KYMO_SOURCE" subprojects/kymo
cat >subprojects/kymo.wrap <<'W'
[wrap-file]
directory = kymo

[provide]
dependency_names = kymo-trace, kymo
program_names = kymo
W
cat >meson.build <<'M'
project('owner', 'c', version: '7', default_options: ['warning_level=3', 'werror=true'])
trace = dependency('kymo-trace', version: '>=0.1')
trace_static = dependency('kymo-trace', static: true)
executable('app', 'app.c', dependencies: trace)
executable('app-static', 'app.c', dependencies: trace_static)
executable('find', 'find.c', dependencies: dependency('kymo'))
custom_target('version', output: 'version.txt', command: [find_program('kymo'), '--version'], capture: true, build_by_default: true)
install_data('app.c', install_dir: 'share')
M
cat >app.c <<'C'
#include <kymo/trace.h>
int main(void) {
  for (int i = 0; i < 3; i++)
    KYMO(app, step, i);
  return 0;
}
C
cat >find.c <<'C'
#include <kymo/read.h>
#include <stdio.h>
int main(void) {
  struct kymo_schema *key;
  struct kymo_error error;
  if (kymo_description_find(&key, "nothing-like-it", &error) < 0)
    puts(error.message);
  return 0;
}
C

# An installed kymo does not count. -O0: nothing is measured.
set_up() { meson setup --wrap-mode nodownload --force-fallback-for kymo-trace,kymo -Doptimization=0 -Ddebug=false build; }
# the targets of kymo by folder
targets() { meson introspect --targets build | jq -r '.[] | select(.subproject == "kymo").defined_in' | sed "s,.*subprojects/kymo/,," | sort -u | tr '\n' ' '; }
only_what_is_used() { [ "$(targets)" = 'descriptions/meson.build meson.build src/serve/meson.build src/tool/meson.build ' ] || { targets; false; }; }
records() {
  local program
  for program in app app-static; do
    rm -rf trace
    build/subprojects/kymo/kymo record -q -o trace "build/$program" && [ "$(build/subprojects/kymo/kymo cat trace | grep -c app:step)" = 3 ] || return 1
  done
  ! ldd build/app-static | grep kymo
}
finds() {
  [ "$(build/find)" = "no description is called 'nothing-like-it' in $(realpath build)/subprojects/kymo/descriptions" ] || { build/find; false; }
}
installs() {
  DESTDIR=$PWD/stage meson install -C build --quiet && find stage -type f | sed 's,.*/,,' | sort >installed &&
    grep -qx kymo installed && grep -qx trace.h installed && grep -qx libkymo-trace.so.0.2.0 installed && ! grep -e '\.1$' -e '\.3$' installed
}

check 'meson setup without a network' set_up
check 'only libraries, the command and descriptions are targets' only_what_is_used
check 'the project is built' ninja -C build
check 'find_program() is the command' grep -F 0.2.0 build/version.txt
check 'its programs record, with the shared and the static library' records
check 'descriptions are found in the subproject' finds
check 'meson install of the project takes libraries, headers and the command' installs
with_tests() { meson setup --wrap-mode nodownload --force-fallback-for kymo-trace,kymo -Dkymo:tests=enabled build-tests && meson introspect --targets build-tests | jq -e '.[] | select(.name == "test_base")'; }
check 'the option kymo:tests adds the tests' with_tests
