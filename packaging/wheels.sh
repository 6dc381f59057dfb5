#!/usr/bin/env bash
# Builds the wheels of the engine plugins, and of the kernels for reuse at any position, into a folder.
# torch, triton and numpy come with the engine's image; other versions must not replace them.
# usage: packaging/wheels.sh FOLDER   (PYTHON: an interpreter with pip and wheel-requirements.txt)
# With SOURCE_DATE_EPOCH, equal sources give equal wheels.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: packaging/wheels.sh FOLDER}
mkdir -p "$out"
out="$(cd "$out" && pwd)"
# builds from a copy, because setuptools writes next to the sources
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/engine-adapters"
for folder in engine-adapters/python engine-adapters/vllm engine-adapters/sglang kernels; do
  cp -R "$folder" "$copy/$folder"
done
for project in engine-adapters/vllm/plugin engine-adapters/sglang/plugin kernels; do
  "${PYTHON:-python3}" -m pip wheel --quiet --no-deps --no-index --no-build-isolation --disable-pip-version-check \
    --no-cache-dir --wheel-dir "$out" "$copy/$project"
done
