#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain address
#
# Gist logs: the shared sample, random logs whose events are known, and invalid headers with the exact messages
# about them.
set -u
. "$KYMO_SOURCE/tests/lib.sh"
kymo=$KYMO_BUILD/kymo
data=${KYMO_SHARED:-/nonexistent}/data/cpel
cd "$TMPDIR" || exit 1

# log FILE EVENTS: random events of codes 1, 2, 103 and 104; prints what the dump has to be
log() {
  python3 - "$@" <<'P'
import random, struct, sys
rng, count = random.Random(7), int(sys.argv[2])
names = {1: ('boot', lambda d: ''), 2: ('halt', lambda d: f'100% {d}'), 103: ('rx', lambda d: f'port {d - (1 << 32) if d >> 31 else d}'),
         104: ('tx', lambda d: f'0x{d:08X}')}
time, first, out = 5_000_000_123, None, []
with open(sys.argv[1], 'wb') as file:
    file.write(struct.pack('>I', count))
    for _ in range(count):
        time += rng.randrange(1 << rng.choice([4, 20, 34]))
        pid, code, datum = rng.choice([1, 7, 300000]), rng.choice([1, 2, 103, 104, 99]), rng.randrange(1 << rng.choice([4, 32]))
        file.write(struct.pack('>QIII', time, pid, code, datum))
        first = time // 1000 if first is None else first
        us = time // 1000 - first
        name, show = names.get(code, ('E99', lambda d: ''))
        print(f'{us // 3600000000:03}:{us // 60000000 % 60:02}:{us // 1000000 % 60:02}:{us // 1000 % 1000:03}:{us % 1000:03} '
              f'{pid:<5} {name:<5} {show(datum)}')
P
}

# prints EXPECTED OPTIONS… LOG
prints() {
  local expected=$1
  shift
  "$kymo" cat -q --format cpel "$@" >printed && cmp printed "$expected"
}
if [ -d "$data" ]; then
  check "sample" prints "$data/17-gist.txt" "$data/17-gist.ev"
  check "sample with its header" prints "$data/17-gist.txt" --gist-header "$data/17-gist-elog.h" "$data/17-gist.ev"
else
  skip "sample" "no shared data"
fi

mkdir -p logs/sub
log logs/boot.ev 3000 >wanted
cat >logs/all.h <<'H'
#ifndef ALL_H
#define ALL_H
#define EV_NUM(n) (BASE + n)
#define SIZE 20
#define EV_NET_START   100 /* pointdefs: sub/net.h */
#define EV_HOST_START 0 /* pointdefs:host.h*/
#endif
H
printf '#define EVENT_RX EV_NUM( 3 )\t/* rx: port %%d */\r\n#define EVENT_TX EV_NUM(4) /*tx:0x%%08X*/' >logs/sub/net.h
printf '#define EVENT_A 1 /* boot */\n#define EVENT_B EV_NUM(2) /* halt : 100%%%% %%u  */ int x;\n' >logs/host.h
check "headers beside the log" prints wanted logs/boot.ev
mkdir -p alone && cp logs/boot.ev alone/
printf '#define A 1 /* boot */\n#define B 2 /* halt: 100%%%% %%u */\n#define C 103 /* rx: port %%d */\n#define D 104 /* tx: 0x%%08X */\n' >alone/boot.h
check "the header called as the log is" prints wanted alone/boot.ev
cp logs/boot.ev elsewhere
check "a log of any name, a header that is said" prints wanted --gist-header logs/all.h elsewhere
cp logs/boot.ev alone/boot.cpel
check "a log called .cpel" prints wanted alone/boot.cpel

