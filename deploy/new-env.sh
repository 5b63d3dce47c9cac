#!/bin/sh
# Makes the .env of docker-compose.yml from .env.example, each value fresh. One that is there stays: a lost master key loses what it sealed.
set -euC
cd "$(dirname "$0")/.."
umask 077
while IFS= read -r line; do
  case $line in
    GATEWAY_MASTER_KEY=) printf '%s%s\n' "$line" "$(openssl rand -base64 32)" ;;
    [A-Z]*=) printf '%s%s\n' "$line" "$(openssl rand -hex 24)" ;;
    *) printf '%s\n' "$line" ;;
  esac
done <.env.example >.env
echo 'made .env'
