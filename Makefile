# The entry points. `make demo` and `make test` need Git, Go and make. Other programs that a test needs are installed where
# that can be done, or named in a line that says SKIPPED.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build

BIN := bin/halfspace
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
# Systems that the command is built for, as GOOS/GOARCH.
SYSTEMS := linux/amd64 linux/arm64 linux/386 linux/riscv64 darwin/amd64 darwin/arm64 windows/amd64
# The same flags everywhere: each other set of flags compiles every package once more, minutes of them for Arrow.
export CGO_ENABLED := 0
# Tests are linked without tables for debuggers, in half the time, and vetted by make lint alone.
# Of arrow/compute tests alone link something, by pqarrow: without inlining it is compiled in a third of the time.
export GOFLAGS := $(GOFLAGS) -trimpath -ldflags=-w -vet=off -gcflags=github.com/apache/arrow/go/v17/arrow/compute/...=-l
# The compiler takes more memory and less time with a lazier garbage collector. Tests keep Go's default: some measure their memory.
LAZY_GC := GOGC=400
OWN_GC := env -u GOGC
TEST := $(LAZY_GC) go test -exec '$(OWN_GC)'
# Tests of all packages but those that cross, counts and pages run.
export UNIT_SKIP := TestSystems|TestCounts|TestReportsInBrowser|TestPageFaults
# What has code of its own for an architecture, and what is close to it.
DISPATCHING := ./asm/... ./kernel ./kernel/f64 ./internal/microkernel ./internal/block ./gram ./pocket

.PHONY: build test check rest recorded lint-all pages unit race race-files noasm arm64 worlds avx512 mutants arm64-command cross cross-build python wheel release help lint asm asm-check demo bench bench-peers bench-limits counts bench-mnist bench-sparse onnx duckdb lakes buckets spark soak faults mishaps fuzz beam clean

# Tests are small unless these ask for all sizes.
cross counts pages avx512 faults mishaps soak bench-mnist bench-sparse: export HALFSPACE_TEST := full

build: ## one static binary
	go build -ldflags '-s -w' -o $(BIN) ./cmd/halfspace

# What compiles the same packages with the same flags doesn't run at the same time: each would compile them.
test: ## the project at small sizes: build, lint, tests of every package, the models without assembly, the demo
	@begin=$$SECONDS; \
	$(MAKE) build && $(MAKE) lint && $(MAKE) --jobs=2 --output-sync=line asm-check unit && $(MAKE) --jobs=2 --output-sync=line recorded demo && \
	echo "make test: passed in $$((SECONDS - begin)) s: $$(cat tmp/tests), recorded models without assembly, vet, staticcheck, generated assembly, demo. make check adds all sizes, race detector, other CPUs and systems, browsers, ONNX, DuckDB, Python, Beam."

check: ## make test, then all that is slower
	$(MAKE) test
	$(MAKE) rest

# What make check adds to make test.
rest:
	$(MAKE) --jobs=2 --output-sync=line lint-all cross
	HALFSPACE_TEST=full $(MAKE) unit
	$(MAKE) --jobs=2 --output-sync=line race arm64 noasm worlds counts pages
	$(MAKE) race-files
	$(MAKE) onnx duckdb lakes buckets
	$(MAKE) python
	$(MAKE) spark
	$(MAKE) beam
	@echo "make check: all passed"

# A run on a CPU with an instruction set fails if its kernels were not exercised.
unit: ## tests of all packages; small problems, or all with HALFSPACE_TEST=full
	@has() { for f; do grep -qsw $$f /proc/cpuinfo || return 1; done; }; need=; \
	if has avx2 fma; then need=avx2; if has avx512f avx512dq avx512bw avx512vl; then need=avx2,avx512; fi; fi; mkdir -p tmp; \
	HALFSPACE_TEST_REQUIRE=$$need $(TEST) -v -timeout 30m -skip "$$UNIT_SKIP" ./... | ./.ci/tests.awk -v out=tmp/tests

mutants: ## breaks thirty places, one after the other: the tests of make test find 28 of them or more
	HALFSPACE_TEST_MUTANTS='$(or $(MUTANT),all)' $(TEST) -count=1 -v -timeout 9h -run TestMutants ./cmd/halfspace

recorded: ## the recorded models without assembly
	$(TEST) -tags noasm -run TestRecorded ./train/learner

counts: ## instructions of the hot kernels, against those recorded; COUNTS=-update records them
	./.ci/need.sh valgrind valgrind "counts of instructions" || { test $$? = 3; exit; }; \
	$(TEST) -count=1 -run TestCounts ./bench $(COUNTS)

