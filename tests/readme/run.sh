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
# -O0: nothing is measured. A cache in the build folder, where there is one, makes the next time shorter.
export MAKEFLAGS='BUILDTYPE=debug' CCACHE_DIR=$KYMO_BUILD/ccache CCACHE_BASEDIR=$TMPDIR CCACHE_NOHASHDIR=1

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
    build) python3 "$KYMO_SOURCE/tests/guide/guide.py" "${KYMO_REWRITE:+$KYMO_SOURCE/}README.md" --variant build --alike --strict ${KYMO_REWRITE:+--rewrite} ;;
    *) python3 "$KYMO_SOURCE/tests/guide/guide.py" README.md --variant "$1" --alike --strict ;;
  esac | sed "s/^ok /ok $1: /; s/^not ok /not ok $1: /"
  cd ..
}
types build
types installed

# ---- the typist itself ----

# A page with one fault of each kind: none is passed over.
cat >page.md <<'P'
```sh
true
false
```
```console
$ echo 12 ms
10 ms
$ echo two
one
```
```python
print()
```
```sh packages
exit 1
```

    kymo list
P
notices() {
  diff <(python3 "$KYMO_SOURCE/tests/guide/guide.py" page.md --variant x --alike --strict | grep -v '^  ') - <<'W'
ok true
not ok false: exit status 1
ok echo 12 ms
not ok echo two: prints something else than the page shows
not ok every fence is typed: ```python
left out, since it installs packages: exit 1
not ok every block is typed: kymo list
W
}
check 'faults of a page are noticed' notices
