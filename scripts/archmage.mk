# The verbs of archmage as make targets: archmage-plan, archmage-image and so on.
# Include this file, and run make image. Where archmage is a tool of its own
# module, tools/archmage.mod, it is found with this line:
#
#   include $(shell GOWORK=off go list -mod=readonly -find -modfile=tools/archmage.mod -f '{{.Dir}}' github.com/archmage-go/archmage/scripts)/archmage.mk
#
# in a vendor directory, or in a checkout, by its path:
#
#   include vendor/github.com/archmage-go/archmage/scripts/archmage.mk
#
# Settings are variables, of the Makefile, of the command line or of the
# environment, before or after the include. They reach archmage through the
# environment: blanks, quotes and dollars in them are safe. One that nobody set
# is not handed on. Targets of others do not see them.
#
# Goals typed together run in that order, with -j too. A target that needs two of
# them says so itself: manifest: image.
#
# GNU make 3.81 or newer.

# What starts archmage, in the directory that make runs in.
ARCHMAGE ?= $(archmage.found)

# Verbs that have a target by their short name too. Set it before the include.
ARCHMAGE_TARGETS ?= image manifest

# What is no setting, as one would type it behind the verb:
#   make archmage-verify ARCHMAGE_ARGS=--fix
#   make image ARCHMAGE_ARGS=-n
ARCHMAGE_ARGS ?=

# Generated from the program: make docs.
# begin generated
archmage.verbs := \
  audit binaries clean compile \
  image init inspect manifest \
  plan promote verify version
archmage.variables := \
  IMAGE_PLATFORMS PLATFORMS WHAT IMAGE_DIRS \
  IMAGE_BIN RELEASE_PLATFORMS LDFLAGS GOFLAGS \
  CGO_ENABLED VERSION_PKG BINARY_VERSION IMAGE_ENGINE \
  IMAGE_BUILD_ARGS IMAGE_TARGET IMAGE_LABELS IMAGE_ANNOTATIONS \
  IMAGE_VERIFY IMAGE_OUT IMAGE_MEDIA_TYPES IMAGE_COMPRESSION \
  IMAGE_SBOM IMAGE_MIRRORS LOAD CONTAINER_TOOL \
  BUILDX_BUILDER IMAGE_CACHE SOURCE_DATE_EPOCH REGISTRY \
  VERSION SOURCE_VERSION IMAGE_TAGS IMAGE_LEG \
  PUSH IMAGE_REVISION IMAGE_FORCE IMAGE_RETRY_MAX \
  IMAGE_RETRY_DELAY IMAGE_RUNNERS IMAGE_JOBS IMAGE_PROGRESS \
  IMAGE_QUIET NO_COLOR DOCKER_CONFIG REGISTRY_AUTH_FILE \
  GITHUB_TOKEN GITHUB_OUTPUT GITHUB_STEP_SUMMARY GOCACHEPROG
# end generated

# The targets below must not become what make alone does.
archmage.goal := $(.DEFAULT_GOAL)

archmage.unknown := $(filter-out $(archmage.verbs),$(ARCHMAGE_TARGETS))
ifneq ($(archmage.unknown),)
$(error ARCHMAGE_TARGETS: no verb of archmage: $(archmage.unknown))
endif

archmage.long := $(archmage.verbs:%=archmage-%)
archmage.short := $(filter $(archmage.verbs),$(ARCHMAGE_TARGETS))

.PHONY: $(archmage.long) $(archmage.short)

$(archmage.long): archmage-%:
	@$(archmage.export)$(archmage.cli) $*$(archmage.args)

ifneq ($(archmage.short),)
$(archmage.short): %:
	@$(archmage.export)$(archmage.cli) $*$(archmage.args)
endif

# Each goal that was typed waits for the one before it.
ifdef MAKECMDGOALS
archmage.last :=
archmage.seen :=
archmage.chain = $(if $(archmage.last),$(eval $(1): | $(archmage.last)))$(eval archmage.last := $(1))
archmage.typed := $(filter $(archmage.long) $(archmage.short),$(MAKECMDGOALS))
archmage.order := $(foreach archmage.i,$(archmage.typed),$(if $(filter $(archmage.i),$(archmage.seen)),,$(call archmage.chain,$(archmage.i))$(eval archmage.seen += $(archmage.i))))
endif

.DEFAULT_GOAL := $(archmage.goal)

# Variables of the environment and of the command line are in the environment of
# a recipe already, as they are. Those of the Makefile are put there when the
# recipe runs, with the value that they have then, and for this target alone.
archmage.set = $(filter file override,$(origin $(1)))
archmage.export = $(strip $(foreach archmage.i,$(archmage.variables) $(filter CC_%,$(.VARIABLES)),$(if $(call archmage.set,$(archmage.i)),$(eval $@: export $(archmage.i) := $$($(archmage.i))))))

archmage.args = $(if $(strip $(ARCHMAGE_ARGS)), $(ARCHMAGE_ARGS))

# Where ARCHMAGE is empty it counts as unset.
archmage.cli = $(if $(strip $(ARCHMAGE)),$(ARCHMAGE),$(archmage.found))
archmage.found = $(if $(wildcard tools/archmage.mod),$(if $(archmage.apart),$(archmage.built),$(archmage.tool)),$(if $(wildcard vendor/github.com/archmage-go/archmage),go tool archmage,archmage))
archmage.tool = go tool -modfile=tools/archmage.mod archmage

# With a vendor directory or a workspace, go tool refuses another go.mod. There
# the program is built beside Go's own cache, anew only when it changed, and
# started without the settings that this takes: archmage itself is to see both.
archmage.apart = $(wildcard vendor/modules.txt)$(filter-out off,$(shell go env GOWORK))
archmage.built = exe="$$(go env GOCACHE)/archmage-$$(cksum <tools/archmage.mod | cut -d ' ' -f 1)" && GOWORK=off GOOS= GOARCH= go build -mod=readonly -modfile=tools/archmage.mod -o "$$exe" github.com/archmage-go/archmage/cmd/archmage && "$$exe"
