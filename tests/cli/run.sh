#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The commands that read traces: what they print (golden files in expected/), what they say of damage and wrong
# command lines, how they end. KYMO_REWRITE=1 rewrites the golden files; look at the difference then.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"
here=$KYMO_SOURCE/tests/cli
export TZ=UTC LC_ALL=C.UTF-8
cd "$TMPDIR" || exit 1
python3 "$here/sample_trace.py" mytrace || exit 1

# golden [STATUS] NAME COMMAND…: standard output and error stream are those of expected/NAME, and the exit status (0)
golden() {
  local wanted=0 name status
  [ "$1" != 1 ] || { wanted=1; shift; }
  name=$1
  shift
  "$@" >actual 2>&1
  status=$?
  [ "${KYMO_REWRITE:-}" = 1 ] && cp actual "$here/expected/$name"
  if [ $status != $wanted ]; then
    not_ok "$name" "exit status $status"
  elif diff -u "$here/expected/$name" actual >difference; then
    ok "$name"
  else
    sed 's/^/    /' difference | head -20
    not_ok "$name" 'differs from the golden file'
  fi
}

# ends NAME STATUS TEXT COMMAND…: the exit status, and a text in its output on stderr ('' = it prints nothing)
ends() {
  local name=$1 wanted=$2 text=$3 status
  shift 3
  "$@" >/dev/null 2>said
  status=$?
  if [ $status != "$wanted" ]; then
    not_ok "$name" "exit status $status, not $wanted: $(head -1 said)"
  elif [ -z "$text" ] && [ -s said ]; then
    not_ok "$name" "says \"$(head -1 said)\""
  elif ! grep -qF -- "$text" said && [ -n "$text" ]; then
    not_ok "$name" "does not say \"$text\" but \"$(head -1 said)\""
  else
    ok "$name"
  fi
}

# ---- output ----

golden 1 cat.text "$kymo" cat mytrace
golden 1 cat.date.text "$kymo" cat --clock-date mytrace
golden 1 cat.options.text "$kymo" cat --names=none --fields=all --no-delta --clock-seconds mytrace
golden 1 cat.cycles.text "$kymo" cat --names=payload --fields=loglevel,emf --clock-cycles mytrace
gmt() { diff <(TZ=Europe/Berlin "$kymo" cat --clock-gmt mytrace) <("$kymo" cat mytrace); }
check 'times in UTC wherever we are' gmt
ends 'a value of an option that is misspelt' 2 \
  'the option "fields" of the format "text" has no value "logleve" (did you mean "loglevel"?)' "$kymo" cat --fields=trace,logleve mytrace
ends 'a list of nothing' 2 'the option "names" of the format "babeltrace2" has no value ""' "$kymo" cat -f babeltrace2 --names= mytrace
golden 1 cat.color.text "$kymo" cat --color=always mytrace
golden 1 cat.json "$kymo" cat -f json mytrace
golden explain.text "$kymo" explain --record 5 mytrace
ends 'an offset in a trace that nobody described' 2 'mytrace: --offset is for files that are read with a description' "$kymo" explain --offset 5 mytrace
ends 'a plan of it' 2 'mytrace: --plan is for files that are read with a description' "$kymo" explain --plan mytrace
printf 'doors' >one.log && cp one.log other.log
ends 'two described files' 2 'one.log: expected one file, found others beside it' "$kymo" explain --key "$here/doors.tdl" one.log other.log
golden cat.babeltrace2 env -C "$TMPDIR" bash -c "'$kymo' cat --format babeltrace2 mytrace 2>&1 | sed 's|$TMPDIR|DIRECTORY|g'"
details() { "$kymo" cat --format "$1" mytrace 2>&1 | sed "s|$TMPDIR|DIRECTORY|g"; }
golden cat.details details details
golden cat.details.2.0 details details:2.0
ends 'an option that no format has' 2 'the format "details" has no option "2.o" (did you mean "2.0"?)' "$kymo" cat -f details:2.o mytrace
ends 'a value that is not wanted' 2 'the option "2.0" of the format "details" has no value' "$kymo" cat -f details:2.0=1 mytrace
golden 1 info.text "$kymo" info mytrace
golden 1 info.json "$kymo" info --json mytrace
golden list.text "$kymo" list mytrace
golden list.brief.text "$kymo" list --brief mytrace
golden describe.doc "$kymo" describe --as doc mytrace
golden describe.key.doc "$kymo" describe --as doc "$here/doors.tdl"
golden describe.key.c.text "$kymo" describe --as c "$here/doors.tdl"
golden help.text "$kymo" --help

berlin() { [ "$(TZ=Europe/Berlin "$kymo" cat mytrace | sed -n '1p;2p' | cut -c1-20)" = $'# 2023-11-14 +0100\n[23:13:20.000000105]' ]; }
check 'the text shows local time' berlin

