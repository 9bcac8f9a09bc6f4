#!/usr/bin/env bash
# Runs a command whose temporary files lie in memory, and are gone with it. Tests write small stores and sync them thousands of times:
# a disk makes that slow and shows nothing, since no test cuts the power. Where no memory is mounted with room, or nothing may be
# executed there, the files lie where they always do. `make faults` and `make test-speed` write to the disk.
#   in-memory.sh COMMAND...
set -euo pipefail

room=4 # GiB that must be free; what tests hold at once is below 1
memory=/dev/shm
free="$(df --output=avail -B1G "$memory" 2>/dev/null | tail -1 || true)"
if ((${free:-0} < room)) || ! folder="$(mktemp -d "$memory/palimpsest-XXXXXX")"; then exec "$@"; fi
trap 'rm -rf "$folder"' EXIT

printf '#!/bin/sh\n' >"$folder/try"
chmod +x "$folder/try"
if "$folder/try" 2>/dev/null; then
  # Where Go links test binaries needs no speed, and would need much memory.
  export GOTMPDIR="${GOTMPDIR:-${TMPDIR:-/tmp}}" TMPDIR="$folder"
fi
"$@"
