#!/usr/bin/env bash
# Lints both proto modules and checks their formatting.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
buf() { go tool -modfile=tools/buf/go.mod buf "$@"; }

for module in proto pkg/store/record; do
  if [[ ! -d "$module" ]]; then
    echo "no $module: nothing to lint there"
    continue
  fi
  buf lint "$module"
  buf format --diff --exit-code "$module"
  echo "$module: lint and format are clean"
done
