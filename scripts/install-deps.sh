#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs the Debian packages that a purpose needs, and only what is missing.
# When nothing is missing it needs neither root nor network.
set -eu

# what `make` needs (libmicrohttpd-dev for kymo view alone, libsqlite3-dev for kymo query, python3-dev for the package for Python, libcurl4-openssl-dev for ClickHouse); without dpkg-dev, meson installs the libraries in lib64, where neither pkg-config nor CMake of Debian looks
build='gcc libc6-dev dpkg-dev meson ninja-build pkg-config python3 python3-dev libelf-dev libdw-dev libjansson-dev libsqlite3-dev
  zlib1g-dev libzstd-dev liblz4-dev libmicrohttpd-dev libcurl4-openssl-dev'
# what `make test` needs more: units, C++, a project of CMake, reference readers, manual pages, their checker and what they pipe into, xxd
test='libcmocka-dev g++ cmake babeltrace babeltrace2 trace-cmd binutils procps jq sqlite3 gnuplot-nox bc groff-base mandoc bsdutils util-linux strace xxd protobuf-compiler'
# what `make test ALL=1` needs more: second compiler, its formatter and its fuzzer, rival recorders, a server to trace, a server of ClickHouse, captures of packets and of block devices, stap-merge, reference readers of BLF and EVTX, a browser for the page of kymo view (its tests also need node 20, which Debian 12 does not have), foreign machines
all='clang linux-perf clang-format-14 abigail-tools uftrace libclang-rt-14-dev lttng-tools liblttng-ust-dev systemtap-sdt-dev libdpdk-dev redis-server redis-tools nginx-light clickhouse-server clickhouse-client wireshark-common blktrace systemtap-runtime python3-can python3-evtx libcap2-bin chromium-headless-shell
  gcc-s390x-linux-gnu g++-s390x-linux-gnu libc6-dev-s390x-cross
  gcc-arm-linux-gnueabihf g++-arm-linux-gnueabihf libc6-dev-armhf-cross
  gcc-i686-linux-gnu g++-i686-linux-gnu libc6-dev-i386-cross
  gcc-powerpc-linux-gnu g++-powerpc-linux-gnu libc6-dev-powerpc-cross
  gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user'

usage() {
  cat <<EOF
usage: $0 [--list] PURPOSE…
Installs the Debian packages for each PURPOSE: build, test, all. --list only names them.
EOF
}

list_only=
wanted=
for word; do
  case $word in
    -h | --help) usage; exit 0 ;;
    --list) list_only=yes ;;
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $build $test" ;;
    all) wanted="$wanted $build $test $all" ;;
    *) usage >&2; exit 2 ;;
  esac
done
[ -n "$wanted" ] || { usage >&2; exit 2; }
if [ -n "$list_only" ]; then
  printf '%s\n' $wanted | sort -u
  exit 0
fi

if ! command -v dpkg-query >/dev/null; then
  echo "install-deps: not a Debian system; what is needed must be there already:" $wanted
  exit 0
fi

is_installed() {
  case " $(dpkg-query -W -f '${db:Status-Status} ' "$1" 2>/dev/null)" in
    *" installed "*) ;;
    *) return 1 ;;
  esac
}

missing=
for package in $(printf '%s\n' $wanted | sort -u); do
  is_installed "$package" || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "install-deps: nothing is missing"
  exit 0
fi

as_root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "install-deps: needs root or sudo to install:$missing" >&2; exit 1; }
  as_root=sudo
fi
echo "install-deps: installing$missing"
log=$(mktemp)
# Servers are installed for tests, which start their own: until the end of the installation no service may be started.
policy=/usr/sbin/policy-rc.d
made_policy=
clean_up() {
  rm -f "$log"
  [ -z "$made_policy" ] || $as_root rm -f "$policy"
}
trap clean_up EXIT
if [ ! -e "$policy" ]; then
  made_policy=yes
  printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
  $as_root chmod 755 "$policy"
fi
apt() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 \
    -q -y "$@" </dev/null >"$log" 2>&1
}
# Package lists may be absent or too old; they are fetched only when they do not do.
if ! apt install --no-install-recommends $missing; then
  echo "install-deps: fetching the package lists"
  apt update && apt install --no-install-recommends $missing || { cat "$log" >&2; exit 1; }
fi
echo "install-deps: done"
