#!/bin/sh
# Replaces the containers of docker-compose.yml by those of GATEWAY_IMAGE while callers are served: of each service as many new ones start beside the old,
# and the old ones leave one by one when the new ones are healthy.
#   GATEWAY_IMAGE=registry/model-gateway:2 sh deploy/compose-upgrade.sh            every service that runs, in the order of docs/operations.md
#   GATEWAY_IMAGE=registry/model-gateway:2 sh deploy/compose-upgrade.sh edge       only these
# Edges and data planes need EDGE_PORTS to be a range of twice their number, and a load balancer before it that asks /readyz at least once a second.
set -eu
cd "$(dirname "$0")/.."
for service in ${*:-console stats router translator script-runner mcp-aggregator data-plane edge}; do
  old=$(docker compose --profile data-plane ps -q "$service")
  count=$(printf '%s' "$old" | grep -c . || true)
  [ "$count" -gt 0 ] || continue
  echo "$service: $count to be replaced"
  if ! docker compose --profile data-plane up -d --no-build --no-deps --no-recreate --wait --scale "$service=$((count * 2))" "$service"; then
    echo "$service: the new containers do not become healthy beside the old ones, which go on (docker compose logs $service). Are its ports a range (EDGE_PORTS)?" >&2
    exit 1
  fi
  for container in $old; do
    docker stop "$container" >/dev/null
    docker rm "$container" >/dev/null
  done
done
