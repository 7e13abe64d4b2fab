#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# The pages of docs/ that lead through a task: every command in them prints what the page shows. KYMO_REWRITE=1 rewrites the pages.
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

# types PAGE: in a folder of its own, where a reader types it: the build folder and what the checkout has are there
types() {
  mkdir "work-$1" && cd "work-$1" || exit 1
  ln -s "$KYMO_BUILD" build && ln -s "$KYMO_SOURCE"/{descriptions,examples,bench} .
  python3 "$KYMO_SOURCE/tests/documents/type_page.py" "$KYMO_SOURCE/docs/$1.md" ${KYMO_REWRITE:+--rewrite} | sed "s/^ok /ok $1: /; s/^not ok /not ok $1: /; s/^skip /skip $1: /"
  cd ..
}
types tutorial
types cookbook
types faq
types comparison

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
P
notices() {
  diff <(python3 "$KYMO_SOURCE/tests/documents/type_page.py" page.md --variant x | grep -v '^  ') - <<'W'
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
not ok every block is typed: kymo list
W
}
check 'faults of a page are noticed' notices
