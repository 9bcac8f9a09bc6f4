# `make` alone says what can be done. On a fresh machine `make demo` and
# `make test` set up what they need themselves; only Go and make are expected.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The version is stamped below, so Go need not ask git for it again (and fail
# where the checkout belongs to another user). Without the folder in what is
# compiled, a second clone on a machine finds it in Go's cache.
export GOFLAGS := $(GOFLAGS) -buildvcs=false -trimpath

VERSION := $(shell git describe --tags --always --dirty --match 'v[0-9]*' 2>/dev/null || echo dev)
OUTCOMES := bin/test-outcomes
# What tests start. Built as they are themselves, so that little is compiled twice, and left alone if it is the same: results of tests
# that start it are cached with its time.
TEST_SIDECAR := $(CURDIR)/bin/test-sidecar

TESTSUM := go run ./tools/testsum
IN_MEMORY := scripts/in-memory.sh
LINT    := go tool -modfile=tools/lint/go.mod golangci-lint

# Where goroutines share state. Pure packages would only make it slower.
RACE_DIRS := pkg/store pkg/engine pkg/memory pkg/summarize/openai pkg/summarize/anthropic pkg/tokens internal/access internal/grpcserver internal/ops internal/metrics internal/tracing internal/demo internal/replay internal/inspect cmd test/isolation
# The extractive summarizer shares nothing, and its tests hold it to its speed.
RACE_PKGS  = ./pkg/summarize $(patsubst %,./%/...,$(wildcard $(RACE_DIRS)))

# What is about databases that sidecars share.
STORE_DIRS := pkg/store/postgres pkg/store/redis test/shared internal/dbtest
STORE_PKGS := $(addprefix ./,$(STORE_DIRS))
# What has a lane of its own is left out of the others.
OTHER_LANES := $(addprefix github.com/palimpsest-context/palimpsest/,$(STORE_DIRS) pkg/memory pkg/memory/% test/memories test/doors test/doors/%)
ALL_ELSE   = $(filter-out $(OTHER_LANES),$(shell go list ./...))

# What takes longest begins first, or a core is idle at the end; and one package more than there are cores runs, since many wait.
SLOWEST := $(addprefix ./,test/faults internal/replay test/summaries test/citations test/interop test/property cmd/sidecar test/isolation pkg/store/bolt pkg/search test/badinput pkg/engine internal/grpcserver test/losses pkg/store/move pkg/summarize)
AT_ONCE := -p $(shell echo $$(($$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)))

# Flags for go test, such as `make test TESTFLAGS='-run TestBuild -count=1'`.
TESTFLAGS ?=

# What a person needs in a day has a comment of ##, the rest one of ##-.
.PHONY: help
help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2} /^##@ / {print substr($$0, 5) ":"}' Makefile

##@ Run

.PHONY: demo
demo: build ## Build and show an agent's conversation: what its model sees, what expires, what it costs
	@bin/sidecar demo

.PHONY: build
build: ## Build the static binary bin/sidecar
	@mkdir -p bin
	@CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/sidecar ./cmd/sidecar

.PHONY: packages
packages: ## Build the clients' packages for Python, TypeScript and Java into bin/packages
	@scripts/packages.sh '$(VERSION)'

.PHONY: image
image: ##- Build the container image bin/image/palimpsest.tar (ARCH='amd64 arm64' makes an index of both)
	@scripts/image.sh '$(VERSION)' $(ARCH)

##@ Test

.PHONY: test
test: setup-test test-sidecar ## Run all tests but those of speed, with clients in other languages; the same every time
	@rm -f $(OUTCOMES)
# What fails is in the outcomes: all of it runs, and the total is the verdict.
	@$(IN_MEMORY) $(TESTSUM) run -o $(OUTCOMES) -- $(AT_ONCE) -timeout 20m $(TESTFLAGS) $(SLOWEST) $(ALL_ELSE) 2>/dev/null || true
	@scripts/interop.sh $(OUTCOMES) || true
	@$(TESTSUM) total $(OUTCOMES)

.PHONY: test-stores
test-stores: setup-test test-sidecar ## Run the tests of Postgres and Redis, on servers that they start
	@$(IN_MEMORY) scripts/test-stores.sh $(OUTCOMES) $(AT_ONCE) -timeout 20m $(TESTFLAGS) -- $(STORE_PKGS)

.PHONY: test-memory
test-memory: setup-test test-sidecar ## Run the tests of long-term memory, with Mem0's own package and a model that answers by rules
	@TESTFLAGS='$(TESTFLAGS)' $(IN_MEMORY) scripts/test-memory.sh $(OUTCOMES)

.PHONY: test-doors
test-doors: setup-test test-sidecar packages ## Run the tests of packages and adapters, installed from built files, against strict fakes of the providers
	@scripts/setup-doors.sh
	@$(TESTSUM) run -o $(OUTCOMES) -- -timeout 30m $(TESTFLAGS) ./test/doors/...

