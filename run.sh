#!/usr/bin/env bash
# Installs what is missing, builds wick, fetches the default model once and opens a chat; with words, answers them and exits.
#
#   ./run.sh
#   ./run.sh "Why is the sky blue?"
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/tools/setup" build
if [ ! -x "$here/build/release/wick" ]; then
  echo "Building wick; the first time this takes a few minutes." >&2
fi
"$here/tools/build" release wick
if [ $# -gt 0 ]; then
  exec "$here/build/release/wick" chat -p "$*"
fi
exec "$here/build/release/wick" chat
