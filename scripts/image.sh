#!/usr/bin/env bash
# Builds the container image bin/image/palimpsest.tar, without a daemon and without a registry.
#   image.sh VERSION [ARCHITECTURE...]     this machine's by default; several become an index
# The same sources give the same bytes: the image was created when SOURCE_DATE_EPOCH says, or when the commit was made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version="$1"
shift
(($#)) || set -- "$(go env GOARCH)"

created="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}"
out=bin/image
rm -rf "$out"
mkdir -p "$out"
binaries=()
for architecture in "$@"; do
  binary="$PWD/$out/sidecar-$architecture"
  CGO_ENABLED=0 GOOS=linux GOARCH="$architecture" go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$binary" ./cmd/sidecar
  binaries+=("$binary")
done
archive="$PWD/$out/palimpsest.tar"
go run -C tools/image . -o "$archive" -version "$version" -created "$created" -repository "$PWD" "${binaries[@]}"
