# shellcheck shell=bash
# What the parts share is set in setup and use_subject.
# shellcheck disable=SC2154,SC2034
# The scenarios. A round measures each tool once, so that what a machine does
# beside concerns all of them alike.

# fresh empties archmage's own caches and what it left in a directory.
fresh() {
  rm -rf "$work/cache/archmage"
  [ -z "${1-}" ] || rm -rf "${1:?}/bin" "$1/dist"
}

# warm FUNCTION [ARG…]: a run before the rounds. Measuring says what fails.
warm() { in_turn "$@" || say "$1 failed: $(tail -n 3 "$work/log/in_turn")"; }

# warm_pages reads the sources of the subject and the toolchain once.
warm_pages() {
  local files
  # shellcheck disable=SC2016,SC2086
  (cd "$home/archmage" && go list -deps -f '{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}' $dirs) | grep . >"$work/files"
  xargs cat <"$work/files" >/dev/null
  files=$(go env GOTOOLDIR)
  cat "$files"/* >/dev/null
}

scenario_cold() {
  local warm=$GOCACHE
  warm_pages
  for ((round = 1; round <= cold_rounds; round++)); do
    fresh "$home/archmage" && cold_gocache
    measure all archmage archmage_compile
    rm -rf "$home/go/bin" && cold_gocache
    measure all go-in-turn go_in_turn
  done
  rm -rf "$work/gocache"
  GOCACHE=$warm
}
cold_gocache() {
  rm -rf "$work/gocache"
  mkdir "$work/gocache"
  export GOCACHE=$work/gocache
}

scenario_compile_unchanged() {
  goreleaser_config >"$home/goreleaser.yaml"
  warm archmage_compile
  warm go_at_once
  warm goreleaser_build
  for ((round = 1; round <= rounds; round++)); do
    measure all archmage archmage_compile
    measure all go-at-once go_at_once
    measure all go-in-turn go_in_turn
    measure all goreleaser goreleaser_build
  done
}

# goreleaser_config is of the subject's commands; GoReleaser links all anew.
goreleaser_config() {
  local name dir target targets=''
  for target in ${platforms//,/ }; do
    target=${target//\/v/_}
    targets+=${targets:+, }${target//\//_}
  done
  printf 'version: 2\ndist: .goreleaser\nbuilds:\n'
  while read -r name dir; do
    printf '  - {id: %s, main: ./%s, binary: %s, env: [CGO_ENABLED=0], flags: [-trimpath], ldflags: ["-s -w"], targets: [%s]}\n' \
      "$name" "$dir" "$name" "$targets"
  done <"$commands_list"
}

scenario_image_unchanged() {
  local here=127.0.0.1:$port
  new_registry
  warm archmage_manifest "$here"
  warm ko_image "$here"
  warm loop "$here"
  for ((round = 1; round <= rounds; round++)); do
    measure all archmage archmage_image "$here"
    measure all ko ko_image "$here"
    measure all loop loop "$here"
    measure all archmage-and-manifest archmage_manifest "$here"
  done
}

scenario_one_line() { after_change 1; }
scenario_shared_package() { after_change 2; }

# after_change N: from source to registry, after a change in the package that
# $home/changed names at place N, another one for each run.
after_change() {
  local here=127.0.0.1:$port package name
  package=$(cut -d' ' -f"$1" "$home/changed")
  [ -n "$package" ] || { say "$subject has no package that commands share" && return 0; }
  new_registry
  # The go command stamps whether a checkout has changes: the first change to a
  # clean one links every program anew, whoever builds it. And archmage reads twice
  # what was linked within the last seconds.
  for name in archmage ko loop; do change "$home/$name" "$package" warm; done
  warm archmage_image "$here"
  warm ko_image "$here"
  warm loop "$here"
  warm archmage_image "$here"
  for ((round = 1; round <= rounds; round++)); do
    for name in archmage ko loop; do
      change "$home/$name" "$package" "$RANDOM$RANDOM$RANDOM$RANDOM"
      case $name in
        archmage) measure all archmage archmage_image "$here" ;;
        ko) measure all ko ko_image "$here" ;;
        loop) measure all loop loop "$here" ;;
      esac
    done
  done
}

# forget TOOL: an empty registry, and nothing remembered.
forget() {
  new_registry
  case $1 in
    archmage*) fresh ;;
    buildx) prune_buildkit ;;
    buildah) prune_buildah ;;
  esac
}

scenario_images_only() {
  local here=127.0.0.1:$port name
  make_ready
  cat "$ready"/bin/* >/dev/null
  for ((round = 1; round <= rounds; round++)); do
    for name in archmage archmage-without-sbom buildx buildah; do
      forget "$name"
      measure cold "$name" "${name//-/_}_ready" "$here"
      measure unchanged "$name" "${name//-/_}_ready" "$here"
    done
    measure cold limit limit
  done
}

# over_link CELL TOOL: the same over a link, with what passed.
over_link() {
  local before up
  new_link
  before=$(requests)
  measure "$1" "$2" "${2//-/_}_ready" "127.0.0.1:$link_port"
  stop link
  read -r up _ <"$work/counts"
  note "$1" "$2" requests "$(($(requests) - before))"
  note "$1" "$2" requests-per-leg "$(awk -v n="$(($(requests) - before))" -v legs="$legs" 'BEGIN { print n / legs }')"
  note "$1" "$2" bytes "$up"
  [ "$1 $2" != "cold archmage" ] || note cold bytes-alone wall "$(awk -v n="$up" 'BEGIN { print n / 50e6 + 4 * 0.02 }')"
}

scenario_images_remote() {
  local name
  make_ready
  for ((round = 1; round <= rounds; round++)); do
    for name in archmage archmage-without-sbom buildx buildah; do
      forget "$name"
      over_link cold "$name"
      over_link unchanged "$name"
    done
  done
}

scenario_plan_verify() {
  local n six=linux/amd64,linux/arm64,linux/arm/v7,linux/386,linux/ppc64le,linux/s390x
  subject=generated
  for n in 10 100 500; do new_fleet "$work/plan/$n" --commands "$n" --platforms 6 --imports none; done
  warm plan_verify "$work/plan/10" "$six"
  for ((round = 1; round <= rounds; round++)); do
    for n in 10 100 500; do
      # The largest shows how time grows, for which one look is enough.
      [ "$n" -lt 500 ] || [ "$round" -le "$cold_rounds" ] || continue
      measure "$n images" archmage plan_verify "$work/plan/$n" "$six"
      [ "$n" -lt 500 ] || continue
      measure "$n images" plan-alone "$archmage" -C "$work/plan/$n" plan --platforms "$six"
      measure "$n images" verify-alone "$archmage" -C "$work/plan/$n" verify --platforms "$six"
    done
  done
}

scenario_platforms() {
  local here=127.0.0.1:$port n name chosen=$platforms
  local list=(linux/amd64 linux/arm64 linux/arm/v7 linux/386 linux/ppc64le linux/s390x linux/riscv64 linux/loong64)
  for n in 1 2 4 8; do
    platforms=$(printf '%s,' "${list[@]:0:n}") && platforms=${platforms%,}
    home=$subjects/platforms-$n subject=generated
    [ -e "$home" ] || new_platforms "$n"
    images=$home/images commands_list=$home/commands
    use_lists
    new_registry
    warm archmage_image "$here"
    warm ko_image "$here"
    for ((round = 1; round <= rounds; round++)); do
      for name in archmage ko; do
        change "$home/$name" cmd/service-001 "$RANDOM$RANDOM$RANDOM$RANDOM"
        measure "$n platforms" "$name" "${name}_image" "$here"
      done
    done
  done
  platforms=$chosen
}

new_platforms() {
  mkdir -p "$home"
  new_fleet "$home/archmage" --commands 4 --platforms "$1" --imports http --base "$base"
  "$archmage" plan --json -C "$home/archmage" --platforms "$platforms" >"$home/plan.json"
  "$tool" names images <"$home/plan.json" >"$home/images"
  "$tool" names commands <"$home/plan.json" >"$home/commands"
  change "$home/archmage" cmd/service-001 0
  commit "$home/archmage" "what bench changes"
  cp -a "$home/archmage" "$home/ko"
}

# scenario_memory: from ready binaries, so that no other program runs; then from
# the same four times as large.
scenario_memory() {
  local here=127.0.0.1:$port file size
  make_ready
  cp -r "$ready" "$home/large"
  for file in "$home/large"/bin/*; do cat "$file" "$file" "$file" >"$work/part" && cat "$work/part" >>"$file"; done
  rm -f "$work/part"
  for ((round = 1; round <= rounds; round++)); do
    for size in ready large; do
      new_registry && fresh
      measure_peak "$(du -sm "$home/$size/bin" | cut -f1) MB" archmage archmage_ready "$here" "$home/$size"
    done
  done
  rm -rf "$home/large"
}

scenario_startup() {
  local to name
  subject=all
  for ((round = 1; round <= rounds; round++)); do
    for name in archmage ko buildx; do
      to=$(place all "$name")
      case $name in buildx) set -- "docker buildx version" ;; *) set -- "$name version" ;; esac
      in_background hyperfine -N --warmup 2 --runs 10 --export-json "$to.json" "$1" || die "$1"
    done
  done
}

# describe_machine is the head of the page's tables.
describe_machine() {
  local model memory
  model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  memory=$(awk '$1 == "MemTotal:" { printf "%.0f GiB", $2 / 1024 / 1024 }' /proc/meminfo)
  cat <<MD
Measured on $(date -u +%Y-%m-%d), $(nproc) cores of $model, $memory, $(. /etc/os-release && echo "$PRETTY_NAME"), Linux $(uname -r).

| | |
|---|---|
| archmage | $("$archmage" version | head -n 1), commit $(git -C "$root" rev-parse --short HEAD) |
| Go | $(go env GOVERSION) |
| ko | $(awk '$1 == "github.com/google/ko" && NF > 1 { print $2 }' "$root/scripts/bench.mod") |
| GoReleaser | $(awk '$1 == "github.com/goreleaser/goreleaser/v2" && NF > 1 { print $2 }' "$root/scripts/bench.mod") |
| BuildKit, buildx | $(awk '$1 == "github.com/moby/buildkit" { print $2; exit }' "$root/scripts/engines.mod"), $(awk '$1 == "github.com/docker/buildx" { print $2; exit }' "$root/scripts/engines.mod") |
| buildah | $(buildah --version | awk '{ print $3 }') |
| registry | $(docker-registry --version | awk '{ print $NF }') |
| hyperfine | $(hyperfine --version | awk '{ print $2 }') |
| fleet | $commands commands that import $imports, $platforms |
MD
}
