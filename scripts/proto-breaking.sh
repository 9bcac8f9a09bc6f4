#!/usr/bin/env bash
# Fails if a proto breaks what the last release promised: source and wire for
# the public contract, wire for the disk format (buf.yaml says which rules).
# The promise is in tools/buf/released, which proto-release.sh renews.
#   proto-breaking.sh          the protos of the repository
#   proto-breaking.sh FOLDER   the same tree, under FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root="${1:-.}"
buf() { go tool -modfile=tools/buf/go.mod buf "$@"; }

failed=0
for module in proto pkg/store/record; do
  if buf breaking "$root/$module" --against "tools/buf/released/${module//\//-}.binpb"; then
    echo "$module: compatible with the last release"
  else
    echo "$module: breaks what the last release promised" >&2
    failed=1
  fi
done
exit "$failed"
