#!/usr/bin/env bash
# Makes the tools for the chart's tests once, outside the checkout, and prints their folder as its last line. Helm,
# kustomize and Kubernetes' evaluator of the Pod Security profiles are built with Go. Prometheus is Debian's package,
# unpacked but not installed. If a tool cannot be made here, its name is printed and the tests that need it are skipped.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
helm_version=v3.19.0
kustomize_version=v5.7.1
operator_version=v0.85.0 # of the Prometheus operator, for the schemas of its resources
gateway_version=v1.4.1   # of the Gateway API, for the schema of its routes
validate_version=1.37.0  # of kubernetes-validate, which brings the schemas of Kubernetes
cache="${XDG_CACHE_HOME:-$HOME/.cache}/reprise/chart-tools"
mkdir -p "$cache/bin" "$cache/crds"

say() { echo "chart: $*" >&2; }

exec 9>"$cache/lock"
flock -n 9 || {
  say "waiting for another run that installs the same"
  flock 9
}

# is_done STEP INPUT: succeeds if the step was last made from exactly this input
is_done() { [ "$(cat "$cache/$1.done" 2>/dev/null)" = "$2" ]; }

# make_once STEP INPUT WHAT COMMAND…: announces WHAT and runs COMMAND; if that fails, reports the step and goes on
make_once() {
  local step=$1 input=$2 what=$3
  shift 3
  if is_done "$step" "$input"; then return; fi
  say "$what"
  if "$@" >"$cache/$step.log" 2>&1; then
    echo "$input" >"$cache/$step.done"
  else
    rm -f "$cache/$step.done"
    echo "SKIPPED tests of the chart that need $step, which cannot be had here: $(tail -1 "$cache/$step.log") ($cache/$step.log)" >&2
  fi
}

go_install() { GOBIN="$cache/bin" nice -n 5 go install "$1"; }

build_evaluator() { (cd "$here/pod-security" && nice -n 5 go build -o "$cache/bin/pod-security" .); }

unpack_prometheus() {
  local folder
  folder="$(mktemp -d)"
  # in a subshell, because apt downloads into the current folder
  (cd "$folder" && apt-get download -qq prometheus && dpkg-deb -x prometheus_*.deb unpacked)
  cp "$folder"/unpacked/usr/bin/{prometheus,promtool} "$cache/bin"
  rm -rf "$folder"
}

# source_of MODULE@VERSION: prints the folder of a Go module
source_of() { (cd "$here/pod-security" && go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'); }

copy_crds() {
  local source
  source="$(source_of "sigs.k8s.io/gateway-api@$gateway_version")"
  install -m 644 "$source/config/crd/standard/gateway.networking.k8s.io_httproutes.yaml" "$cache/crds/httproutes.yaml"
  source="$(source_of "github.com/prometheus-operator/prometheus-operator@$operator_version")"
  for kind in podmonitors prometheusrules servicemonitors; do
    install -m 644 "$source/example/prometheus-operator-crd/monitoring.coreos.com_$kind.yaml" "$cache/crds/$kind.yaml"
  done
}

install_schemas() {
  rm -rf "$cache/schemas"
  python3 -m pip install --quiet --target "$cache/schemas" --no-deps "kubernetes-validate==$validate_version"
}

if ! command -v go >/dev/null; then
  say "Go is not here: Helm is what every test of the chart needs. Install Go 1.24 or newer."
  exit 1
fi
make_once helm "$helm_version" "building Helm $helm_version (4 minutes on two cores)" \
  go_install "helm.sh/helm/v3/cmd/helm@$helm_version"
make_once kustomize "$kustomize_version" "building kustomize $kustomize_version (a minute)" \
  go_install "sigs.k8s.io/kustomize/kustomize/v5@$kustomize_version"
make_once pod-security "$(cat "$here"/pod-security/* | sha256sum)" "building the evaluator of the Pod Security profiles (a minute)" \
  build_evaluator
make_once prometheus debian "fetching Debian's Prometheus and promtool (35 MB)" unpack_prometheus
make_once crds "$operator_version $gateway_version" "fetching the schemas of the Prometheus operator's resources and of routes" copy_crds
make_once schemas "$validate_version" "fetching the schemas of Kubernetes (20 MB)" install_schemas
echo "$cache"
