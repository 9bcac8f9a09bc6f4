#!/usr/bin/env bash
# Makes a virtual environment of Python with what some files name, unless it has just that.
# It is kept among the user's caches, for all clones, and FOLDER links to it: what is installed there stays as it is.
#   python-venv.sh FOLDER REQUIREMENTS...
set -euo pipefail
folder="$1"
shift
python="$(python3 -c 'import sys; print(sys.executable, sys.version)')"
name="$({
  echo "$python"
  cat "$@"
} | cksum | tr ' ' -)"
mkdir -p "$(dirname "$folder")"
kept="${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}"
kept="${kept:+$kept/palimpsest/venvs}"
# Without a home that can be written to, it is this clone's own.
if [[ -z "$kept" ]] || ! mkdir -p "$kept" 2>/dev/null || [[ ! -w "$kept" ]]; then
  kept="$(cd "$(dirname "$folder")" && pwd)/.venvs"
  mkdir -p "$kept"
fi
venv="$kept/$name"

# Two clones may want it at once.
if command -v flock >/dev/null; then
  exec {lock}>"$venv.lock"
  flock "$lock"
fi
if ! cmp -s <(cat "$@") "$venv/installed.txt" || ! "$venv/bin/python" -c '' 2>/dev/null; then
  rm -rf "$venv"
  if ! python3 -m venv "$venv" || ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${@/#/-r}"; then
    rm -rf "$venv"
    exit 1
  fi
  cat "$@" >"$venv/installed.txt"
fi
if [[ "$(readlink "$folder" || true)" != "$venv" ]]; then
  rm -rf "$folder"
  ln -s "$venv" "$folder"
fi
