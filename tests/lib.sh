# SPDX-License-Identifier: MIT
# Sourced by shell suites: the lines that tests/run counts.

ok() { printf 'ok %s\n' "$1"; }
not_ok() { printf 'not ok %s: %s\n' "$1" "$2"; }
skip() { printf 'skip %s: %s\n' "$1" "$2"; }

# check NAME COMMAND…: passes if the command does; its output is shown when it fails
check() {
  local name=$1 output status
  shift
  output=$("$@" 2>&1) && status=0 || status=$?
  if [ "$status" = 0 ]; then
    ok "$name"
  else
    printf '%s\n' "$output" | sed 's/^/    /'
    not_ok "$name" "exit code $status"
  fi
}

# check_by NAME FUNCTION COMPILER …: only where the compiler is installed, which `make test` does not do for all of them
check_by() {
  if command -v "$3" >/dev/null; then
    check "$@"
  else
    skip "$1" "$3 is not installed"
  fi
}

# check_fails NAME COMMAND…: passes if the command fails (by itself, not by a signal)
check_fails() {
  local name=$1 output status
  shift
  output=$("$@" 2>&1) && status=0 || status=$?
  if [ "$status" != 0 ] && [ "$status" -lt 126 ]; then
    ok "$name"
  else
    printf '%s\n' "$output" | sed 's/^/    /'
    not_ok "$name" "exit code $status"
  fi
}

# says STATUS TEXT COMMAND…: it ends with this status, and prints these lines on both streams together, and no others
says() {
  local wanted=$1 text=$2 status
  shift 2
  "$@" >said 2>&1 </dev/null && status=0 || status=$?
  diff <(printf '%s' "$text${text:+$'\n'}") said && [ "$status" = "$wanted" ] || { echo "exit status $status"; return 1; }
}

# says_first STATUS LINE COMMAND…: the same of the first line that it prints
says_first() {
  local wanted=$1 line=$2 status
  shift 2
  "$@" >said 2>&1 </dev/null && status=0 || status=$?
  [ "$status" = "$wanted" ] && [ "$(head -1 said)" = "$line" ] || { echo "exit status $status:"; cat said; return 1; }
}

# Whether a program of another user finds the library: a checkout in /root is for root alone.
others_reach_library() { setpriv --reuid 65534 --regid 65534 --clear-groups test -r "$KYMO_BUILD/libkymo-trace.so"; }
# the library's sanitizers must be the program's
sanitizer=
symbols=$(nm -D "$KYMO_BUILD/libkymo-trace.so" 2>/dev/null)
case $symbols in # "w" would be a mere question
  *' U __asan_init'*) sanitizer='-fsanitize=address,undefined -fsanitize-undefined-trap-on-error' ;;
  *' U __tsan_init'*) sanitizer='-fsanitize=thread' ;;
esac
# rounds NORMALLY SANITIZED: how many of what is made by chance; with KYMO_ROUNDS set, sanitizers try as many
rounds() { if [ -n "$sanitizer" ] && [ -z "${KYMO_ROUNDS:-}" ]; then echo "$2"; else echo "$1"; fi; }
# alone COMMAND…: what forks. A child's sanitizer waits for ever for what another thread held of it at the fork: no control thread then
alone() {
  if [ -n "$sanitizer" ]; then KYMO_CONTROL=0 "$@"; else "$@"; fi
}
# until_true COMMAND…: waits until it succeeds, 2 minutes at most: the machine may be busy
until_true() {
  local end=$((SECONDS + 120))
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || { echo "not within 2 minutes: $*"; return 1; }
    sleep 0.01
  done
}
# may_lose COMMAND…: it succeeds, or what it made or read is incomplete (exit status 1)
may_lose() {
  local status=0
  "$@" || status=$?
  [ $status -le 1 ] || { echo "exit code $status" >&2; return 1; }
}
