#!/usr/bin/env bash
# Builds the jar, those of sources and Javadoc, and the pom that names what it needs, into a folder.
#   build.sh VERSION FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
out="$(cd "$2" && pwd)"

# What is no release is a development version of none.
if [[ "$1" =~ ^v?([0-9]+\.[0-9]+\.[0-9]+)$ ]]; then version="${BASH_REMATCH[1]}"; else version=0.0.0-dev; fi

# It is built apart from its sources, so that nothing is left among them.
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT
cp -R src "$stage/"
mkdir -p "$stage/src/main/resources/META-INF"
cp ../../LICENSE "$stage/src/main/resources/META-INF/"
sed "s/\${revision}/$version/" pom.xml >"$stage/pom.xml"

# Maven compiles for seconds, in which optimizing itself does not pay.
MAVEN_OPTS=-XX:TieredStopAtLevel=1 mvn --batch-mode --quiet -f "$stage/pom.xml" \
  -Dproto.folder="$PWD/../../proto" -Dtools.folder="$PWD/../tools" package
rm -f "$out"/palimpsest-context-*.jar "$out"/palimpsest-context-*.pom
cp "$stage/target/palimpsest-context-$version"{,-sources,-javadoc}.jar "$out/"
cp "$stage/pom.xml" "$out/palimpsest-context-$version.pom"
