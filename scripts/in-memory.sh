#!/usr/bin/env bash
# Runs a command whose temporary files lie in memory, and are gone with it. Tests write small stores and sync them thousands of times:
# a disk makes that slow and shows nothing, since no test cuts the power. Where no memory is mounted with room, or nothing may be
# executed there, the files lie where they always do. `make faults` and `make test-speed` write to the disk.
#   in-memory.sh COMMAND...
set -euo pipefail

room=4 # GiB that must be free; what tests hold at once is below 1
memory=/dev/shm
# The same folder each time, or no result of a test would be cached.
folder="$memory/palimpsest-$(id -u)-$(pwd | cksum | cut -d' ' -f1)"
free="$(df --output=avail -B1G "$memory" 2>/dev/null | tail -1 || true)"
if ((${free:-0} < room)) || ! command -v flock >/dev/null || ! mkdir -p "$folder"; then exec "$@"; fi

# Several commands may share the folder: the last one removes it.
exec {lock}>"$folder.lock"
flock --shared "$lock"
trap 'if flock --nonblock --exclusive "$lock"; then rm -rf "$folder" "$folder.lock"; fi' EXIT

printf '#!/bin/sh\n' >"$folder/try"
chmod +x "$folder/try"
if "$folder/try" 2>/dev/null; then
  export TMPDIR="$folder" GOTMPDIR="$folder" # the latter is what t.TempDir looks at first
fi
"$@" {lock}>&-
