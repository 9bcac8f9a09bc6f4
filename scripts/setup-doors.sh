#!/usr/bin/env bash
# Installs what the tests of packages and adapters need beside Go, into bin.
# What stays missing is said, and the tests that need it say that they skip; in CI they fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python_venv() { # FOLDER REQUIREMENTS...
  local venv="$1"
  shift
  if cmp -s <(cat "$@") "$venv/installed.txt"; then return; fi
  rm -rf "$venv"
  if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "${@/#/-r}"; then
    cat "$@" >"$venv/installed.txt"
  else
    rm -rf "$venv"
    echo "missing: the packages of $*, for Python clients (is the network there?)"
  fi
}

python_venv bin/doors-venv test/doors/python/requirements.txt
# It fetches what it is a name for when it first runs.
bin/doors-venv/bin/pyright --version >/dev/null 2>&1 || true
# The oldest libraries that the Python package runs with, and the protoc that its stubs are made with.
python_venv bin/python-gen-venv clients/python/generator.txt
# Frameworks want versions of the same packages that do not go together.
for wanted in test/doors/adapters/requirements/*.txt; do
  python_venv "bin/doors-$(basename "$wanted" .txt)-venv" "$wanted"
done

node_modules() { # FOLDER
  if [[ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ]]; then return; fi
  npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error || echo "missing: the packages of $1, for TypeScript clients (is the network there?)"
}

node_modules test/doors/typescript
