#!/usr/bin/env bash
# Makes the protos of today what proto-breaking.sh compares with from now on.
# A release does it, once its protos are final; commit the result.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for module in proto pkg/store/record; do
  image="tools/buf/released/${module//\//-}.binpb"
  go tool -modfile=tools/buf/go.mod buf build "$module" --exclude-source-info --output "$image"
  echo "$image: what $module promises"
done
