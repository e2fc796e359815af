#!/bin/sh
# Joins workers of one job over TCP, each with a kernel path and a program of its own, and prints where the job ends.
#
#     results/onehash/mixed.sh avx2=./lockstep plain=./lockstep "neon=qemu-aarch64 ./lockstep-arm64"
#
# FLAGS are those of train, by default those of lenet in onehash.py, whose hash it must be.
set -eu
: "${FLAGS:=--model lenet --data synthetic --batch 48 --optimizer sgd --steps 20 --shards 3 --limit-test 24 --seed 7}"
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
export PET_NNODES=$# PET_NPROC_PER_NODE=1 PET_MASTER_ADDR=127.0.0.1 PET_MASTER_PORT="${PORT:-29517}"
LOCKSTEP_TOKEN=$(${1#*=} token)
export LOCKSTEP_TOKEN
PET_NODE_RANK=0
for worker; do
	export PET_NODE_RANK LOCKSTEP_ISA="${worker%%=*}"
	# The program may be an emulator with its argument.
	${worker#*=} train $FLAGS --out "$folder/run" --quiet >/dev/null &
	PET_NODE_RANK=$((PET_NODE_RANK + 1))
done
wait
grep -E '^  "(isa|parameter_sha256|test_loss)"' "$folder/run/summary.json"
