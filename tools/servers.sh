#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the PostgreSQL servers of tests/package.json into FOLDER/pgNN, so that the tests run on majors that the system does not have.
#
#   servers.sh FOLDER
#
# Nothing is done when the folder holds what the lock file names. Packages run no scripts of their own here; the links between their
# libraries, which a package can't carry, are made from the list that it brings.
set -euo pipefail
tests=$(cd "$(dirname "$0")/../tests" && pwd)
mkdir -p "$1"
cd "$1"

exec 9>.lock
flock 9
if cmp -s "$tests/package-lock.json" .installed; then exit 0; fi

rm -rf .installed node_modules
cp "$tests/package.json" "$tests/package-lock.json" .
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
for package in node_modules/pg*; do
  /usr/bin/python3 - "$package" <<'PY'
import json, os, pathlib, sys
package = pathlib.Path(sys.argv[1])
for link in json.loads((package / "native/pg-symlinks.json").read_text()):
    target = package / link["target"]
    target.unlink(missing_ok=True)
    target.symlink_to(os.path.relpath(package / link["source"], target.parent))
PY
  ln -sfn "$package/native" "$(basename "$package")"
  "$(basename "$package")/bin/postgres" --version >/dev/null
done
cp "$tests/package-lock.json" .installed
