# shellcheck shell=bash
# What the parts share is set in setup and use_subject.
# shellcheck disable=SC2154,SC2034
# The repositories that are measured. Each tool has a copy of its own, so that
# none finds what another left: $subjects/NAME/TOOL.

# make_templates writes what every subject needs from a generated fleet.
make_templates() {
  subjects=$work/subjects
  local p
  "$tool" fleet "$work/template" --commands 1 --imports none
  printf 'defaultBaseImage: %s\ndefaultLdflags: [-s, -w]\n' "$base" >"$work/ko.yaml"
  for p in linux/amd64 linux/arm64 linux/arm/v7 linux/386 linux/ppc64le linux/s390x linux/riscv64 linux/loong64 ${platforms//,/ }; do
    printf '%s %s\n' "$p" "$("$tool" names goenv "$p")"
  done | sort -u >"$work/goenv"
}

# commit makes a repository of a directory, so that versions are stamped as usual.
commit() {
  git -C "$1" init -q 2>/dev/null || true
  git -C "$1" add -A
  git -C "$1" -c user.name=bench -c user.email=bench@example.com commit -qm "$2" --allow-empty
}

# use_subject NAME [PLATFORMS]: prepares it the first time, and sets $subject,
# $home, $legs, $what and the lists $images and $commands_list.
use_subject() {
  subject=$1 home=$subjects/$1
  images=$home/images commands_list=$home/commands
  [ -e "$home/done" ] || prepare "$1"
  use_lists
}

# use_lists sets what the tools need of $images, $commands_list and $platforms.
use_lists() {
  what=$(cut -d' ' -f1 "$images" | paste -sd,)
  names=$(cut -d' ' -f1 "$images" | paste -sd' ')
  dirs=$(cut -d' ' -f2 "$commands_list" | sed 's,^,./,' | paste -sd' ')
  legs=$(($(wc -l <"$images") * $(tr , '\n' <<<"$platforms" | wc -l)))
  export subject home images what names dirs platforms
}

prepare() {
  local copy
  say "preparing $1"
  mkdir -p "$home"
  case $1 in
    fleet) new_fleet "$home/archmage" --commands "$commands" --imports "$imports" --base "$base" ;;
    *) copy_repository "$home/archmage" ;;
  esac
  "$archmage" plan --json -C "$home/archmage" --platforms "$platforms" >"$home/plan.json"
  "$tool" names images <"$home/plan.json" >"$images"
  "$tool" names commands <"$home/plan.json" >"$commands_list"
  [ -s "$images" ] || die "$1 has no image of one command without RUN"
  one=$(head -n 1 "$commands_list" | cut -d' ' -f2)
  shared=$(cd "$home/archmage" && shared_package)
  printf '%s %s\n' "$one" "$shared" >"$home/changed"
  # Files whose content a measurement changes are there from the start.
  change "$home/archmage" "$one" 0
  [ -z "$shared" ] || change "$home/archmage" "$shared" 0
  commit "$home/archmage" "what bench changes"
  for copy in go ko loop goreleaser; do cp -a "$home/archmage" "$home/$copy"; done
  : >"$home/done"
}

# new_fleet DIR [FLAGS]: generated, with its go.sum, committed.
new_fleet() {
  "$tool" fleet "$@" || die "generate a fleet"
  (cd "$1" && go mod tidy) >"$work/log/tidy" 2>&1 || die "go mod tidy: $(tail -n 3 "$work/log/tidy")"
  commit "$1" fleet
}

# copy_repository copies $repo, and replaces the bases of its Dockerfiles that
# lie on other machines.
copy_repository() {
  if [ -e "$repo/.git" ]; then cp -a "$repo" "$1"; else git clone -q "$repo" "$1"; fi
  rm -rf "${1:?}/bin" "$1/dist"
  find "$1" -name '*Dockerfile*' -not -path '*/.git/*' -type f -exec \
    sed -i -E "s,^FROM gcr\.io/distroless/(static|base)[^ ]*,FROM $base," {} +
  commit "$1" "bases of this machine"
}

# shared_package prints the directory of the package of this module that most
# commands depend on; the first of several.
shared_package() {
  local dir
  while read -r _ dir; do
    go list -deps -f '{{if and .Module (not .Standard)}}{{if .Module.Main}}{{if ne .Name "main"}}{{.Dir}}{{end}}{{end}}{{end}}' "./$dir" </dev/null
  done <"$commands_list" | { grep . || true; } | sed "s,^$PWD/,," | sort | uniq -c | sort -k1,1nr -k2 | awk '$1 > 1 || NR == 1 { print $2; exit }'
}

# change DIR PACKAGE VALUE: a line of it, which reaches the binary.
change() {
  local name
  name=$(awk '$1 == "package" { print $2; exit }' "$(find "$1/$2" -maxdepth 1 -name '*.go' ! -name '*_test.go' | sort | head -n 1)")
  printf 'package %s\n\nvar benchLine string\n\nfunc init() { benchLine = "%s" }\n' "$name" "$3" >"$1/$2/zz_bench.go"
}

# make_ready makes DIR of the subject: Dockerfiles and binaries, no sources.
make_ready() {
  local name dockerfile
  ready=$home/ready
  export ready
  [ ! -e "$ready/done" ] || return 0
  say "compiling what $subject's images hold"
  in_turn archmage_compile || die "compile $subject: $(tail -n 5 "$work/log/in_turn")"
  mkdir -p "$ready"
  while read -r name dockerfile _; do
    mkdir -p "$ready/$(dirname "$dockerfile")"
    cp "$home/archmage/$dockerfile" "$ready/$dockerfile"
  done <"$images"
  cp -r "$home/archmage/bin" "$ready/bin"
  bake_file >"$ready/bake.json"
  : >"$ready/done"
}

# bake_file is all images for buildx bake, which builds them at once.
bake_file() {
  local name dockerfile context comma=''
  printf '{"variable": {"TO": {"default": ""}}, "group": {"default": {"targets": [%s]}}, "target": {' "$(sed 's/^\([^ ]*\).*/"\1"/' "$images" | paste -sd,)"
  while read -r name dockerfile context; do
    # TO is a variable of bake.
    # shellcheck disable=SC2016
    printf '%s"%s": {"context": "%s", "dockerfile": "%s", "platforms": ["%s"], "tags": ["${TO}/buildx/%s:v1"]}' \
      "$comma" "$name" "$context" "$dockerfile" "${platforms//,/\", \"}" "$name"
    comma=', '
  done <"$images"
  printf '}}\n'
}
