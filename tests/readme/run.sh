#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# README.md, typed from top to bottom in a fresh checkout: once with kymo from the build folder, once installed below another
# prefix than the system's. Every block is typed; what installs packages is marked in the page. KYMO_REWRITE=1 rewrites what it shows.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
cd "$TMPDIR" || exit 1
unset KYMO_DESCRIPTIONS LD_LIBRARY_PATH PKG_CONFIG_PATH
# -O0, without debug information: nothing is measured. A cache in the build folder, where there is one, makes the next time shorter.
export MAKEFLAGS='BUILDTYPE=plain' CCACHE_DIR=$KYMO_BUILD/ccache CCACHE_BASEDIR=$TMPDIR CCACHE_NOHASHDIR=1

# what git knows, as it is now; of an unpacked archive, all but the build folder
pack() {
  cd "$KYMO_SOURCE" || return 1
  git ls-files -z >"$TMPDIR/names" 2>/dev/null || find . -path ./build -prune -o \( -type f -o -type l \) -print0 >"$TMPDIR/names"
  tar --null -T "$TMPDIR/names" -cf "$TMPDIR/source.tar"
}
(pack) || { not_ok 'the source is packed' 'it is not'; exit 1; }

# types VARIANT: a checkout as it is fetched, apart from what `make` built in it for the variant before
types() {
  mkdir -p checkout && find checkout -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} + && tar -xf source.tar -C checkout && cd checkout || exit 1
  case $1 in
    build) python3 "$KYMO_SOURCE/tests/documents/type_page.py" "${KYMO_REWRITE:+$KYMO_SOURCE/}README.md" --variant build ${KYMO_REWRITE:+--rewrite} ;;
    *) python3 "$KYMO_SOURCE/tests/documents/type_page.py" README.md --variant "$1" ;;
  esac | sed "s/^ok /ok $1: /; s/^not ok /not ok $1: /"
  cd ..
}
types build
types installed
