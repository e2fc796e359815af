# Targets: build check test race plain bench golden.
.PHONY: build check test race plain bench golden lint

build:
	CGO_ENABLED=0 go build -trimpath -o bin/lockstep ./cmd/lockstep

# What continuous integration runs, besides the README's test command.
check: lint race plain build

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' ':!vendor/')); \
	if [ -n "$$unformatted" ]; then echo "not gofmt'd: $$unformatted"; exit 1; fi
	go vet ./...
	cd tools && go build -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...
	go test -count=1 ./internal/archtest

test:
	go test ./...

race:
	go test -race -short ./comm/... ./gradsync/... ./cluster/... ./app/job/...

# The path of processors without our assembly.
plain:
	go test -short -tags purego ./internal/kernel/... ./graph/... ./train/...

bench: build
	./bin/lockstep bench --quick

# Rewrites golden files; review the diff.
golden:
	go test ./train ./app/command ./app/report -update