# `tells STATUS TEXT OPTIONS…`
tells() {
  local status=$1 text=$2 found
  shift 2
  "$kymo" cat "$@" >printed 2>told
  found=$?
  [ "$found" = "$status" ] && [ "$(cat told)" = "$text" ] && return
  echo "status $found"
  cat told
  return 1
}
assumed='Gist logs do not state the frequency of their clock: read as 1000000000 ticks a second'
check "a clock that is assumed" tells 0 "kymo cat: warning: logs/boot.ev: $assumed" logs/boot.ev
check "a clock that is said" tells 0 '' --gist-clock 2400000000 logs/boot.ev
begins() { "$kymo" cat -q --format json --gist-clock "$1" logs/boot.ev | sed -E '1!d; s/^\{"ts":([0-9]+).*/\1/'; }
clock() { [ "$(begins 500000000)" = $((2 * $(begins 1000000000))) ] && "$kymo" info --gist-clock 5000 logs/boot.ev | grep -q ': 5000 ticks a second$'; }
check "the clock that is said counts" clock
check "a log without definitions" tells 0 "kymo cat: warning: elsewhere: $assumed
kymo cat: warning: elsewhere: no header defines its events: their numbers are used as names" elsewhere
numbered() { "$kymo" cat -q elsewhere | grep -q ' E103 datum = ' && ! "$kymo" cat -q elsewhere | grep -q ' rx '; }
check "codes for names" numbered
head -c 111 logs/boot.ev >logs/cut.ev
check "a log that is cut" tells 1 'kymo cat: logs/cut.ev: byte 0: 3000 events in a file that has space for 5' --gist-clock 1000000000 logs/cut.ev
sound() { [ "$(wc -l <printed)" = 5 ]; }
check "the valid part of it" sound
(cat logs/boot.ev; echo more) >logs/more.ev
check "bytes after the events" tells 1 'kymo cat: logs/more.ev: byte 60004: 5 bytes after the last event' --gist-clock 1000000000 logs/more.ev
printf '\0\0' >logs/short.ev
refuses_short() { "$kymo" cat --gist-clock 1 logs/short.ev >/dev/null 2>told; [ $? = 3 ]; }
check "a log without a head" refuses_short

# refuses HEADER-LINES TEXT: the header is refused, with its line
refuses() {
  printf '%s\n' "$1" >bad.h
  "$kymo" cat --gist-header bad.h logs/boot.ev >printed 2>told
  [ $? = 3 ] && [ "$(head -1 told)" = "kymo cat: $2" ] && [ ! -s printed ] && return
  cat told
  return 1
}
check "a conversion that is not known" refuses '#define A 1 /* a: %s */' 'bad.h:1:20: error: a conversion that is not known'
check "a huge width" refuses '#define A 1 /* a: %999999999d */' 'bad.h:1:22: error: a width or precision above 200'
check "a comment without end" refuses '#define A 1 /* a: %d' 'bad.h:1:13: error: a comment that does not end on its line'
check "a code of too many bits" refuses '
#define A 4294967296 /* a: %d */' 'bad.h:2:11: error: a number above 4294967295'
check "an event without name" refuses '#define A 1 /* : %d */' 'bad.h:1:16: error: an event without a name'
check "EV_NUM without number" refuses '#define A EV_NUM(x) /* a: %d */' 'bad.h:1:18: error: expected the number of an event'
check "EV_NUM without bracket" refuses '#define A EV_NUM(1 /* a: %d */' 'bad.h:1:20: error: expected ")"'
check "EV_NUM without base" refuses '#define A EV_NUM(1) /* a: %d */' \
  'bad.h:1:11: error: EV_NUM without a base: read the header that includes this one by pointdefs:'
check "a header that is not there" refuses '#define A 1 /* pointdefs: none.h */' 'none.h: cannot open: No such file or directory'
check "a header without path" refuses '#define A 1 /* pointdefs: */' 'bad.h:1:26: error: expected the path of a header'
check "a header that names itself" refuses '#define A 1 /* pointdefs: bad.h */' \
  'bad.h:1:16: error: expected definitions in a header that another one includes, found a further header'
printf '#define A 1 /* a: %%d */\n#define B 1 /* b: %%d */\n' >twice.h
check "a code that is defined twice" tells 0 \
  'kymo cat: warning: twice.h: 1 definitions of codes that were defined before: the first one of each is used' \
  --gist-clock 1000000000 --gist-header twice.h logs/boot.ev
