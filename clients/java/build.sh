#!/usr/bin/env bash
# Builds the jar, those of sources and Javadoc, and the pom that names what it needs, into a folder; and those of adapters, which are folders
# of clients/adapters.
#   build.sh VERSION FOLDER [ADAPTER...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
out="$(cd "$2" && pwd)"

# What is no release is a development version of none.
if [[ "$1" =~ ^v?([0-9]+\.[0-9]+\.[0-9]+)$ ]]; then version="${BASH_REMATCH[1]}"; else version=0.0.0-dev; fi

# It is built apart from its sources, so that nothing is left among them.
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT

staged() { # FOLDER
  local to="$stage/$(basename "$1")"
  mkdir "$to"
  cp -R "$1/src" "$to/"
  mkdir -p "$to/src/main/resources/META-INF"
  cp ../../LICENSE "$to/src/main/resources/META-INF/"
  sed "s/\${revision}/$version/" "$1/pom.xml" >"$to/pom.xml"
  echo "<module>$(basename "$1")</module>" >>"$stage/modules"
}
staged "$PWD"
for adapter in "${@:3}"; do staged "../adapters/$adapter"; done
cat >"$stage/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>stage</groupId><artifactId>stage</artifactId><version>1</version><packaging>pom</packaging>
  <modules>$(cat "$stage/modules")</modules>
</project>
POM

# Maven compiles for seconds, in which optimizing itself does not pay.
MAVEN_OPTS=-XX:TieredStopAtLevel=1 mvn --batch-mode --quiet -f "$stage/pom.xml" \
  -Dproto.folder="$PWD/../../proto" -Dtools.folder="$PWD/../tools" package
rm -f "$out"/palimpsest-context-*.jar "$out"/palimpsest-context-*.pom
for built in "$stage"/*/target/palimpsest-context*-"$version".jar; do
  cp "${built%.jar}"*.jar "$out/"
  cp "$(dirname "$built")/../pom.xml" "$out/$(basename "${built%.jar}").pom"
done
