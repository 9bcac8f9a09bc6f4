#!/usr/bin/env bash
# Builds the npm package.
#   build.sh VERSION FOLDER     the sidecar's version, and where the tarball goes
# It is laid out in a folder of its own first: protos, tools' definitions and the adapter are kept where other clients have theirs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version="$1"
mkdir -p "$2"
out="$(cd "$2" && pwd)"
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT

# What is no release is a development version of none.
package_version=0.0.0-dev
if [[ "$version" =~ ^v?([0-9]+\.[0-9]+\.[0-9]+)$ ]]; then package_version="${BASH_REMATCH[1]}"; fi

source=clients/typescript
[[ "$source/node_modules/.package-lock.json" -nt "$source/package-lock.json" ]] || npm ci --prefix "$source" --ignore-scripts --no-audit --no-fund --loglevel=error
cp -R "$source"/{package.json,tsconfig.json,README.md,NOTICES,src} LICENSE "$stage"
ln -s "$PWD/$source/node_modules" "$stage/node_modules"

go tool -modfile=tools/buf/go.mod buf generate --template "$source/buf.gen.yaml" --output "$stage"
cat >"$stage/src/gen/version.ts" <<VERSION
/** version is that of the sidecar that this package was made with. */
export const version: string = "$version";
VERSION
{
  echo "export const recallTools: Record<string, readonly object[]> = {"
  for file in clients/tools/*.json; do
    name="$(basename "$file" .json)"
    name="${name/openai_chat/openai}"
    echo "  ${name/openai_responses/responses}:"
    cat "$file"
    echo ","
  done
  echo "};"
} >"$stage/src/gen/tools.ts"
mkdir "$stage/src/vercel"
cp clients/adapters/vercel/*.ts "$stage/src/vercel"

cd "$stage"
node_modules/.bin/tsc --project .
npm pkg set "version=$package_version"
npm pack --silent --pack-destination "$out"
