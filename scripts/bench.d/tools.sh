# shellcheck shell=bash
# What the parts share is set in setup and use_subject.
# shellcheck disable=SC2154
# The tools that are compared, one function each, and how one run of them is
# measured. HOST is where a registry answers: 127.0.0.1:PORT.

archmage_compile() { cd "$home/archmage" && "$archmage" compile --platforms "$platforms" --what "$what"; }
archmage_image() {
  cd "$home/archmage" && "$archmage" image --push --registry "$1/archmage" --version v1 --platforms "$platforms" --what "$what"
}
archmage_manifest() {
  archmage_image "$1" &&
    "$archmage" manifest --registry "$1/archmage" --version v1 --platforms "$platforms" --what "$what"
}
# archmage_ready builds from binaries alone; its directories name the images.
archmage_ready() {
  cd "${2:-$ready}" && "$archmage" image --push --registry "$1/archmage" --version v1 --platforms "$platforms" \
    --dirs "$(cut -d' ' -f2 "$images" | xargs -n 1 dirname | paste -sd,)" --verify=false
}

archmage_without_sbom_ready() { IMAGE_SBOM=false archmage_ready "$@"; }

# go_build PLATFORM: one go build of all commands, as archmage has its flags.
go_build() {
  local settings
  settings=$(sed -n "s,^$1 ,,p" "$work/goenv")
  # Both are lists of words.
  # shellcheck disable=SC2086
  env $settings CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$home/go/bin/${1//\//-}/" $dirs
}
go_in_turn() {
  local p
  cd "$home/go" || return
  mkdir -p bin
  for p in ${platforms//,/ }; do go_build "$p"; done
}
go_at_once() {
  local p job jobs=()
  cd "$home/go" || return
  mkdir -p bin
  for p in ${platforms//,/ }; do
    go_build "$p" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job"; done
}

ko_image() {
  cd "$home/ko" || return
  # shellcheck disable=SC2086
  KO_CONFIG_PATH=$work/ko.yaml KO_DOCKER_REPO=$1/ko CGO_ENABLED=0 ko build --platform "$platforms" --sbom none \
    --base-import-paths --tags v1 --insecure-registry $dirs
}
goreleaser_build() {
  cd "$home/goreleaser" && goreleaser build --snapshot --clean -f "$home/goreleaser.yaml"
}
loop() {
  make -C "$home/loop" -f "$work/template/Makefile" image PUSH=true "REGISTRY=$1/loop" VERSION=v1 \
    "COMMANDS=$names" "PLATFORMS=${platforms//,/ }"
}
buildx_ready() {
  cd "$ready" && TO=$1 docker buildx bake -f bake.json --push --provenance=false --progress=plain
}
buildah_ready() {
  local name dockerfile context to
  cd "$ready" || return
  while read -r name dockerfile context; do
    to=$1/buildah/$name:v1
    buildah manifest rm "$to" >/dev/null 2>&1 || true
    buildah build --layers --platform "$platforms" --jobs 0 --manifest "$to" -f "$dockerfile" "$context"
    buildah manifest push --all --tls-verify=false "$to" "docker://$to"
  done <"$images"
}
limit() {
  LIMIT_FILES="$ready/bin/*" "$work/bin/limit" -test.run '^$' -test.bench Limit -test.benchtime 1x -test.v
}
plan_verify() { cd "$1" && "$archmage" plan --platforms "$2" && "$archmage" verify --platforms "$2"; }

# write_script FILE FUNCTION [ARG…]: the run of a function as a program. Functions
# and variables come through the environment.
write_script() {
  local file=$1
  shift
  export work archmage
  export -f archmage_compile archmage_image archmage_manifest archmage_ready \
    archmage_without_sbom_ready go_build go_in_turn go_at_once ko_image \
    goreleaser_build loop buildx_ready buildah_ready limit plan_verify
  printf '#!/bin/bash\nset -e\nexec >%q 2>&1 </dev/null\n%s\n' "$work/log/in_turn" "$(printf '%q ' "$@")" >"$file"
  chmod 0755 "$file"
}

# in_background PROGRAM…: runs it in a group of its own, which cleanup can end.
in_background() {
  local code=0
  setsid "$@" >"$work/log/measure" 2>&1 &
  group=$!
  wait "$group" || code=$?
  group=''
  return "$code"
}

# in_turn FUNCTION [ARG…]: a run that is not measured.
in_turn() {
  write_script "$work/run" "$@"
  in_background "$work/run"
}

# place CELL TOOL prints where its results go, and notes their order.
place() {
  local at=$subject/$scenario/$1
  mkdir -p "$results/raw/$at"
  printf '%s\t%s\n' "$at" "$2" >>"$results/order"
  printf '%s/raw/%s/%s.%s' "$results" "$at" "$2" "$round"
}

# measure CELL TOOL FUNCTION [ARG…]: time and CPU of one run. A tool that fails
# is said to, and has no result.
measure() {
  local to
  to=$(place "$1" "$2")
  write_script "$work/run" "${@:3}"
  if in_background hyperfine -N --runs 1 --export-json "$to.json" "$work/run"; then
    say "$subject, $scenario, $1, round $round: $2$(sed -n 's/^  Time (abs[^:]*: */ /p' "$work/log/measure" | cut -d'[' -f1)"
    return 0
  fi
  rm -f "$to.json"
  cp "$work/log/in_turn" "$to.log"
  say "$subject, $scenario, $1: $2 failed: $(tail -n 3 "$work/log/in_turn"); see $to.log"
  failures=$((failures + 1))
}
failures=0

# measure_peak CELL TOOL FUNCTION [ARG…]: the memory of its largest process.
measure_peak() {
  local to
  to=$(place "$1" "$2")
  write_script "$work/run" "${@:3}"
  in_background /usr/bin/time -v -o "$to.time" "$work/run" || die "$2 failed: $(tail -n 3 "$work/log/in_turn")"
  say "$subject, $scenario, $1, round $round: $2 $(sed -n 's/.*Maximum resident.*: //p' "$to.time") KB"
}

# note CELL TOOL METRIC VALUE adds what was counted beside.
note() { printf '%s\n' "$4" >"$(place "$1" "$2").$3"; }
