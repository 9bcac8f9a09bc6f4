#!/usr/bin/env bash
# Installs what the tests of packages and adapters need beside Go, into bin.
# What stays missing is said, and the tests that need it say that they skip; in CI they fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lacking() { echo "missing: the packages of $*, for clients in other languages (is the network there?)"; }

# The tests install the wheel into this one, and mypy keeps its cache there: it is this clone's own.
doors_venv() {
  local venv=bin/doors-venv wanted=test/doors/python/requirements.txt
  if cmp -s "$wanted" "$venv/installed.txt"; then return; fi
  rm -rf "$venv"
  if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"; then
    # It fetches what it is a name for when it first runs.
    "$venv/bin/pyright" --version >/dev/null 2>&1 || true
    cp "$wanted" "$venv/installed.txt"
  else
    rm -rf "$venv"
    lacking "$wanted"
  fi
}

node_modules() { # FOLDER
  if [[ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ]]; then return; fi
  npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error || lacking "$1"
}

# They wait for the network and for the disk: a few at once are soonest done.
frameworks() {
  # The oldest libraries that the Python package runs with, and the protoc that its stubs are made with.
  scripts/python-venv.sh bin/python-gen-venv clients/python/generator.txt || lacking clients/python/generator.txt
  # Frameworks want versions of the same packages that do not go together.
  for wanted in test/doors/adapters/requirements/*.txt; do
    scripts/python-venv.sh "bin/doors-$(basename "$wanted" .txt)-venv" "$wanted" || lacking "$wanted"
  done
}

doors_venv &
frameworks &
node_modules test/doors/typescript &
wait