# Learners are the same code with and without assembly: the hashes in train/learner/testdata hold them to the same models.
noasm: recorded ## the affected tests without assembly
	$(TEST) -tags noasm $(filter-out ./asm/...,$(DISPATCHING))

# Where goroutines meet: all short tests of the packages that pass work between them, and of the others those in whose names it stands.
# TestInvariance of train makes every learner's training with one worker and with several.
race: ## tests where goroutines meet, with the race detector
	CGO_ENABLED=1 $(TEST) -race -skip PathPasses ./internal/block ./internal/cache ./gram ./predict ./metrics ./internal/train ./train/learner ./train/lda ./train/winnow ./internal/parallel
	CGO_ENABLED=1 $(TEST) -race -run 'Cancel|TestWeights|EarlyStop|Classes$$|ResumeMemory|TestShards$$' ./pocket ./train/kernelperceptron ./train/perceptron
	CGO_ENABLED=1 $(TEST) -race -run SharedChunks ./train/logistic

race-files: ## race for readers and the command; takes minutes, because Arrow is compiled again
	CGO_ENABLED=1 $(TEST) -race -run 'Cancel|Parts|Invariance|Window|EarlyStop|Stream|Same|Classes$$' -skip StreamNested \
		./dataset ./dataset/internal/ipc ./dataset/internal/parquet
	CGO_ENABLED=1 $(TEST) -race -run 'Invariance|Progress|Interrupt|Live|OnlineStream' ./cmd/internal/cli ./cmd/internal/console ./cmd/internal/train
	CGO_ENABLED=1 $(TEST) -race -run 'TestScripts/^(checkpoint|interrupt|online|splits)$$' ./cmd/internal/cli

# With Neon the recorded models hold learners and the pocket to the same bytes as on amd64. Tests of kernels hold Go to Neon.
arm64: ## the affected tests under qemu, with Neon
	./.ci/need.sh qemu-aarch64-static qemu-user-static "tests under arm64" || { test $$? = 3; exit; }; \
	HALFSPACE_TEST_REQUIRE=neon GOARCH=arm64 $(TEST) -exec '$(OWN_GC) qemu-aarch64-static' -timeout 30m $(filter-out ./pocket,$(DISPATCHING)); \
	GOARCH=arm64 $(TEST) -exec '$(OWN_GC) qemu-aarch64-static' -timeout 30m -run TestRecorded ./train/learner

# onnxruntime-web for the tests of ONNX files, in a folder that git ignores.
ONNXRUNTIME := onnxruntime-web@1.22.0

onnx: ## ONNX files in a runtime, against predict; ONNX=-update records the files
	if ./.ci/need.sh npm npm "ONNX files in a runtime"; then \
		mkdir -p tmp/onnx && npm install --silent --no-save --prefix tmp/onnx $(ONNXRUNTIME) || { \
			[ "$${CI:-}" = true ] && word=FAILED status=1 || word=SKIPPED status=0; \
			echo "$$word: ONNX files: npm could not install the runtime" >&2; exit $$status; }; \
		export HALFSPACE_ONNXRUNTIME=$(CURDIR)/tmp/onnx; \
		go test -count=1 -run TestONNX ./export $(ONNX); \
	else test $$? = 3; fi

duckdb: ## --where, --limit, folders that name columns, and --rejects, against DuckDB
	if ./.ci/need.sh npm npm "DuckDB"; then \
		mkdir -p tmp/duckdb && npm install --silent --no-save --prefix tmp/duckdb $(DUCKDB) || { \
			[ "$${CI:-}" = true ] && word=FAILED status=1 || word=SKIPPED status=0; \
			echo "$$word: DuckDB: npm could not install it" >&2; exit $$status; }; \
		HALFSPACE_DUCKDB=$(CURDIR)/tmp/duckdb go test -count=1 -run TestDuckDB ./dataset; \
	else test $$? = 3; fi

LAKES_PACKAGES := deltalake==1.6.6 pyiceberg[sql-sqlite,pyarrow]==0.12.0 pyspark==4.1.1 pyarrow==26.0.1

