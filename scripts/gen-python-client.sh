#!/usr/bin/env bash
# Generates what the Python client has of the protos: stubs, and a class for each reason of errors.
#   gen-python-client.sh          into the repository
#   gen-python-client.sh FOLDER   the same tree, under FOLDER
# Exits with 3 where the generator cannot be installed.
# The generator is old on purpose (clients/python/generator.txt), and lives in bin/python-gen-venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
package=clients/python/src/palimpsest_context
out="${1:-.}/$package"
venv=bin/python-gen-venv wanted=clients/python/generator.txt

if ! PIP_ONLY_BINARY=:all: scripts/python-venv.sh "$venv" "$wanted"; then
  echo "missing: the packages of $wanted, which want a Python from 3.9 to 3.11 and the network" >&2
  exit 3
fi

# The messages get names of the package's own: Python knows one file and one message of a name in a process, and a program may have stubs of
# another version of these protos. On the wire the names of messages do not show, and those of services stay as they are.
protos="$(mktemp -d)"
trap 'rm -rf "$protos"' EXIT
mkdir -p "$protos/palimpsest_context/v1"
for file in proto/palimpsest/v1/*.proto; do
  sed -e 's/^package palimpsest\.v1;/package palimpsest_context.v1;/' -e 's|^import "palimpsest/v1/|import "palimpsest_context/v1/|' \
    "$file" >"$protos/palimpsest_context/v1/$(basename "$file")"
done
cp clients/python/proto/status.proto "$protos/palimpsest_context/v1/"

rm -rf "$out/v1"
mkdir -p "$out/v1"
"$venv/bin/python" -W ignore -m grpc_tools.protoc -I "$protos" --python_out="$out/.." --pyi_out="$out/.." --grpc_python_out="$out/.." \
  "$protos"/palimpsest_context/v1/*.proto
for file in "$out"/v1/*_pb2_grpc.py; do
  # A proto without a service makes an empty file. What comes behind the stub is for servers.
  if ! grep -q '^class ' "$file"; then rm "$file"; else sed -i.bak -e '/^class [A-Za-z]*Servicer(/,$d' -e '/"""Constructor/,/"""$/d' -e 's|/palimpsest_context\.v1\.|/palimpsest.v1.|; s|'"'"'palimpsest_context\.v1\.\([A-Za-z]*\)'"'"', rpc|'"'"'palimpsest.v1.\1'"'"', rpc|' "$file"; fi
done
# Nor does anybody need what generators note down for themselves.
sed -i.bak -e '/@@protoc_insertion_point/d' -e '/^# -\*- coding/d' -e '/^"""\(Generated protocol\|Client and server classes\)/d' "$out"/v1/*_pb2*.py
rm -f "$out"/v1/*.bak
echo '"""The messages and services of the API, generated from its protos. They are no part of what the package promises."""' >"$out/v1/__init__.py"
python3 clients/python/reasons.py proto/palimpsest/v1/error.proto >"$out/reasons.py"
