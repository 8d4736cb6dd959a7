# shellcheck shell=bash
# What the parts share is set in setup and use_subject.
# shellcheck disable=SC2154
# What bench starts beside the tools it measures: a registry, a link, a buildkitd.
# All state is below $work, and everything ends with bench.

# Debian packages by the program each is needed for.
needed=(hyperfine:hyperfine git:git make:make gcc:gcc curl:curl docker-registry:docker-registry buildah:buildah)

need_programs() {
  local pair missing=()
  [ "$(id -u)" = 0 ] || die "run as root: buildkitd and buildah need it"
  command -v go >/dev/null || die "no go on PATH"
  PATH=$PATH:/usr/sbin:/sbin
  for pair in "${needed[@]}"; do command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}"); done
  [ -x /usr/bin/time ] || missing+=(time)
  [ ${#missing[@]} -eq 0 ] || die "missing programs: apt-get install ${missing[*]}"
  eval "$("$root/scripts/engines" env)"
  [ -x "$ENGINES_DIR/bin/buildkitd" ] || die "no buildkitd in $ENGINES_DIR: run scripts/engines up"
}

# setup makes the scratch space and starts what all scenarios share.
setup() {
  work=$(mktemp -d "${BENCH_WORK:-${TMPDIR:-/tmp}}/archmage-bench.XXXXXX")
  declare -gA service=()
  group=''
  trap cleanup EXIT
  trap 'exit 130' INT TERM HUP
  [ -n "$results" ] || results=$(mktemp -d "${TMPDIR:-/tmp}/archmage-bench-results.XXXXXX")
  mkdir -p "$results" "$work"/{bin,log,home,cache,goreleaser}
  results=$(realpath "$results")
  tool=$work/bin/tool archmage=$work/bin/archmage
  say "building archmage and its peers"
  build_tool "$tool"
  (cd "$root" && go build -o "$archmage" ./cmd/archmage && go test -c -o "$work/bin/limit" ./build/image) || die "build archmage"
  build_peers
  # Nothing of the user's own but the build cache counts, or is changed.
  export GOCACHE GOMODCACHE GOFLAGS='' GOWORK=off GOTOOLCHAIN=local HOME=$work/home XDG_CACHE_HOME=$work/cache
  GOCACHE=$(cd "$root" && HOME=$real_home XDG_CACHE_HOME=$real_cache go env GOCACHE)
  GOMODCACHE=$(cd "$root" && HOME=$real_home go env GOMODCACHE)
  unset REGISTRY VERSION PUSH WHAT PLATFORMS IMAGE_PLATFORMS IMAGE_TAGS IMAGE_DIRS IMAGE_ENGINE LDFLAGS
  export port link_port
  port=$("$tool" port) link_port=$("$tool" port)
  start_buildkit
  start_base_registry
  configure_buildah
  make_templates
}
real_home=${HOME:-/root} real_cache=${XDG_CACHE_HOME-}
[ -n "$real_cache" ] || real_cache=$real_home/.cache

# build_peers builds what scripts/bench.mod names, once for each content of it.
build_peers() {
  local modfile=$root/scripts/bench.mod sum new
  sum=$(cat "$modfile" "${modfile%.mod}.sum" | sha256sum)
  peers=${ENGINES_CACHE:-$real_cache/archmage/engines}/bench-${sum:0:12}
  [ -x "$peers/ko" ] || {
    say "building ko and GoReleaser (a few minutes the first time)"
    mkdir -p "$(dirname "$peers")"
    new=$(mktemp -d "$peers.XXXXXX")
    (cd "$root" && GOWORK=off GOFLAGS='' CGO_ENABLED=0 go build -modfile="$modfile" -mod=readonly \
      -buildvcs=false -trimpath -o "$new/" tool) >"$work/log/peers" 2>&1 || {
      rm -rf "$new"
      tail -n 20 "$work/log/peers" >&2
      die "build ko and GoReleaser"
    }
    # A name appears only when it is whole.
    mv -T "$new" "$peers" 2>/dev/null || rm -rf "$new"
  }
  PATH=$work/bin:$peers:$PATH
}

# start NAME PROGRAM…: in a session of its own, so that Ctrl-C leaves the order
# of ends to cleanup.
start() {
  local name=$1
  shift
  setsid "$@" >"$work/log/$name" 2>&1 </dev/null &
  service[$name]=$!
}

stop() {
  local pid=${service[$1]-} n
  [ -n "$pid" ] || return 0
  unset "service[$1]"
  kill -TERM "$pid" 2>/dev/null || return 0
  for ((n = 0; n < 100; n++)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  kill -KILL "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
}

# await NAME PROBE…: until the probe succeeds; dies when the service has ended.
await() {
  local name=$1 n
  shift
  for ((n = 0; n < 300; n++)); do
    "$@" >/dev/null 2>&1 && return 0
    kill -0 "${service[$name]}" 2>/dev/null || break
    sleep 0.05
  done
  tail -n 20 "$work/log/$name" >&2
  die "start $name"
}

cleanup() {
  local name at
  trap '' INT TERM HUP
  [ -z "$group" ] || kill -TERM -- "-$group" 2>/dev/null || true
  for name in "${!service[@]}"; do stop "$name"; done
  # What buildah and buildkitd left mounted, the deepest first.
  awk -v below="$work/" 'index($2, below) == 1 { print $2 }' /proc/self/mounts | sort -r |
    while read -r at; do umount -l "$at" || true; done
  chmod -R u+w "$work" 2>/dev/null || true
  rm -rf "$work"
}

probe() { curl -fsS --max-time 2 --noproxy '*' "http://$1/v2/"; }

# new_registry starts an empty registry at $port, whose access log is counted.
new_registry() {
  stop registry
  rm -rf "$work/registry"
  cat >"$work/registry.yml" <<YML
version: 0.1
log: {level: error, accesslog: {disabled: false}}
storage: {filesystem: {rootdirectory: $work/registry}, delete: {enabled: true}}
http: {addr: "127.0.0.1:$port"}
YML
  start registry docker-registry serve "$work/registry.yml"
  await registry probe "127.0.0.1:$port"
}

# requests counts what the registry has answered so far.
requests() { grep -c 'HTTP/1' "$work/log/registry" || true; }

# start_base_registry gives the base image a registry, unless scripts/engines
# runs one.
start_base_registry() {
  local all_platforms=(linux/amd64 linux/arm64 linux/arm/v7 linux/386 linux/ppc64le linux/s390x linux/riscv64 linux/loong64)
  base=$ENGINES_REGISTRY/archmage-bench/base:v1
  if ! probe "$ENGINES_REGISTRY" >/dev/null 2>&1; then
    base_port=$("$tool" port)
    printf 'version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' \
      "$work/bases" "$base_port" >"$work/bases.yml"
    start bases docker-registry serve "$work/bases.yml"
    await bases probe "127.0.0.1:$base_port"
    base=127.0.0.1:$base_port/archmage-bench/base:v1
  fi
  "$tool" base "$base" "${all_platforms[@]}"
}

# new_link starts a link to the registry: 20 ms, 50 MB/s.
new_link() {
  stop link
  start link "$tool" link --listen "127.0.0.1:$link_port" --to "127.0.0.1:$port" --rtt 20ms --rate 50e6 --counts "$work/counts"
  await link probe "127.0.0.1:$link_port"
}

start_buildkit() {
  export BUILDKIT_HOST=unix://$work/buildkitd.sock BUILDX_CONFIG=$work/buildx BUILDX_BUILDER=bench
  printf '[worker.oci]\ngc = false\n' >"$work/buildkitd.toml"
  start buildkitd "$ENGINES_DIR/bin/buildkitd" --config "$work/buildkitd.toml" --addr "$BUILDKIT_HOST" \
    --root "$work/buildkit" --oci-worker=true --containerd-worker=false --oci-worker-net=host
  await buildkitd buildctl debug workers
  docker buildx create --name bench --driver remote "$BUILDKIT_HOST" >"$work/log/buildx" 2>&1 || die "create a builder: $(cat "$work/log/buildx")"
}

# prune_buildkit makes the next build of buildkitd its first.
prune_buildkit() { buildctl prune --all >/dev/null; }

configure_buildah() {
  export CONTAINERS_STORAGE_CONF=$work/storage.conf CONTAINERS_REGISTRIES_CONF=$work/registries.conf BUILDAH_ISOLATION=chroot
  printf '[storage]\ndriver = "overlay"\ngraphroot = "%s"\nrunroot = "%s"\n' "$work/containers/graph" "$work/containers/run" >"$work/storage.conf"
  {
    printf 'unqualified-search-registries = []\n'
    printf '[[registry]]\nlocation = "%s"\ninsecure = true\n' "127.0.0.1:$port" "127.0.0.1:$link_port" "${base%%/*}"
  } >"$work/registries.conf"
}

prune_buildah() { buildah rmi --all --force >/dev/null 2>&1 || true; }
