#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The pages of docs/. Those that lead through a task say all that a reader needs; every command in them prints what the page shows.
# Those of reference use traces and programs of the reader, which are made here; left_out.py lists what cannot be typed, and why.
# KYMO_REWRITE=1 rewrites the pages.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
# Processes, rings and LTTng's daemon are this suite's own, and end with it, where that is allowed.
if [ -z "${IS_ALONE-}" ]; then
  [ "$(id -u)" = 0 ] && alone=(unshare) || alone=(unshare --user --map-root-user)
  alone+=(--mount --pid --fork --kill-child --mount-proc)
  "${alone[@]}" mount -t tmpfs none /run 2>/dev/null && IS_ALONE=yes exec "${alone[@]}" "$0"
  export IS_ALONE=no
else
  mount -t tmpfs none /run && mount -t tmpfs -o mode=1777 none /dev/shm || exit 1
fi
export TZ=UTC LC_ALL=C.UTF-8 XDG_DATA_HOME=$TMPDIR PKG_CONFIG_PATH=$KYMO_BUILD/meson-uninstalled
unset KYMO_DESCRIPTIONS LD_LIBRARY_PATH
cd "$TMPDIR" || exit 1
mkdir bin && ln -s "$KYMO_BUILD/kymo" bin/
export PATH=$TMPDIR/bin:$PATH

programs=$KYMO_SOURCE/tests/documents
# begins PAGE: a folder of its own, where a reader types the page: the build folder and what the checkout has are there
begins() {
  mkdir "$TMPDIR/work-$1" && cd "$TMPDIR/work-$1" || exit 1
  ln -s "$KYMO_BUILD" build && ln -s "$KYMO_SOURCE"/{descriptions,examples,bench} .
}
# ends PAGE [OPTION...]: types it there
ends() {
  local page=$1
  shift
  python3 "$programs/type_page.py" "$KYMO_SOURCE/docs/$page.md" --left-out "$programs/left_out.py" "$@" ${KYMO_REWRITE:+--rewrite} |
    sed "s/^ok /ok $page: /; s/^not ok /not ok $page: /; s/^skip /skip $page: /; s/^left out/  $page: left out/"
  cd "$TMPDIR" || exit 1
}
types() { begins "$1" && ends "$@"; }
types tutorial
types cookbook
types faq
types comparison

# ---- pages of reference ----

# What a reader of these pages has: a program, and a trace of it. With an argument the program runs until it is killed, or dies.
flags=$(pkg-config --cflags --libs kymo-trace)
cc "$programs/app.c" $flags -o bin/app && cc "$programs/srv.c" -pthread -o bin/srv && kymo record -q -o mytrace bin/app ||
  { not_ok 'a program and its trace are made' 'they are not'; exit 1; }
export KYMO_OUT=$TMPDIR/saved
mkdir saved

begins filters && ln -s ../mytrace . && ends filters
begins queries && ln -s ../mytrace . && ends queries
begins python && ln -s ../mytrace . && ends python
begins json && ln -s ../mytrace . && ends json
begins converting && ln -s ../mytrace . && ends converting
begins sinks && ln -s ../mytrace TRACE && ends sinks
begins viewing && ln -s ../bin/app . && ends viewing --replace /tmp/demo-trace demo-trace
begins cpel && ln -s ../mytrace . && kymo convert -q mytrace -o x.cpel && mv x.cpel FILE && ends cpel

# a raw log of two files, as the page's format writes them
begins bprintf && python3 -c '
import struct
for cpu in 0, 1:
    open(f"log_cpu{cpu}", "wb").write(b"".join(struct.pack("<HII", 13, 1 + n, 5 + cpu) + b"abc" for n in range(3)))' &&
  ends bprintf

