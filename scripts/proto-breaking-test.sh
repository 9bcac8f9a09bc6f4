#!/usr/bin/env bash
# Proves that proto-breaking.sh sees what would break a client or a stored
# value, and lets through what would not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT

api="$copy/proto/palimpsest/v1/event.proto"
disk="$copy/pkg/store/record/recordpb/record.proto"
failed=0

# check COLOR WHAT FILE SCRIPT: with FILE changed by the sed SCRIPT, the comparison is red or green.
check() {
  local color="$1" what="$2" file="$3" script="$4" got=red
  rm -rf "${copy:?}"/*
  mkdir -p "$copy/pkg/store"
  cp -r buf.yaml proto "$copy"
  cp -r pkg/store/record "$copy/pkg/store"
  cp "$file" "$copy/before"
  sed -i -e "$script" "$file"
  if cmp -s "$file" "$copy/before"; then
    echo "$what: the change changes nothing" >&2
    failed=1
    return
  fi
  if scripts/proto-breaking.sh "$copy" >"$copy/said" 2>&1; then got=green; fi
  if [[ "$got" == "$color" ]]; then
    echo "$what: $got, as it must be"
  else
    echo "$what: $got, and must be $color" >&2
    cat "$copy/said" >&2
    failed=1
  fi
}

check green "an added field" "$api" 's/^  string detail = 5;$/&\n  \/\/ Output only. Added.\n  string added = 1000;/'
check red "a removed field" "$api" '/^  string detail = 5;$/d'
check red "a renumbered field" "$api" 's/^  string detail = 5;$/  string detail = 1000;/'
check red "a renamed field" "$api" 's/^  string detail = 5;$/  string renamed = 5;/'
check red "another type of a field" "$api" 's/^  string detail = 5;$/  bytes detail = 5;/'
check green "a renamed field on disk" "$disk" 's/^  int32 first_index = 5;$/  int32 renamed = 5;/'
check red "another type of a field on disk" "$disk" 's/^  int32 first_index = 5;$/  string first_index = 5;/'
exit "$failed"
