#!/usr/bin/env bash
# Fails if a proto breaks what the last release promised: source and wire for
# the public contract, wire for the disk format (buf.yaml says which rules).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
buf() { go tool -modfile=tools/buf/go.mod buf "$@"; }

if ! tag="$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null)"; then
  echo "no release tag (v*) is reachable from here: there is no promise yet to compare with"
  exit 0
fi

released="$(mktemp -d)"
trap 'rm -rf "$released"' EXIT
for module in proto pkg/store/record; do
  if ! git cat-file -e "$tag:$module" 2>/dev/null; then
    echo "$module: not in $tag, nothing to compare with"
    continue
  fi
  git archive "$tag" -- "$module" | tar -x -C "$released"
  buf breaking "$module" --against "$released/$module"
  echo "$module: compatible with $tag"
done
