# Every verb is one line that calls archmage; there is no logic here. Settings
# are variables: make image PUSH=true REGISTRY=ghcr.io/org VERSION=v1.2.3
ARCHMAGE ?= go tool archmage

.DEFAULT_GOAL := help
.PHONY: help plan verify compile image manifest promote inspect audit binaries init clean version test check test-engines nightly fuzz-engines lint docs

help: ## Show this help
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

plan: ## Print what would be built, who builds it, and why
	@$(ARCHMAGE) plan

verify: ## Find Dockerfiles that would put a wrong binary into an image
	@$(ARCHMAGE) verify

compile: ## Cross-compile every command to bin/<name>-linux-<arch>
	@$(ARCHMAGE) compile

image: ## Build every image for every platform, to dist/ or (PUSH=true) to REGISTRY
	@$(ARCHMAGE) image

manifest: ## Join the images of all platforms under VERSION and IMAGE_TAGS
	@$(ARCHMAGE) manifest

promote: ## Move IMAGE_TAGS and VERSION to what SOURCE_VERSION names
	@$(ARCHMAGE) promote

inspect: ## Print platforms, digests and revision of what is published under VERSION
	@$(ARCHMAGE) inspect

audit: ## Find images in dist/ that hold something else than they say
	@$(ARCHMAGE) audit

binaries: ## Compile release binaries and their checksums to dist/release
	@$(ARCHMAGE) binaries

init: ## Show what a repository lacks to be built by archmage
	@$(ARCHMAGE) init

clean: ## Remove what archmage made here, and nothing else
	@$(ARCHMAGE) clean

version: ## Print archmage's version
	@$(ARCHMAGE) version

test: ## Run the unit and script tests
	go test -timeout 30m ./...

check: ## Format, vet, lint, test with the race detector
	scripts/check

test-engines: ## Compare with real BuildKit and run against real engines and registries (root, Debian)
	scripts/test-engines

nightly: ## test-engines at full size
	scripts/test-engines --nightly

fuzz-engines: ## Random Dockerfiles against real BuildKit, RANDOM_CASES of them
	scripts/test-engines --fuzz

docs: ## Write the generated documents anew
	UPDATE=1 go test ./cmd/archmage ./build/config ./build/verify
	UPDATE=1 go test ./build/adopt