lakes: ## Delta and Iceberg tables that deltalake, pyiceberg and Spark write, against the rows that they read
	if ./.ci/need.sh java openjdk-17-jre-headless "lake tables" && ./.ci/need.sh "$(PYTHON) -c import\ ensurepip" python3-venv "lake tables"; then \
		rm -rf tmp/lakes/tables && mkdir -p tmp/lakes/tables && { test -x tmp/lakes/bin/pip || $(PYTHON) -m venv tmp/lakes; } && \
		tmp/lakes/bin/pip install --quiet $(LAKES_PACKAGES) && \
		for script in delta iceberg spark; do \
			tmp/lakes/bin/python dataset/testdata/lakes/$$script.py tmp/lakes/tables >tmp/lakes/$$script.log 2>&1 || exit 1; done || { \
			[ "$${CI:-}" = true ] && word=FAILED status=1 || word=SKIPPED status=0; \
			echo "$$word: lake tables: their writers could not be installed, or failed: see tmp/lakes/*.log" >&2; exit $$status; }; \
		HALFSPACE_LAKES=$(CURDIR)/tmp/lakes/tables go test -count=1 -run 'TestLakes$$' ./dataset; \
	else test $$? = 3; fi

buckets: ## data in a bucket of the server moto, against the same files
	if ./.ci/need.sh "$(PYTHON) -c import\ ensurepip" python3-venv "buckets"; then \
		mkdir -p tmp && { test -x tmp/buckets/bin/pip || $(PYTHON) -m venv tmp/buckets; } && \
		tmp/buckets/bin/pip install --quiet moto[server]==5.2.5 || { \
			[ "$${CI:-}" = true ] && word=FAILED status=1 || word=SKIPPED status=0; \
			echo "$$word: buckets: pip could not install moto" >&2; exit $$status; }; \
		HALFSPACE_MOTO=$(CURDIR)/tmp/buckets/bin/moto_server go test -count=1 -run 'TestMoto$$' ./cmd/internal/cli; \
	else test $$? = 3; fi

PYTHON := /usr/bin/python3
PYTHON_PACKAGES := python3-sklearn python3-pandas python3-pytest python3-venv python3-hatchling

python: build ## the Python package: its tests with Debian's scikit-learn, then with 1.4 and 1.9 from PyPI, beside scikit-learn's checks and own tests
	./.ci/need.sh "$(PYTHON) -c import\ sklearn,pandas,pytest,hatchling,ensurepip" "$(PYTHON_PACKAGES)" "tests of the Python package" || { test $$? = 3; exit; }; \
	(cd python && $(PYTHON) -m pytest -q -p no:cacheprovider tests) && PYTHON=$(PYTHON) python/versions.sh

SPARK_PACKAGES := pyspark==4.3.0 pyarrow==26.0.1 pandas==2.3.3 pytest deltalake==1.6.6 moto[server]==5.2.5

# The command of another version is for the test that driver and executors refuse each other.
spark: build ## halfspace.spark on Spark, with two executors on this computer; KILLS is how often processes are killed
	if ./.ci/need.sh java openjdk-17-jre-headless "Spark" && ./.ci/need.sh "$(PYTHON) -c import\ ensurepip" python3-venv "Spark"; then \
		mkdir -p tmp && { test -x tmp/spark/bin/pip || $(PYTHON) -m venv tmp/spark; } && \
		tmp/spark/bin/pip install --quiet $(SPARK_PACKAGES) || { \
			[ "$${CI:-}" = true ] && word=FAILED status=1 || word=SKIPPED status=0; \
			echo "$$word: Spark: pip could not install pyspark" >&2; exit $$status; }; \
		go build -ldflags '-s -w -X halfspace/cmd/internal/engine.number=0.0.1' -o tmp/other/halfspace ./cmd/halfspace && \
		(cd python && HALFSPACE_SPARK_KILLS=$(or $(KILLS),3) HALFSPACE_OTHER_BINARY=$(CURDIR)/tmp/other/halfspace \
			../tmp/spark/bin/python -m pytest -q -p no:cacheprovider tests/test_spark.py); \
	else test $$? = 3; fi

pages: ## reports, and what a browser makes of them: it must neither say anything nor load anything
	./.ci/need.sh chromium chromium "reports in a browser" || test $$? = 3
	$(TEST) -count=1 -run 'TestReportsInBrowser|TestPageFaults' ./cmd/internal/cli

worlds: ## s390x, which has no assembly and is big-endian, learns the same models
	for arch in s390x; do \
		./.ci/need.sh qemu-$$arch-static qemu-user-static "tests under $$arch" || { test $$? = 3; exit; }; \
		GOARCH=$$arch $(TEST) -exec "$(OWN_GC) qemu-$$arch-static" -timeout 30m -run TestRecorded ./train/learner || exit; done

