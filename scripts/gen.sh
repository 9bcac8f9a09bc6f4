#!/usr/bin/env bash
# Generates the Go code of both proto modules, and the licenses of all that is linked.
#   gen.sh          into the repository
#   gen.sh FOLDER   the same tree, under FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out="${1:-.}"
buf() { go tool -modfile=tools/buf/go.mod buf "$@"; }

# What no proto generates any more must go too.
if [[ -d "$out/gen" ]]; then find "$out/gen" -name '*.pb.go' -delete; fi

buf generate --template buf.gen.yaml --output "$out"
if compgen -G 'pkg/store/record/recordpb/*.proto' >/dev/null; then
  buf generate --template tools/buf/record.gen.yaml --output "$out"
fi
mkdir -p "$out/cmd/sidecar"
go run ./tools/licenses >"$out/cmd/sidecar/THIRD_PARTY_LICENSES.new"
mv "$out/cmd/sidecar/THIRD_PARTY_LICENSES.new" "$out/cmd/sidecar/THIRD_PARTY_LICENSES"
