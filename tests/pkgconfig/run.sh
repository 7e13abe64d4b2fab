#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# Programs find the libraries: through the uninstalled pkg-config files of the build folder, and through the
# installed ones; with shared and static libraries; in C and C++.
set -u
. "$KYMO_SOURCE/tests/lib.sh"

cat >"$TMPDIR/record.c" <<'EOF'
#include <kymo/trace.h>
int main(int argc, char **argv) {
  (void)argv;
  KYMO(pkg, config, argc);
  return 0;
}
EOF
cat >"$TMPDIR/read.c" <<'EOF'
#include <kymo/read.h>
#include <stddef.h>
int main(void) {
  struct kymo_trace *trace;
  struct kymo_error error;
  const char *path = "/nonexistent";
  return kymo_trace_open(&trace, &path, 1, NULL, &error) < 0 ? 0 : 1;
}
EOF
cp "$TMPDIR/record.c" "$TMPDIR/record.cc"

# uses LIBRARY PROGRAM COMPILER [--static]: builds with the flags of pkg-config, and runs
uses() {
  local library=$1 program=$2 compiler=$3 flags
  flags=$(pkg-config --cflags --libs "$library") || return 1
  "$compiler" -Wall -Werror "$TMPDIR/$program" -o "$TMPDIR/program" $flags && "$TMPDIR/program"
}
# uses_static LIBRARY PROGRAM: the same with the archive instead of the shared library
uses_static() {
  local library=$1 program=$2 flags
  flags=$(pkg-config --static --cflags --libs "$library") || return 1
  gcc -Wall -Werror "$TMPDIR/$program" -o "$TMPDIR/program" ${flags//-l$library /$libraries/lib$library.a } -pthread &&
    "$TMPDIR/program"
}

export PKG_CONFIG_PATH=$KYMO_BUILD/meson-uninstalled
check 'uninstalled kymo-trace, C' uses kymo-trace record.c gcc
check 'uninstalled kymo-trace, C++' uses kymo-trace record.cc g++
check 'uninstalled kymo, C' uses kymo read.c gcc

stage=$TMPDIR/stage
check 'meson install' meson install -C "$KYMO_BUILD" --no-rebuild --quiet --destdir "$stage"
libraries=$(dirname "$(find "$stage" -name libkymo.a)")
export PKG_CONFIG_PATH=$libraries/pkgconfig
# below a prefix that the loader does not know: no LD_LIBRARY_PATH, no sysroot
unset LD_LIBRARY_PATH PKG_CONFIG_SYSROOT_DIR
check 'installed kymo-trace, C' uses kymo-trace record.c gcc
check 'installed kymo-trace, C++' uses kymo-trace record.cc g++
check 'installed kymo, C' uses kymo read.c gcc
check 'installed kymo-trace, static' uses_static kymo-trace record.c
check 'installed kymo, static' uses_static kymo read.c
check 'installed command' "$(find "$stage" -path '*/bin/kymo')" --version