avx512: ## the AVX-512 kernels on a CPU that Bochs emulates, where this one has none: a quarter of an hour
	./.ci/avx512.sh ./asm/avx512

arm64-command: ## trainings of the whole command under arm64, beside those of this computer: to compile Arrow takes minutes
	./.ci/need.sh qemu-aarch64-static qemu-user-static "the command under arm64" || { test $$? = 3; exit; }; \
	HALFSPACE_TEST_REQUIRE=qemu-aarch64-static go test -count=1 -run TestArchitectures ./cmd/halfspace

# Kernels are compiled for 32 bits, and everything is type-checked for other systems: to compile Arrow takes minutes for each. The cache of test results doesn't see which files the test reads.
cross: ## kernels compiled for 386, everything type-checked for other systems
	GOARCH=386 go build ./asm/... ./kernel ./kernel/f64 ./internal/microkernel
	GOARCH=386 go build -tags noasm ./asm/... ./kernel ./kernel/f64 ./internal/microkernel
	go test -count=1 -run TestSystems ./cmd/halfspace

cross-build: ## the command for every system, which takes minutes for each
	for system in $(SYSTEMS); do \
		GOOS=$${system%/*} GOARCH=$${system#*/} go build -o /dev/null ./cmd/halfspace; done

# Systems that have a wheel, and those to make one for.
WHEEL_SYSTEMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
WHEELS = $(shell go env GOOS)/$(shell go env GOARCH)
DIST := dist

wheel: ## a wheel for this system in dist; WHEELS=all makes those of five systems, minutes for each, and WHEELS=darwin/arm64 one by name
	./.ci/need.sh "$(PYTHON) -c import\ hatchling" python3-hatchling "wheels" || { test $$? = 3; exit; }; \
	for system in $(if $(filter all,$(WHEELS)),$(WHEEL_SYSTEMS),$(WHEELS)); do \
		name=halfspace; [ $${system%/*} = windows ] && name=halfspace.exe; \
		GOOS=$${system%/*} GOARCH=$${system#*/} go build -ldflags '-s -w' -o tmp/release/$$system/$$name ./cmd/halfspace; \
		(cd python && SOURCE_DATE_EPOCH=$(EPOCH) HALFSPACE_WHEEL_COMMAND=$(CURDIR)/tmp/release/$$system/$$name HALFSPACE_WHEEL_SYSTEM=$$system \
			$(PYTHON) -m hatchling build -t wheel -d $(CURDIR)/$(DIST)) || exit; \
		chmod a+r $(DIST)/*.whl; \
	done

# Systems that have an archive, and the time of the files in archives: that of the commit.
RELEASE_SYSTEMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
EPOCH = $(shell git log -1 --format=%ct)

release: ## archives and wheels for all systems, licenses, SBOM, man pages and SHA256SUMS in dist/release: half an hour; RELEASE=linux/amd64 makes one
	rm -rf tmp/release dist/release && mkdir -p dist/release
	for system in $(or $(RELEASE),$(RELEASE_SYSTEMS)); do \
		name=halfspace; [ $${system%/*} = windows ] && name=halfspace.exe; \
		GOOS=$${system%/*} GOARCH=$${system#*/} $(LAZY_GC) go build -ldflags '-s -w' -o tmp/release/$$system/$$name ./cmd/halfspace || exit; done
	wheels="$(filter $(or $(RELEASE),$(RELEASE_SYSTEMS)),$(WHEEL_SYSTEMS))"; test -z "$$wheels" || $(MAKE) wheel DIST=dist/release WHEELS="$$wheels"
	go run ./cmd/internal/release -binaries tmp/release -out dist/release -time $(EPOCH)

help: ## the targets of this file
	@grep -E '^[a-z0-9-]+:.*## ' Makefile | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | sort | awk -F '\t' '{ printf "  make %-15s %s\n", $$1, $$2 }'

lint: ## formatting, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(LAZY_GC) go vet ./...
	$(LAZY_GC) go run $(STATICCHECK) ./...

# go vet checks assembly against its Go declarations only for the architecture it runs for.
lint-all: ## vet for arm64 and of nested modules, known vulnerabilities
	GOARCH=arm64 $(LAZY_GC) go vet $(DISPATCHING)
	for nested in asm/gen bench/peers; do $(LAZY_GC) go -C $$nested vet ./...; done
	$(LAZY_GC) ./.ci/vulncheck.sh $(GOVULNCHECK)

asm: ## regenerate the assembly
	go -C asm/gen run . ..

