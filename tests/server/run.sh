#!/bin/bash
# SPDX-License-Identifier: MIT
# rungs: plain
#
# A real, unmodified server, redis with jemalloc, under load of its own tool and traced by kymo record --calls libc: it answers as
# without, and the trace shows what it did.
set -u
. "$KYMO_SOURCE/tests/recorder/lib.sh"

if [ ! -x "$kymo" ] || ! command -v redis-server >/dev/null || ! command -v redis-benchmark >/dev/null; then
  skip 'a server under load' 'redis is not installed'
  exit 77
fi
unset KYMO_ENABLE KYMO_OUT KYMO_RINGS LD_PRELOAD

cli() { redis-cli -s "$PWD/socket" "$@"; }
# start COMMAND…: the server, started by the command; $server is what to wait for
start() {
  "$@" redis-server --port 0 --unixsocket "$PWD/socket" --save '' --appendonly no --dir "$PWD" --io-threads 2 >server.log 2>&1 &
  server=$!
  until_true eval '[ "$(cli ping)" = PONG ]' || { cat server.log; return 1; }
}
stop() {
  cli shutdown nosave >/dev/null 2>&1
  may_lose wait $server
}
# What a client asks, one answer a line.
session() {
  cli <<'END'
set greeting "hello\nworld"
get greeting
incrby count 41
incr count
lpush list a b c
lrange list 0 -1
sadd set x y x
scard set
hset hash one 1 two 2
hgetall hash
get missing
lpush greeting wrong
eval "return {1, 'two', redis.call('get', 'count')}" 0
setrange long 100000 x
strlen long
no-such-command
END
}

fresh # all cases look at one recording
under_load() {
  start env && session >without && stop || return 1
  rm -f socket
  start "$kymo" record -q -o out --calls libc --buffer 4M -- || return 1
  session >with
  redis-benchmark -s "$PWD/socket" -q -n 5000 -c 25 -P 4 -t set,get,lpush,lrange_100 >load 2>&1 || { cat load; return 1; }
  cli info stats | tr -d '\r' >stats
  stop && cmp without with || { diff without with; return 1; }
  "$kymo" cat -q out | sed -nE 's/^(\[[^]]*\] )?\+?[0-9.]* [^ ]* //p' >events
  may_lose "$kymo" info -q out >info && grep -q '^damage *0$' info || { grep damage info; return 1; }
}
check 'redis under load answers as without being traced' under_load

lost() { sed -nE 's/^  sum .*lost ([0-9]+) event.*/\1/p' info; }
connections() { # and one more, which has stopped the server
  local accepted connected
  accepted=$(grep -cE '^libc:accept4? .* result = [0-9]+,' events)
  connected=$(sed -n 's/^total_connections_received://p' stats)
  [ "$accepted" = $((connected + 1)) ] && [ "$accepted" -gt 100 ] || { echo "$accepted accepted, $connected connections, $(lost) events lost"; return 1; }
}
bytes() { # the bytes over sockets, up to the answer that reports them
  local received counted
  received=$(awk '/^libc:accept4? .* result = [0-9]/ { match($0, /result = [0-9]+/); fd[substr($0, RSTART + 9, RLENGTH - 9)] }
    /^libc:close fd = [0-9]+,/ { split($4, a, ","); delete fd[a[1]] }
    /^libc:read fd = [0-9]+, .* result = [0-9]/ { split($4, a, ","); match($0, /result = [0-9]+/); if (a[1] in fd) sum += substr($0, RSTART + 9, RLENGTH - 9) }
    END { print sum }' events)
  counted=$(sed -n 's/^total_net_input_bytes://p' stats)
  [ "$received" -ge "$counted" ] && [ "$received" -le $((counted + 200)) ] || { echo "$received bytes read, $counted counted, $(lost) events lost"; return 1; }
}
shows() { grep -qE "^libc:$1" events || { echo "no $1 among"; sed -E 's/ .*//' events | sort | uniq -c; return 1; }; }
other_calls() {
  shows 'epoll_wait .* result = [1-9]' && shows 'write fd = [0-9]+, size = [0-9]+, result = [0-9]+, error = 0, duration_ns = [1-9]' &&
    shows 'pthread_mutex_lock ' && shows 'open '
}
if [ -s events ] && [ -z "$(lost)" ]; then
  check 'one accept for each connection' connections
  check 'as many bytes read as the server counts' bytes
elif [ -s events ]; then
  skip 'the trace shows each connection and each byte' "$(lost) events were lost, the machine is too busy"
fi
[ -s events ] && check 'waiting, writing, locking, opening' other_calls

exit 0
