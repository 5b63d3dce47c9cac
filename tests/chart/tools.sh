#!/usr/bin/env bash
# Gets what the suites of the chart need, into a folder that is kept (TOOLS_CACHE): Helm, built by Go, and kubernetes-validate, from PyPI.
# Ends with 1, and says what is missing and what to do, where one of them cannot be had.
set -euo pipefail
tools=${TOOLS_CACHE:-$HOME/.cache/model-gateway-tools}
helm_version=v3.19.0
kubernetes_minor=34
validate_version=1.37.0
mkdir -p "$tools/bin"
missing=0
say() { printf '%s\n' "$*" >&2; }

if [ -z "${HELM:-}" ] && [ ! -x "$tools/bin/helm" ] && ! command -v helm >/dev/null 2>&1; then
  go=$(command -v go || { [ -x /usr/local/go/bin/go ] && echo /usr/local/go/bin/go; } || true)
  if [ -z "$go" ]; then
    say 'no helm, and no Go to build it: install one of them, or say in HELM where it is'
    missing=1
  else
    say "building helm $helm_version (some minutes the first time)"
    # Without these it calls itself v3.19 and takes a chart's kubeVersion for one of Kubernetes 1.20.
    m=helm.sh/helm/v3
    flags="-s -w -X $m/internal/version.version=$helm_version"
    for package in "$m/pkg/chartutil" "$m/pkg/lint/rules"; do flags+=" -X $package.k8sVersionMajor=1 -X $package.k8sVersionMinor=$kubernetes_minor"; done
    CGO_ENABLED=0 GOBIN="$tools/bin" "$go" install -ldflags "$flags" "$m/cmd/helm@$helm_version" || { say 'helm could not be built'; missing=1; }
  fi
fi

if [ -z "${KUBERNETES_VALIDATE:-}" ] && [ ! -x "$tools/python/bin/kubernetes-validate" ] && ! command -v kubernetes-validate >/dev/null 2>&1; then
  { python3 -m venv "$tools/python" && "$tools/python/bin/pip" install --quiet --disable-pip-version-check "kubernetes-validate==$validate_version"; } ||
    { say 'no kubernetes-validate: it is on PyPI (pip install kubernetes-validate), or say in KUBERNETES_VALIDATE where it is'; missing=1; }
fi
exit "$missing"
