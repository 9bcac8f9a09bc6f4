#!/usr/bin/env bash
# Installs what the tests of long-term memory need beside Go: the package mem0ai, into bin/memory-venv.
# What stays missing is said, and the tests that need it say that they skip; in CI they fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=bin/memory-venv
wanted=pkg/memory/mem0/mem0test/requirements.txt

if ! cmp -s "$wanted" "$venv/installed.txt"; then
  rm -rf "$venv"
  if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"; then
    cp "$wanted" "$venv/installed.txt"
  else
    rm -rf "$venv"
    echo "missing: the package mem0ai, for Mem0's own server (is the network there?)"
  fi
fi
