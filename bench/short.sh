#!/usr/bin/env bash
# The short side-by-side run of every build: it only reports, and never fails it.
cd "$(dirname "$0")/.." || exit 0
export PATH="$PWD/node_modules/.bin:$PATH"
timeout 200 node bench/run.ts --short || echo 'the short bench did not end well; it only reports'
exit 0
