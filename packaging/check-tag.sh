#!/usr/bin/env bash
# Fails unless the tag vX.Y.Z matches the version in package.json and CHANGELOG.md has a section for it.
# usage: packaging/check-tag.sh TAG
set -euo pipefail
cd "$(dirname "$0")/.."
tag=${1:?usage: packaging/check-tag.sh TAG}
version="$(node -p "JSON.parse(fs.readFileSync('package.json', 'utf8')).version")"
if [ "$tag" != "v$version" ]; then
  echo "the tag is $tag and package.json says $version: tag v$version, or raise the version first" >&2
  exit 1
fi
if ! grep -qF "## $version" CHANGELOG.md; then
  echo "CHANGELOG.md has no section '## $version': write it from the entries under 'Unreleased'" >&2
  exit 1
fi
