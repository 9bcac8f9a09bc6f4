#!/usr/bin/env bash
# Runs the tests whose names match, talking; fails if there are none, because a
# check that checks nothing must not look green.
#   focus.sh WHAT PATTERN PACKAGES...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
what="$1" pattern="$2"
shift 2

packages=()
for package in "$@"; do
  if [[ -d "${package%/...}" ]]; then packages+=("$package"); fi
done
found="$(go test -list "$pattern" "${packages[@]}" | grep '^Test' || true)"
if [[ -z "$found" ]]; then
  echo "$what: no test matches '$pattern'" >&2
  exit 1
fi
# Only packages that have one, and not from the cache: these are run to be read.
mapfile -t having < <(go test -list "$pattern" -json "${packages[@]}" |
  sed -n 's/.*"Package":"\([^"]*\)".*"Output":"Test.*/\1/p' | sort -u)
go test -count=1 -v -timeout 4h -run "$pattern" "${having[@]}"
