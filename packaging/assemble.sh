#!/usr/bin/env bash
# Puts the built product with its run-time packages into a folder, as in the image; it runs without a checkout.
# usage: packaging/assemble.sh FOLDER   (after `npm ci`; nothing is downloaded)
# With SOURCE_DATE_EPOCH (seconds) every file gets that timestamp, so that equal sources give equal folders.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:?usage: packaging/assemble.sh FOLDER}
if [ -e "$out" ]; then
  echo "$out exists already: name a new folder" >&2
  exit 2
fi
mkdir -p "$out"
out="$(cd "$out" && pwd)"
packed="$(mktemp -d)"
trap 'rm -rf "$packed"' EXIT

# its `prepack` is `npm run build`
npm pack --silent --pack-destination "$packed" >/dev/null
tar -xzf "$packed"/*.tgz --strip-components=1 --no-same-owner -C "$out"

cp package-lock.json "$out"
mkdir "$out/node_modules"
cp -R node_modules/. "$out/node_modules"
rm -rf "$out/node_modules/.cache"
(cd "$out" && npm prune --silent --omit=dev --ignore-scripts --offline --no-audit --no-fund)
rm "$out/package-lock.json" "$out/node_modules/.package-lock.json"

# removes what is never read at run time: types, the packages' source maps, and ZeroMQ builds for other systems
find "$out/node_modules" -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete
find "$out/node_modules" -type d -empty -delete
case "$(uname -s)" in
Linux) rm -rf "$out"/node_modules/zeromq/build/{darwin,win32} ;;
Darwin) rm -rf "$out"/node_modules/zeromq/build/{linux,win32} ;;
esac

chmod -R a=rX "$out"
chmod 0555 "$out/bin/reprise"
if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then find "$out" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; fi
