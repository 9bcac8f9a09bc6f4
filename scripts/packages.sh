#!/usr/bin/env bash
# Builds the packages of clients in other languages, with this version, into bin/packages.
#   packages.sh VERSION [python] [typescript] [java]      all by default
set -euo pipefail
shopt -s nullglob
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version="$1"
shift
if (($# == 0)); then set -- python typescript java; fi
out="$PWD/bin/packages"
mkdir -p "$out"

# The version of a release as Python writes it; what is no release is a development version of none.
python_version() {
  if [[ "$version" =~ ^v?([0-9]+\.[0-9]+\.[0-9]+)$ ]]; then echo "${BASH_REMATCH[1]}"; else echo 0.0.0.dev0; fi
}

# The package is laid out first: the tools' definitions and the adapters are kept where other clients have theirs.
build_python() {
  local stage="$out/stage/python" package
  package="$stage/src/palimpsest_context"
  rm -rf "$stage" "$out"/palimpsest_context-*
  mkdir -p "$out/stage"
  cp -R clients/python "$stage"
  find "$stage" -name __pycache__ -prune -exec rm -rf {} +
  cp LICENSE "$stage/"
  mkdir -p "$package/tools" "$package/adapters"
  cp clients/tools/*.json "$package/tools/"
  printf '"""Adapters to frameworks, each for the extra of its name."""\n' >"$package/adapters/__init__.py"
  for adapter in clients/adapters/*/*.py; do
    if [[ "$(basename "$adapter" .py)" == "$(basename "$(dirname "$adapter")" | tr - _)" ]]; then cp "$adapter" "$package/adapters/"; fi
  done
  cat >"$package/_version.py" <<VERSION
"""The version of the package, and of the sidecar that it was made with."""

__version__ = "$(python_version)"
SIDECAR = "$version"
VERSION
  local venv="$PWD/bin/packages-venv"
  scripts/python-venv.sh "$venv" clients/python/build.txt
  (cd "$stage" && "$venv/bin/python" -m hatchling build -d "$out" >/dev/null 2>&1)
}

build_typescript() {
  rm -f "$out"/palimpsest-context-*.tgz
  clients/typescript/build.sh "$version" "$out" >/dev/null
}

build_java() { clients/java/build.sh "$version" "$out" langchain4j spring_ai; }

for language in "$@"; do "build_$language"; done
rm -rf "$out/stage"
ls -l "$out"