# the first description of the page, and a file of its format: a record of the kind "measured"
begins tdl && awk '/^```tdl$/ { shows = !seen++; next } /^```/ { shows = 0 } shows' "$KYMO_SOURCE/docs/tdl.md" >logger.tdl && python3 -c '
import struct
open("FILE", "wb").write(b"LOG7" + struct.pack("<II", 2, 1000) + struct.pack("<BBIBBhH", 1, 10, 5, 1, 2, 12500, 3300))' &&
  ends tdl

# 1234 runs until it is killed, 4711 is dead: a fault killed it
begins recording && cp "$programs/app.c" . && cp ../bin/srv . && cat >net.h <<'H'
struct packet { int length; };
enum state { OPEN, READY };
H
app stay &
running=$!
KYMO_ENABLE='*' KYMO_CRASH=mark app die 2>/dev/null &
dead=$!
{ wait $dead; } 2>/dev/null
is_listed() { kymo list | grep -q "^ *$running "; }
until_true is_listed
ends recording --replace 1234 $running --replace 4711 $dead
kill $running

for page in control key reading registry; do types $page; done
typed_pages() { diff <(cd "$KYMO_SOURCE/docs" && ls ./*.md | sed 's,^./,,; s/.md$//') <(cd "$TMPDIR" && printf '%s\n' work-* | sed 's/^work-//' | sort); }
check 'every page of docs/ is typed' typed_pages

# ---- links ----

# Each link of a page leads to a file that exists, and to a heading of it.
links_of() { python3 "$KYMO_SOURCE/tests/documents/links.py" "$@"; }
check 'all links lead somewhere' links_of "$KYMO_SOURCE"/*.md "$KYMO_SOURCE"/docs/*.md
mkdir linked && printf '# One, `two`\n[a](#one-two) [b](b.md#one-two) [c](c.md) [d](#three)\n' >linked/a.md && printf '# Three\n' >linked/b.md
broken() { ! links_of linked/a.md >found && diff found - <<<'linked/a.md: b.md#one-two: there is no such heading
linked/a.md: c.md: there is no such file
linked/a.md: #three: there is no such heading'; }
check 'links that lead nowhere are noticed' broken

# ---- the typist itself ----

# A page with one fault of each kind: none is passed over.
cat >page.md <<'P'
<!-- differs: run \d+ -->
```sh
true
false
```
```console
$ echo 12 ms
10 ms
$ echo run 2 of 3
run 1 of 3
$ echo run 2 of 3
run 1 of 4
$ echo two
one
$ printf 'one\ntwo\nthree\n'
one
…
$ printf 'one\ntwo\nthree\n'
one
…
two
$ echo one two three
one … three
$ echo one two three
one … two
```
```console exact
$ echo 12 ms
10 ms
```
<!-- only if: command -v nothing-like-it -->
```sh
nothing-like-it
```
```python
print()
```
```sh packages
exit 1
```
```sh other
exit 1
```

    kymo list

    kymo info
```sh
echo 1234 | grep 5678
exit 1 # in vain
```
P
echo 'LEFT_OUT = {"page": {"kymo info": "it is so", "exit 1 # in vain": "it fails", "kymo nothing": "it is not there"}}' >left.py
notices() {
  diff <(python3 "$programs/type_page.py" page.md --variant x --left-out left.py --replace 1234 5678 | grep -v '^  ') - <<'W'
ok true
not ok false: exit status 1
ok echo 12 ms
ok echo run 2 of 3
not ok echo run 2 of 3: prints something else than the page shows
not ok echo two: prints something else than the page shows
ok printf 'one\ntwo\nthree\n'
not ok printf 'one\ntwo\nthree\n': prints something else than the page shows
ok echo one two three
not ok echo one two three: prints something else than the page shows
not ok echo 12 ms: prints something else than the page shows
skip nothing-like-it: only if: command -v nothing-like-it
not ok every fence is typed: ```python
left out, since it installs packages: exit 1
ok echo 1234 | grep 5678
left out, since it fails: exit 1 # in vain
not ok every block is typed: kymo list
left out, since it is so: kymo info
not ok the page has no such block or line to leave out: kymo nothing
W
}
check 'faults of a page are noticed' notices
