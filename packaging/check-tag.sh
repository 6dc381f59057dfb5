#!/usr/bin/env bash
# Fails unless a tag vX.Y.Z is the version of package.json and has its section in CHANGELOG.md.
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
  echo "CHANGELOG.md has no section '## $version': write it, from what stands under 'Unreleased'" >&2
  exit 1
fi
