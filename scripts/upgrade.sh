#!/usr/bin/env bash
# Runs an older version, this one, and the older one again over one data folder.
#   upgrade.sh [BASE]     BASE is a commit or tag; by default the newest release, or 50 commits back where there is none
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
base="${1:-}"
if [[ -z "$base" ]]; then
  base="$(git describe --tags --abbrev=0 --match 'v[0-9]*' HEAD^ 2>/dev/null || git rev-list --first-parent --skip 50 --max-count 1 HEAD)"
fi

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/sources"
# Not a worktree: nothing of this repository changes, and nothing is left behind.
git archive "$base" | tar -x -C "$folder/sources"
CGO_ENABLED=0 go build -C "$folder/sources" -trimpath -ldflags "-X main.version=$base" -o "$folder/older" ./cmd/sidecar
CGO_ENABLED=0 go build -trimpath -o "$folder/newer" ./cmd/sidecar

echo "from $(git log -1 --format='%h %s' "$base")"
echo "to   $(git log -1 --format='%h %s' HEAD), with what is changed here"
PALIMPSEST_UPGRADE_FROM="$folder/older" PALIMPSEST_UPGRADE_TO="$folder/newer" go test ./test/upgrade -run Upgrade -count=1 -v
