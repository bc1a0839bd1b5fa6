#!/usr/bin/env bash
# Installs what is missing, builds everything, fetches the test data once and runs every test that needs no GPU.
# Words are passed on to ctest: ./test.sh -L same-bits
set -euo pipefail
cd "$(dirname "$0")"
tools/setup build
echo "Building; the log is build/release/build.log" >&2
tools/build release
tools/fetch_test_data
exec ctest --preset all "$@"