.PHONY: test-doors-newest
test-doors-newest: setup-test test-sidecar packages ##- Test adapters and clients with the newest versions that the registries serve, and say what broke (NAMES='langchain vercel' picks some)
	@scripts/setup-doors.sh
	@scripts/test-doors-newest.sh $(NAMES)

.PHONY: adapters-drawn adapters-speed
SIDE_BY_SIDE := 'TestAdapters_(EveryFramework|Vercel)_Plays'
adapters-drawn: setup-test test-sidecar packages ## Play N drawn runs with and without each adapter (SEED=N again)
	@scripts/setup-doors.sh
	@PYTEST_ADDOPTS='-k drawn' PALIMPSEST_DRAWN='$(or $(N),100)' PALIMPSEST_SEED='$(or $(SEED),0)' go test ./test/doors -count=1 -timeout 24h -v -run $(SIDE_BY_SIDE)
adapters-speed: setup-test test-sidecar packages ## Measure what each adapter adds to a step, at two hundred steps
	@scripts/setup-doors.sh
	@PYTEST_ADDOPTS='-k speed -s' PALIMPSEST_TEST_SPEED=yes go test ./test/doors -count=1 -timeout 2h -parallel 1 -v -run $(SIDE_BY_SIDE)

adapters-drawn adapters-speed test test-stores test-memory test-doors test-doors-newest test-speed faults soak acceptance bench-citations check-deploy: export PALIMPSEST_TEST_SIDECAR := $(TEST_SIDECAR)

.PHONY: test-sidecar
test-sidecar:
	@mkdir -p bin
	@rm -f $(TEST_SIDECAR).new
# Without a binary the tests that start it fail, and are counted.
	@go build -o $(TEST_SIDECAR).new ./cmd/sidecar || rm -f $(TEST_SIDECAR)
	@[[ ! -f $(TEST_SIDECAR).new ]] || cmp -s $(TEST_SIDECAR).new $(TEST_SIDECAR) || mv $(TEST_SIDECAR).new $(TEST_SIDECAR)

.PHONY: setup-test
setup-test: ##- Install what the tests of other languages need, where it is missing
	@scripts/setup-test.sh

.PHONY: race
race: ## Run the tests of packages with shared state under the race detector
	@mkdir -p bin
	@CGO_ENABLED=1 $(IN_MEMORY) $(TESTSUM) run -o $(OUTCOMES) -- $(AT_ONCE) -race -short -timeout 20m $(TESTFLAGS) $(RACE_PKGS)

.PHONY: test-speed
test-speed: test-sidecar ## Run the tests that measure time, one by one (let nothing else run meanwhile)
	@scripts/test-speed.sh $(OUTCOMES)

.PHONY: properties
properties: ## Run every property at random (CHECKS=10000 cases each; SEED=N draws them again)
	@scripts/properties.sh

.PHONY: mutants
mutants: ##- Put 100 recorded faults into pkg/engine, one by one, and say which its tests see (one to two hours; MUTANTS=1,5-7 picks some)
	@go run ./tools/mutants run -only "$${MUTANTS:-}" tools/mutants/engine.json pkg/engine -- ./pkg/engine/... -- ./test/property

.PHONY: tokens
tokens: ##- Show how far our token counts are from the providers' (reads PALIMPSEST_DATA)
	@scripts/focus.sh tokens 'Accuracy|Usage' ./pkg/tokens/... ./test/...

.PHONY: faults
faults: test-sidecar ##- Run the tests that kill, drain, corrupt and fill (ROUNDS=200 says how often it kills and drains)
	@RAPID_SEED="$${SEED:-$$RANDOM$$RANDOM}" PALIMPSEST_SHARED_SECONDS="$${SECONDS_SHARED:-60}" PALIMPSEST_FAULT_ROUNDS="$${ROUNDS:-200}" PALIMPSEST_DRAIN_ROUNDS="$${ROUNDS:-100}" scripts/focus.sh faults 'Fault|Crash|Kill|Corrupt|Disk|Drain' ./...

.PHONY: upgrade
upgrade: ##- Run an older version, this one and the older one again over one folder (BASE=v0.1.0; the newest release by default)
	@scripts/upgrade.sh $(BASE)

.PHONY: soak
soak: test-sidecar ##- Run the long tests (SOAK=10m says how long each)
	@RAPID_SEED="$${SEED:-$$RANDOM$$RANDOM}" PALIMPSEST_SOAK="$${SOAK:-10m}" scripts/focus.sh soak 'Soak' ./...

.PHONY: bench
bench: build ##- Measure speed as ratios to bare gRPC and bare bbolt, against the bars (about 5 minutes)
	@go run ./bench -sidecar bin/sidecar
	@go test ./pkg/store/bolt -run '^$$' -bench Ratio