sed 's/"box"/"other box"/; s/01234567-89ab/11234567-89ab/' mytrace/metadata >metadata.other
cp -r mytrace othertrace && mv metadata.other othertrace/metadata && for file in othertrace/channel_*; do
  python3 - "$file" <<'P'
import sys
data = open(sys.argv[1], 'rb').read().replace(bytes.fromhex('0123456789ab'), bytes.fromhex('1123456789ab'))
open(sys.argv[1], 'wb').write(data)
P
done
hosts() { [ "$("$kymo" cat mytrace othertrace | grep -v '^#' | cut -d' ' -f3 | sort -u | tr '\n' ' ')" = \
  'box:9@1 box:_t_/9@1 box:two_words/4712@0 box:worker/4711@0 other_box:9@1 other_box:_t_/9@1 other_box:two_words/4712@0 other_box:worker/4711@0 ' ]; }
check 'several hosts are distinguished' hosts

strict_json() {
  "$kymo" cat -q -f json mytrace >lines.json
  [ $? = 1 ] && { "$kymo" info -q --json mytrace >>lines.json; [ $? = 1 ]; } &&
    python3 - lines.json <<'P'
import json, sys
def refuse(word):
    raise ValueError(word)
lines = open(sys.argv[1], encoding='utf-8').read().splitlines()
objects = [json.loads(line, parse_constant=refuse) for line in lines]
kinds = [o for o in objects if o.get('event') == 'all:kinds']
assert len(kinds) == 2, len(kinds)
f = kinds[0]['fields']
assert f['min'] == -2**63 and f['max'] == 2**64 - 1 and f['minus'] == -1, f
assert f['f32'] == 0.1 and f['f64'] == 1e-7 and f['nan'] == 'NaN' and f['inf'] == '-Infinity', f
assert f['text'] == 'tab\t "quoted" \\ é \ufffd \x1b[31m' and f['fixed'] == 'fix', f
assert f['nothing'] == {} and f['pairs'] == [{'a': 1, 'b': 2}, {'a': 3, 'b': 4}] and f['value'] == 99, f
assert kinds[0]['ts'] == 1700000000 * 10**9 + 3005 and kinds[0]['tid'] == 4712 and kinds[0]['cpu'] == 0
assert sum(c['count'] for c in objects[-1]['traces'][0]['classes']) == objects[-1]['events'] == 7
assert [o['lost']['count'] for o in objects if 'lost' in o] == [12, 2]
P
}
check 'JSON is valid, complete and exact' strict_json

python3 "$KYMO_SOURCE/tests/differential/random_trace.py" random 8 || exit 1
twice() { cmp <("$kymo" cat -f babeltrace2 --force-correlate mytrace random 2>&1) <("$kymo" cat -f babeltrace2 --force-correlate random mytrace 2>&1); }
check 'the order of the arguments does not matter' twice

# ---- damage ----

cp -r mytrace cut
head -c -40 mytrace/channel_0 >cut/channel_0
ends 'a cut file gives exit status 1 and one line' 1 'channel_0: byte ' "$kymo" cat cut
ends 'quiet says nothing of damage' 1 '' "$kymo" cat -q cut
ends 'info tells of damage' 1 'channel_0: byte ' "$kymo" info cut
sound() { [ "$("$kymo" cat -q cut | grep -vc '^#')" = 6 ]; }
check 'all sound events of a damaged trace are printed' sound
damage_in_json() { "$kymo" info -q --json cut | python3 -c 'import json, sys; d = json.load(sys.stdin)["damage"]; assert len(d) == 1 and d[0]["offset"] > 0, d'; [ "${PIPESTATUS[1]}" = 0 ]; }
check 'info lists damage in JSON' damage_in_json

# types that are made of one another twice over: 2^14 members with a name of 10,000 letters
mkdir doubled && head -c 8 /dev/zero >doubled/stream && python3 - >doubled/metadata <<'P'
print('/* CTF 1.8 */\ntypealias integer { size = 8; } := u8;\ntrace { major = 1; minor = 8; byte_order = le; };\nstream { };')
print(f'struct s0 {{ u8 {"x" * 10000}; }};')
for i in range(14):
    print(f'struct s{i + 1} {{ struct s{i} a; struct s{i} b; }};')
print('event { name = "e"; fields := struct { u8 x; struct s14 y[0]; }; };')
P
ends 'a trace class without bounds' 3 'a trace class takes more than 64 MiB as text' "$kymo" cat -f details doubled

# ---- command lines ----

