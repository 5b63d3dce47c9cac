#!/usr/bin/env bash
# Installs the chart on a cluster and breaks it there: rolling restarts under streams, killed pods, an eviction, NATS away. Prints what was promised and what
# happened, and ends with 1 where they differ.
#   KUBECONFIG=… tests/cluster/run.sh [mode=services]
# The cluster has to have the images: GATEWAY_IMAGE (model-gateway:test), NATS_IMAGE, POSTGRES_IMAGE, REDIS_IMAGE as docker-compose.yml names them. NODE_ADDRESS is
# a node's address (by default the first one's), where a NodePort answers. SERVERS_AS_ROOT=1 for images of PostgreSQL and Redis that need it.
set -euo pipefail
cd "$(dirname "$0")/../.."
# The repository brings its own Node.
PATH="$PWD/node_modules/.bin:$PATH"
for program in kubectl node; do command -v "$program" >/dev/null || { echo "cluster: no $program" >&2; exit 1; }; done
kubectl version >/dev/null 2>&1 || { echo 'cluster: no cluster answers; set KUBECONFIG' >&2; exit 1; }
bash tests/chart/tools.sh
export PATH="$PATH:${TOOLS_CACHE:-$HOME/.cache/model-gateway-tools}/bin"
exec node --no-warnings tests/cluster/drive.ts "$@"
