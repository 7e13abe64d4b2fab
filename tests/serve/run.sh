#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# The server of kymo view over real HTTP, by Python's sockets:
#
#   values.py     what each path says of a recorded trace, one of LTTng's layout, a CPEL file and a capture of packets is what
#                 kymo stat and kymo cat print of it
#   file.py       the page without a server
#   lives.py      traces that are cut, corrupt or grow; a server that is killed; the command itself
#   kept.py       an index that is kept is not used when something else decides how the trace is read
#   budget.py     requests that take long, on a trace of two million events, or fewer where a sanitizer makes each slow
#   security.py   which requests are refused; names in a trace that are HTML, JavaScript, sequences of terminals
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
here=$KYMO_SOURCE/tests/serve
cd "$TMPDIR" || exit 1
export XDG_CACHE_HOME=$TMPDIR/cache KYMO_DESCRIPTIONS=$KYMO_SOURCE/descriptions KYMO_RINGS=$TMPDIR/rings PYTHONDONTWRITEBYTECODE=1
unset DISPLAY WAYLAND_DISPLAY SSH_CONNECTION BROWSER
mkdir -p rings

if "$kymo" view --no-browser --idle-exit 1ms "$KYMO_SOURCE/README.md" 2>&1 | grep -q 'built without'; then
  skip 'kymo view' 'built without libmicrohttpd'
  exit 0
fi
python3 "$here/data.py" || { not_ok 'data is made' 'it is not'; exit 1; }
program() { ${KYMO_CC:-cc} $sanitizer -I"$KYMO_SOURCE/include" "$here/$1.c" -o "$1" -L"$KYMO_BUILD" -Wl,-rpath,"$KYMO_BUILD" -lkymo-trace -lpthread; }
record() { program program && "$kymo" record -q -o recorded -- ./program; }
if record >words 2>&1; then
  # a name of its own: running processes are found wherever their rings are, also those of other suites
  program live >words 2>&1 && mv live served || { cat words; not_ok 'live.c builds' 'it does not'; }
else
  skip 'a recorded trace' 'it cannot be recorded on this rung'
fi

events=2000000
[ -z "$sanitizer" ] || events=700000 # which take as long
${KYMO_CC:-cc} -O2 "$KYMO_SOURCE/bench/view/generate.c" -o generate -lm && ./generate big 40 "$events" || { not_ok 'a large trace is made' 'it is not'; exit 1; }

python3 "$here/values.py" "$kymo"
python3 "$here/security.py" "$kymo"
python3 "$here/file.py" "$kymo"
python3 "$here/lives.py" "$kymo"
python3 "$here/kept.py" "$kymo"
python3 "$here/budget.py" "$kymo"