.PHONY: resources
resources: build ##- Measure memory and processor time for a pod's requests and limits (2 minutes; GOMEMLIMIT=410MiB acts as a limit of 512 MiB)
	@go run ./bench -resources -sidecar bin/sidecar

.PHONY: bench-citations
bench-citations: test-sidecar ##- Measure citations against their bars, without slack (reads PALIMPSEST_DATA; about 3 minutes)
	@PALIMPSEST_CITATION_BARS=1 PALIMPSEST_TEST_SPEED=1 scripts/focus.sh citations 'Citation|Content|Research|Excerpts' ./test/citations ./pkg/citations ./pkg/search ./pkg/content

.PHONY: microbench
microbench: ##- Run every package's benchmarks
	@go test -run '^$$' -bench . -benchmem $(TESTFLAGS) ./...

.PHONY: isolation
isolation: ##- Keep callers apart for a minute under the race detector: two namespaces at once, 100 files of credentials
	@CGO_ENABLED=1 PALIMPSEST_SOAK="$${SOAK:-1m}" go test -race -count=1 -v -timeout 20m -run 'Isolation' ./test/isolation

.PHONY: acceptance
acceptance: test-sidecar ##- Ask of the stores in full what test-stores asks in part (some hours; CHECKS, ROUNDS, SHARED say how much, OTHER names another version)
	@scripts/acceptance.sh

.PHONY: replay-all
replay-all: build ##- Replay all of PALIMPSEST_DATA at every window and format, against the bars
	@scripts/replay-all.sh

.PHONY: replay-lifecycle
replay-lifecycle: build ##- Replay all of PALIMPSEST_DATA under policies of expiry, against the bars (about 15 minutes)
	@scripts/replay-lifecycle.sh

.PHONY: replay-policies
replay-policies: build ##- Replay all of PALIMPSEST_DATA under the policies that ship, against the bars (about 12 minutes; PAGE=FILE writes tables, FRONTIER=FILE draws)
	@scripts/replay-policies.sh

.PHONY: replay-model
replay-model: build ##- Replay PALIMPSEST_DATA with a model that writes summaries, against the bar of what they may cost (about 15 minutes)
	@scripts/replay-model.sh

.PHONY: replay-types
replay-types: ##- Judge contexts of all of PALIMPSEST_DATA by the providers' published types (about 9 minutes; PARTS says how it is played)
	@PALIMPSEST_TYPES_SAMPLE=1 PALIMPSEST_TYPES_PARTS="$${PARTS:-recorded,cited}" scripts/focus.sh types 'PublishedTypes' ./test/interop

.PHONY: replay-cite
replay-cite: build ##- Replay PALIMPSEST_DATA with citations, against the bars (about 3 minutes)
	@scripts/replay-cite.sh

##@ Change

.PHONY: gen
gen: ## Generate Go code from the protos, and the licenses of what is linked
	@scripts/gen.sh
	@scripts/gen-python-client.sh

.PHONY: proto-release
proto-release: ##- Promise the protos as they are: what proto-breaking compares with (a release does it; commit the result)
	@scripts/proto-release.sh

.PHONY: fmt
fmt: ## Format Go and proto files
	@$(LINT) fmt
	@go tool -modfile=tools/buf/go.mod buf format -w

##@ Check

.PHONY: check-gen
check-gen: ## Fail if generated code or licenses have drifted
	@scripts/check-gen.sh

.PHONY: proto-lint
proto-lint: ## Lint the protos
	@scripts/proto-lint.sh

.PHONY: proto-breaking
proto-breaking: ##- Fail if the protos break what the last release promised, or if that would go unseen
	@scripts/proto-breaking.sh
	@scripts/proto-breaking-test.sh

.PHONY: check-deploy
check-deploy: test-sidecar ## Check the image, the manifests, the chart, the dashboard and the alerts, without a cluster
	@scripts/check-deploy.sh $(OUTCOMES)

.PHONY: check-dashboards
check-dashboards: ##- Check the dashboard and the alerts with Prometheus's own parsers
	@cd tools/promcheck && go vet . && go test .

.PHONY: vet
vet: ##- Run go vet
	@go vet ./...

.PHONY: lint
lint: ## Run all linters
	@$(LINT) run ./...
	@for tool in image helm; do (cd tools/$$tool && go tool -modfile=../lint/go.mod golangci-lint run ./...); done

.PHONY: ci
ci: ## Run everything that must be green, with the test counts as the last line
	@rm -f $(OUTCOMES)
	@scripts/ci.sh $(OUTCOMES)

##@ More

.PHONY: help-all
help-all: help ## Say what else can be done: benches, replays, faults, releases
	@echo "Now and then:"
	@awk -F ':.*##- ' '/^[a-z-]+:.*##- / {printf "  %-16s %s\n", $$1, $$2}' Makefile
