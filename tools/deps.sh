#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What pawl needs from the system, in one table, and the way to get it.
#
#   tools/deps.sh check GROUP...     prints what is missing; exit 1 when something is
#   tools/deps.sh install GROUP...   installs what is missing through apt-get (as root, or by sudo); where it can't, it prints the
#                                    line to run and exits 1
#   tools/deps.sh list GROUP...      prints the packages
#
# Groups: build (to compile), test (make check), ci (lint, sanitizers, fuzzing). When nothing is missing no package manager is asked.
set -eu

# group  probe                  Debian package
table='
build    cmd:cc                 gcc
build    file:/usr/include/stdio.h libc6-dev
build    cmd:musl-gcc           musl-tools
build    cmd:make               make
build    cmd:meson              meson
build    cmd:ninja              ninja-build
build    cmd:pkg-config         pkg-config
build    cmd:/usr/bin/python3   python3
build    pc:glib-2.0            libglib2.0-dev
build    pc:jansson             libjansson-dev
build    pc:yaml-0.1            libyaml-dev
build    pc:sqlite3             libsqlite3-dev
build    pc:libpq               libpq-dev
build    pc:libevent_core       libevent-dev
build    file:/usr/share/zoneinfo/Europe/Berlin tzdata
test     py:pytest              python3-pytest
test     py:xdist               python3-pytest-xdist
test     py:hypothesis          python3-hypothesis
test     py:psycopg             python3-psycopg
test     file:/usr/lib/postgresql/15/bin/postgres postgresql-15
test     file:/usr/lib/postgresql/15/bin/psql postgresql-client-15
test     cmd:pgbouncer          pgbouncer
test     cmd:npm                npm
ci       cmd:git                git
ci       cmd:ccache             ccache
ci       cmd:clang              clang
ci       rt:fuzzer              libclang-rt-14-dev
ci       cmd:clang-format       clang-format
ci       cmd:clang-tidy         clang-tidy
ci       py:pyflakes            python3-pyflakes
'

usage() { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }

probe() {
  case $1 in
  cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
  file:*) [ -e "${1#file:}" ] ;;
  pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
  py:*) [ -n "$(find /usr/lib/python3/dist-packages /usr/local/lib/python3*/dist-packages /usr/lib/python3*/site-packages \
    -maxdepth 1 \( -name "${1#py:}" -o -name "${1#py:}.py" \) 2>/dev/null)" ] ;;
  rt:*) for lib in /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt."${1#rt:}"-*.a /usr/lib/clang/*/lib/*/libclang_rt."${1#rt:}"*.a; do
      if [ -e "$lib" ]; then return 0; fi
    done
    return 1 ;;
  esac
}

[ $# -ge 2 ] || usage
verb=$1
shift
packages='' missing=''
for group in "$@"; do
  case $group in build | test | ci) ;; *) usage ;; esac
  while read -r g what package; do
    [ "$g" = "$group" ] || continue
    packages="$packages $package"
    [ "$verb" = list ] || probe "$what" || missing="$missing $package"
  done <<TABLE
$table
TABLE
done

case $verb in
list) printf '%s\n' $packages; exit 0 ;;
check | install) ;;
*) usage ;;
esac

[ -n "$missing" ] || exit 0
if [ "$verb" = check ]; then
  printf 'missing:%s\n' "$missing" >&2
  exit 1
fi

line="apt-get update && apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null 2>&1; then
  printf 'pawl needs these Debian packages, or what your system calls them:%s\n' "$missing" >&2
  exit 1
fi
if [ "$(id -u)" = 0 ]; then
  as=''
elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
  as=sudo
else
  printf 'missing:%s\nrun this as root, then call make again:\n\n    %s\n\n' "$missing" "$line" >&2
  exit 1
fi
printf 'installing:%s\n' "$missing" >&2
if ! { $as apt-get update -qq && $as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >&2; then
  printf 'that failed; run it by hand to see why:\n\n    %s%s\n\n' "${as:+$as }" "$line" >&2
  exit 1
fi