ends 'no command' 2 'Usage: kymo COMMAND' "$kymo"
ends 'unknown command' 2 'no command "frobnicate"' "$kymo" frobnicate
ends 'unknown option' 2 'unknown option "--frobnicate"' "$kymo" --frobnicate
ends 'unknown option of a command' 2 '--frobnicate' "$kymo" cat --frobnicate mytrace
ends 'unknown format' 2 'no format "yaml"' "$kymo" cat -f yaml mytrace
ends 'wrong colour' 2 '--color is auto, always or never' "$kymo" cat --color=red mytrace
ends 'option of another format' 2 'the format "json" has no option "clock-date"' "$kymo" cat -f json --clock-date mytrace
ends 'missing path' 3 'nowhere' "$kymo" cat nowhere
mkdir -p empty
ends 'no trace in a directory' 3 'empty' "$kymo" cat empty
ends 'help about an unknown command' 2 'no command' "$kymo" help frobnicate
for command in cat info; do ends "$command without arguments" 2 'which trace' "$kymo" $command; done
for command in cat info list; do
  ends "$command --help" 0 '' "$kymo" $command --help
  same_help() { [ "$("$kymo" help $command)" = "$("$kymo" $command --help)" ]; }
  check "help $command" same_help
done
version() { [ "$("$kymo" --version)" = "$("$kymo" cat --version)" ] && [[ "$("$kymo" --version)" =~ ^kymo\ [0-9]+\.[0-9]+\.[0-9]+$ ]]; }
check 'the version is the same everywhere' version

# ---- output that cannot be written ----

full() { "$kymo" "$@" >/dev/full; }
if [ -w /dev/full ]; then
  ends 'cat on a full disk' 3 'No space left' full cat mytrace
  ends 'info on a full disk' 3 'No space left' full info mytrace
  ends 'info --json on a full disk' 3 'No space left' full info --json mytrace
  ends 'list on a full disk' 3 'No space left' full list mytrace
  ends 'help on a full disk' 3 'No space left' full --help
fi
pipe_ends() { # the reader closes at once; kymo must say nothing, whether SIGPIPE is ignored or not
  (trap "$1" PIPE; for _ in 1 2 3 4 5; do "$kymo" cat -q mytrace mytrace mytrace; done 2>said | head -1 >/dev/null); [ ! -s said ]
}
check 'a reader that goes away is no error' pipe_ends -
check 'a reader that goes away is no error when SIGPIPE is ignored' pipe_ends ''

# ---- colour ----

on_terminal() { script -qc "'$kymo' cat $* mytrace" /dev/null </dev/null >seen && grep -q $'\x1b\\[1m' seen; }
check 'colour on a terminal' on_terminal
not_on_terminal() { ! on_terminal "$@"; }
check 'no colour if not wanted' not_on_terminal --color=never
export NO_COLOR=1
check 'no colour with NO_COLOR' not_on_terminal
check 'colour on demand in spite of NO_COLOR' on_terminal --color
unset NO_COLOR
plain() { "$kymo" cat --color=always mytrace | sed 's/\x1b\[[0-9]*m//g' | cmp - <("$kymo" cat mytrace); }
check 'colour changes nothing else' plain

# ---- manual pages ----

# a reader's own place, with the rings of a server that died
ln -sf "$kymo" "$bin/kymo"
must_build server worker.c
export KYMO_RINGS=$TMPDIR/rings KYMO_OUT=$TMPDIR/saved
mkdir saved
KYMO_ENABLE='*' "$bin/server" -t 1 -n 0 -k 10 -e kill 2>/dev/null
example() { [ -n "$(PATH=$bin:$PATH bash -e -o pipefail -c "$1")" ]; }
for page in kymo kymo-cat kymo-compile kymo-describe kymo-info kymo-list; do
  while IFS= read -r line; do
    check "$page(1): $line" example "$line"
  done < <(sed -n 's/^\$ //p' "$KYMO_SOURCE/docs/man/$page.1" | sed 's/\\e/\\/g')
  if command -v groff >/dev/null; then
    clean_page() { [ -z "$(groff -mdoc -ww -Tutf8 "$KYMO_SOURCE/docs/man/$page.1" 2>&1 >/dev/null)" ]; }
    check "$page(1) has no mistakes" clean_page
  fi
done
while IFS= read -r line; do
  check "json.md: $line" example "$line"
done < <(sed -n '/^## Examples/,$s/^kymo /kymo /p' "$KYMO_SOURCE/docs/json.md")
for option in $("$kymo" cat --help | grep -o -- '--[a-z-]*' | sort -u | grep -vE '^--(help|usage|version)$'); do
  documented() { grep -q -- "Fl -${1#--}" "$KYMO_SOURCE/docs/man/kymo-cat.1"; }
  check "kymo-cat(1) describes $option" documented "$option"
done
