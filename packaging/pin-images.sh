#!/usr/bin/env bash
# Prints build arguments NAME=VALUE for a reproducible Docker build: the base images with their tags' current digests,
# and the time of the commit. Needs docker with buildx, and access to the registries.
set -euo pipefail
cd "$(dirname "$0")/.."
while IFS='=' read -r name image; do
  digest="$(docker buildx imagetools inspect --format '{{json .Manifest.Digest}}' "$image" | tr -d '"')"
  echo "$name=${image%%:*}@$digest"
done < <(sed -n 's/^ARG \([A-Z]*_IMAGE\)=/\1=/p' Dockerfile)
echo "SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)"
