# Targets: build cuda cuda-test check test race plain neon systems pairs metric-pairs fuzz faults refusals bench trust golden.
.PHONY: build cuda cuda-test check test race plain neon systems pairs metric-pairs fuzz faults refusals bench trust golden lint staticcheck

build:
	CGO_ENABLED=0 go build -trimpath -o bin/lockstep ./cmd/lockstep

# The same with the executor for NVIDIA GPUs. Neither a GPU nor NVIDIA's software is needed to build it.
cuda:
	CGO_ENABLED=0 go vet -tags cuda ./internal/cuda/... ./graph/gpu/...
	CGO_ENABLED=0 go build -trimpath -tags cuda -o bin/lockstep-cuda ./cmd/lockstep

# Its tests: kernels run on the processor, in an emulation, and what takes a GPU is skipped without one.
cuda-test:
	CGO_ENABLED=0 $(TEST) -short -tags cuda ./internal/cuda/... ./graph/gpu/...

# What continuous integration runs, besides the README's test command.
check: lint race plain neon systems build cuda cuda-test

# Packages are vetted once, by lint, plain and cuda. Only debuggers read what -w leaves out.
TEST = go test -p 4 -vet=off -ldflags=-w

staticcheck:
	cd tools && go build -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck

lint: staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' ':!vendor/')); \
	if [ -n "$$unformatted" ]; then echo "not gofmt'd: $$unformatted"; exit 1; fi
	go vet ./...
	bin/staticcheck ./...
	bin/staticcheck -tags cuda ./internal/cuda/... ./graph/gpu/...
	$(TEST) -timeout 20m ./internal/archtest # with the flags of .ci/run, whose result is kept

test:
	go test ./...

race:
	CGO_ENABLED=1 $(TEST) -race -short -timeout 20m ./comm/... ./gradsync/... ./ps/... ./cluster/... ./app/job/...

# The path of processors without our assembly: that it builds, and that whatever chooses a kernel finds one.
# go test ./... runs the same portable kernels on all shapes, next to those in assembly. Only two packages have
# files for one path, which export nothing, so that the others are the same.
plain:
	go vet -tags purego ./compute ./internal/kernel/asm
	$(TEST) -timeout 20m -short -tags purego ./compute ./internal/kernel/asm ./internal/kernel/row ./graph/...
	$(TEST) -timeout 20m -short -tags purego -run 'Golden|OneHashFor(Any|Texts)' ./train
	$(TEST) -timeout 20m -short -tags purego -run 'Split|Random|Finish|Resize|Choice' ./internal/kernel/product

# The kernels of arm64 against plain Go, and a training that ends with the golden hash, on an emulated processor
# (Debian's package qemu-user). Before, the products of the program that arm64's compiler adds without rounding them
# first: where a result depends on such a sum, the product wants a conversion. In EXACT it has few enough bits; those
# of TIMES are of times and shares, and so are those of app, forecast and simulate.
EXACT = asm[.](fma|fused|[(][*]vector)|Symmetric|Draw|Normal|DropLimit|ROCAUC|newLowBucket|newSample
TIMES = lockstep/(app|forecast|simulate|shard)[./]|gridFor|newSplitOuter|balancer|Tuning|gradsync[.]judge
neon: export GOARCH = arm64
neon: export CGO_ENABLED = 0
neon:
	go vet ./compute ./internal/kernel/asm
	go test -c -vet=off -ldflags=-w -o bin/train-arm64.test ./train
	go build -ldflags=-w -o bin/lockstep-arm64 ./cmd/lockstep
	@GOARCH= go tool objdump -s '^lockstep[./]' bin/lockstep-arm64 | awk -v fine='$(EXACT)|$(TIMES)' \
		'/^TEXT/ {f = $$2} /\tFN?M(ADD|SUB)[SD]?[ \t]/ && f !~ fine {print "fused:", f, $$1; n++} END {exit n > 0}'
	@if ! command -v qemu-aarch64 >/dev/null; then echo "skipped: running arm64, as there is no qemu-aarch64"; else \
		set -x; $(TEST) -timeout 20m -short -exec qemu-aarch64 ./compute ./internal/kernel/asm && \
		cd train && qemu-aarch64 ../bin/train-arm64.test -test.short -test.run 'GoldenHashes/neon/lenet'; \
	fi

# That everything builds on macOS and on Windows.
systems:
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go build ./...
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 go build ./...

# Draws PAIRS pairs of runs that should end with the same bits, in one process and in several. A seed draws
# the same ones again; ISA=plain gives the second run of each the kernels of plain Go.
PAIRS ?= 1000
SEED ?= 1
pairs:
	go test -count=1 -timeout 2h -run TestDrawnRunsEndWithTheSameBits ./app/job/launcher -pairs $(PAIRS) -drawseed $(SEED) -drawisa "$(ISA)"

# Draws METRICPAIRS pairs of numbers of workers that should tell the same bits of every metric, find the same
# evaluation best and stop at the same step.
METRICPAIRS ?= 200
metric-pairs:
	go test -count=1 -timeout 1h -run TestAnyWorkersChooseAlike ./train -metricpairs $(METRICPAIRS)

# Runs each fuzz target of each package for FUZZTIME. What one finds is left in its package's
# testdata/fuzz, where go test repeats it. Shortening inputs is cut off: it takes a minute otherwise.
FUZZTIME ?= 10s
fuzz:
	@found=; \
	for package in $$(grep -rl --include='*_test.go' --exclude-dir=vendor '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$package \
				|| found="$$found $$package:$$target"; \
		done; \
	done; \
	if [ -n "$$found" ]; then echo "found something:$$found"; exit 1; fi

# Kills, stops, hangs and cuts off a random worker of three on three hosts of the lab at a random step,
# FAULTS times each, and resumes the run; loses 30 % of all packets; mixes collectives.
FAULTS ?= 20
faults:
	go test -count=1 -timeout 3h -parallel 3 -v -run 'TestFaults|TestTheLaunchersHostIsCutOff|TestAFullDisk|TestAHostIsLost|TestLaunchGoesOnWithoutACutHost' ./app/command \
		-faults $(FAULTS) -faultfile "$(FAULTFILE)"
	go test -count=$(FAULTS) -run '/^Mismatch$$' ./comm/...

# Lets everything that may not join a job, or keeps one from starting, try; REFUSALFILE gets what was said.
REFUSALS = TestWhoMayNotJoin|TestRankZeroIsElsewhere|TestHostsThat|TestDoctorOverSSH|TestDataReaches|TestAFullDiskOnAHost
refusals:
	go test -count=1 -v -run '$(REFUSALS)' ./app/command -refusalfile "$(REFUSALFILE)"

bench: build
	./bin/lockstep bench --quick

# Measures for about 35 minutes, on a machine with nothing else to do: 20 pairs of equal rows, of which at most one
# may be called different, and 20 of which one row is 5 % slower.
trust:
	go test -count=1 -tags trust -run TestTrust -timeout 60m -v ./app/command

# Rewrites golden files; review the diff.
golden:
	go test ./train ./recipe ./app/command ./app/report ./app/record -update