asm-check: ## the committed assembly is what the generator writes
	go -C asm/gen test ./...
	go -C asm/gen test -count=1 . # the cache doesn't see that it reads package kernel, outside of the module
	./.ci/asm-check.sh

demo: build ## trains on an example, evaluates, prints what was learned
	tmp=$$(mktemp -d) && trap "rm -rf $$tmp" EXIT && set -x && \
	$(BIN) train examples/breast-cancer.parquet --label diagnosis --algo pocket --out $$tmp/model.json && \
	$(BIN) eval --model $$tmp/model.json examples/breast-cancer.parquet && \
	$(BIN) inspect $$tmp/model.json

bench: ## kernels, matrices, sparse rows and streams; halfspace bench has every learner
	go test -run '^$$' -bench 'Dot|Epoch|Errors|Tile|Transpose|Gram$$|GramForm|Scatter' ./bench
	go test -run '^$$' -bench . ./train/perceptron ./dataset
	go test -run '^$$' -bench Stream -benchtime 1x ./bench -full

# DuckDB, in a folder that git ignores.
DUCKDB := @duckdb/node-api@1.5.6-r.1
PEERS := tmp/peers

bench-peers: ## against other Go libraries, OpenBLAS, scikit-learn and DuckDB in the same run; bench-sparse has LIBLINEAR and Vowpal Wabbit
	go -C bench/peers test -bench . -benchtime 50ms -timeout 30m
	./.ci/need.sh "ls /usr/include/*/cblas.h" libopenblas-dev "benchmarks against OpenBLAS" || test $$? = 3
	./.ci/need.sh "/usr/bin/python3 -c import\ sklearn" python3-sklearn "benchmarks against scikit-learn" || test $$? = 3; \
	if ./.ci/need.sh npm npm "benchmarks against DuckDB"; then \
		mkdir -p $(PEERS) && npm install --silent --no-save --prefix $(PEERS) $(DUCKDB) || \
		echo "SKIPPED: benchmarks against DuckDB: npm could not install it" >&2; \
	else test $$? = 3; fi; \
	go test -run '^$$' -bench Peer -benchtime 1x -timeout 60m ./bench -full

bench-limits: ## learners, loads, text files, predictions and areas under curves beside plain loops in C
	go test -run '^$$' -bench PeerLoops -benchtime 1x ./bench -full

bench-mnist: ## handwritten digits, from the folder beside the repository
	go test -run '^$$' -bench MNIST -benchtime 1x -timeout 60m ./bench -full

faults: ## every command on files that ask for much memory or time: minutes
	go test -count=1 -v -timeout 60m -run TestFaults ./cmd/internal/cli -faults ../../../bench/results/faults.md

bench-sparse: ## sparse rows beside LIBLINEAR, scikit-learn and Vowpal Wabbit, whole processes: an hour or more
	./.ci/need.sh "/usr/bin/python3 -c import\ sklearn" python3-sklearn "benchmarks against scikit-learn" || test $$? = 3
	go test -count=1 -timeout 180m -run TestSparsePeers ./bench -table results/sparse.md

mishaps: ## processes that are killed, full disks, little address space, flipped bits: 15 minutes or more
	go test -count=1 -v -timeout 180m -run TestMishaps ./cmd/internal/cli -mishaps ../../../bench/results/mishaps.md

soak: build mishaps ## 100 million rows in 256 MiB of memory, and mishaps
	./.ci/soak.sh $(BIN)

FUZZTIME := 30s
# A process of the fuzzer maps some 2 GiB of its own: an input that asks for as much again is found.
FUZZMEMORY := 4194304# KiB of address space for each process
fuzz: ## every fuzz target for FUZZTIME each, in a bounded memory
	ulimit -v $(FUZZMEMORY); \
	grep -roP --include='*_test.go' '^func \KFuzz\w+' . | while IFS=: read -r file target; do \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x "$$(dirname "$$file")" < /dev/null; done

# Beam takes some three minutes of processor time to compile, so make test leaves it out.
beam: build ## the command on Apache Beam: bin/halfspace-beam, and its tests; KILLS is how often workers are killed
	test -z "$$(gofmt -l cmd/halfspace-beam)"
	go -C cmd/halfspace-beam vet ./...
	go -C cmd/halfspace-beam build -ldflags '-s -w' -o ../../bin/halfspace-beam .
	go -C cmd/halfspace-beam test -count=1 . -args -kills $(or $(KILLS),2)

clean: ## removes bin
	rm -rf bin
