#!/bin/sh
# Makes the .env of docker-compose.yml from .env.example, each value fresh. One that is there stays: a lost master key loses what it sealed.
set -eu
cd "$(dirname "$0")/.."
umask 077
if [ -e .env ]; then
  echo '.env is there already and stays as it is' >&2
  exit 1
fi
# All of it or nothing: whatever fails, no .env with empty secrets is left.
new=$(mktemp .env.new.XXXXXX)
trap 'rm -f "$new"' EXIT
trap 'exit 1' HUP INT TERM
while IFS= read -r line; do
  # Assigned by itself: as a word of another command a failing openssl would not end the script.
  case $line in
    GATEWAY_MASTER_KEY=) value=$(openssl rand -base64 32) ;;
    [A-Z]*=) value=$(openssl rand -hex 24) ;;
    *) value= ;;
  esac
  printf '%s%s\n' "$line" "$value"
done <.env.example >"$new"
mv "$new" .env
echo 'made .env'
