#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: lint.sh BUILD JOBS
# Every rule that a program can check, one TAP line each; what it found stands in lines that begin with '#'. BUILD holds compile_commands.json.
set -uo pipefail
build=$1 jobs=$2
n=0 bad=0

# NAME, then what was found (empty: the rule holds)
report() {
  n=$((n + 1))
  if [ -z "$2" ]; then
    echo "ok $n - $1"
  else
    bad=1
    printf '%s\n' "$2" | head -n 60 | sed 's/^/# /'
    echo "not ok $n - $1"
  fi
}

skip() {
  n=$((n + 1))
  echo "ok $n - $1 # SKIP $2"
}

files() { git ls-files -co --exclude-standard -- "$@" | sort -u | while read -r f; do [ -f "$f" ] && echo "$f"; done; }

mapfile -t c_files < <(files 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]')
mapfile -t c_sources < <(files 'src/*.c')

report "clang-format" "$(clang-format --dry-run -Werror "${c_files[@]}" 2>&1 | grep -E 'error:|warning:')"

if [ -e "$build/compile_commands.json" ]; then
  # Headers that the build generates must exist before clang-tidy reads what includes them.
  built=$(ninja -C "$build" 2>&1) || report "build for clang-tidy" "$(printf '%s\n' "$built" | tail -n 20)"
  report "clang-tidy" "$(/usr/bin/python3 -c '
import json, os, sys
build = sys.argv[1]
names = {os.path.relpath(os.path.join(c["directory"], c["file"])) for c in json.load(open(build + "/compile_commands.json"))}
print("\n".join(sorted(n for n in names if n.startswith("src/"))))' "$build" |
    xargs -P "$jobs" -n 4 clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option 2>/dev/null | grep -E -A4 '(warning|error):')"
else
  skip "clang-tidy" "no compile_commands.json in $build"
fi

if [ -f tools/sql-table.py ]; then
  report "SQL headers" "$(out=$(/usr/bin/python3 -B tools/sql-table.py sql 2>&1) || printf '%s\n' "${out:-tools/sql-table.py failed}")"
else
  skip "SQL headers" "tools/sql-table.py is not there"
fi

report "an SPDX line in each file" "$(files '*.c' '*.h' '*.py' '*.sh' 'sql/*/migrations/*.sql' '*.build' '*meson_options.txt' Makefile .ci/run bench/run 'examples/*.yaml' packaging |
  while read -r f; do head -n 3 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$f"; done)"

report "no file is longer than 600 lines" "$(files 'src/*.[ch]' 'tests/*.[ch]' 'tests/*.py' 'tools/*' bench/run | xargs -r wc -l |
  awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }')"

report "no SQL text in C outside src/db" "$(grep -nE '"[^"]*\b(SELECT|INSERT INTO|UPDATE [a-z_.]+ SET|DELETE FROM|BEGIN IMMEDIATE|PRAGMA)\b' "${c_sources[@]}" | grep -v '^src/db/')"

# A room includes itself and the rooms below it (the build enforces it too; here the message names the line).
upward() {
  local room below
  while read -r room below; do
    [ -d "src/$room" ] || continue
    grep -nE '^#include "(base|civil|domain|db|store|engine|worker|http|cli|plugin|app)/' "src/$room"/*.[ch] 2>/dev/null |
      grep -vE "#include \"($(echo "$room $below" | tr ' ' '|'))/"
  done <<'ROOMS'
base base
civil base
domain base civil
db base
store base civil domain db
engine base civil domain db store
worker base civil domain db store
http base
cli base civil domain db store engine worker
ROOMS
}
report "includes point downward" "$(upward)"

shell_files() {
  git ls-files -co --exclude-standard | while read -r f; do
    [ -f "$f" ] && head -c 64 "$f" | head -n 1 | grep -aqE '^#!.*\b(ba)?sh$' && echo "$f"
  done
}
report "shell syntax" "$(shell_files | while read -r f; do
  if head -n 1 "$f" | grep -q bash; then bash -n "$f"; else sh -n "$f"; fi
done 2>&1)"

mapfile -t py_files < <({ files '*.py'; git ls-files -co --exclude-standard | while read -r f; do
  [ -f "$f" ] && head -c 64 "$f" | head -n 1 | grep -aqE '^#!.*python3' && echo "$f"; done; } | sort -u)
report "Python syntax" "$(for f in "${py_files[@]}"; do
  /usr/bin/python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$f" 2>&1 | tail -n 1; done)"
if /usr/bin/python3 -c 'import pyflakes' 2>/dev/null; then
  report "pyflakes" "$(/usr/bin/python3 -m pyflakes "${py_files[@]}" 2>&1)"
else
  skip "pyflakes" "python3-pyflakes is not installed"
fi

broken_links() {
  local md link target
  for md in README.md $(files 'docs/*.md'); do
    grep -oE '\]\([^)#]+' "$md" | sed 's/^](//' | grep -vE '^[a-z]+:' | while read -r link; do
      target=$(dirname "$md")/$link
      [ -e "$target" ] || echo "$md: $link"
    done
  done
}
report "links between the documents" "$(broken_links)"

echo "1..$n"
exit "$bad"
