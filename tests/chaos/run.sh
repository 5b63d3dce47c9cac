#!/bin/sh
# Faults in a seeded order against separate services under load, and what became of what was promised.
#   sh tests/chaos/run.sh                     ten minutes, a seed of its own (printed)
#   CHAOS_SEED=7 CHAOS_MINUTES=2 sh tests/chaos/run.sh
# Needs nats-server, PostgreSQL and redis-server as the suites do (tests/README.md). Ends with 1 where a promise was broken.
set -eu
cd "$(dirname "$0")/../.."
# The repository brings its own Node.
PATH="$PWD/node_modules/.bin:$PATH" exec node tests/chaos/run.ts
