#!/bin/sh
# Usage: show.sh LOCKSTEP FOLDER [RESIDENT]. Trains on more samples than a process may hold, on those that make.py wrote
# to FOLDER: the same hash as from memory, resident memory within the bound (400MB), and the same hash again after
# kill -9 in the middle of an epoch and with three workers. Exits with 1 if any of that does not hold. Takes a minute.
set -u
lockstep=$(readlink -f "$1") || exit 2
cd "$2" || exit 2
resident=${3:-400MB}
rm -rf r-memory r-file r-whole r-killed
common="--model lenet --batch 256 --shards 6 --seed 3 --eval-every 0 --lr 0.01 --steps 150 --json"
failed=0

# tell RUN WHAT prints what a run came to. It fails where a process took more memory than it may, if WHAT is of a file.
tell() {
	python3 - "$1" "$2" "$resident" <<-'END' || failed=1
		import json, re, sys
		run, what, resident = sys.argv[1:]
		d = json.load(open(run + "/summary.json"))
		number, unit = re.fullmatch(r"([0-9.]+)([KMG]i?B)", resident).groups()
		bound = float(number) * (1024 if "i" in unit else 1000) ** ("KMG".index(unit[0]) + 1)
		peaks = [r["peak_rss_bytes"] for r in d["ranks"]]
		print(f"{what}: {d['workers']} workers, {d['steps']} steps, hash {d['parameter_sha256'][:16]}, "
		      f"accuracy {d['test_accuracy']}, peak of each {[round(p / 1e6) for p in peaks]} MB, "
		      f"step {d['step_ms']['median']:.2f} ms")
		assert run == "r-memory" or max(peaks) <= bound, f"a process took {max(peaks)} bytes, may take {resident}"
	END
}

# train OUT FLAGS... trains, and ends the show if that fails.
train() {
	out=$1
	shift
	"$lockstep" train "$@" $common --out "$out" >"log-$out" 2>&1 || { cat "log-$out"; exit 1; }
}

hash_of() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["parameter_sha256"])' "$1/summary.json"; }

# same RUN RUN fails where two runs have different hashes.
same() {
	[ "$(hash_of "$1")" = "$(hash_of "$2")" ] && return
	echo "FAILED: $1 and $2 have different hashes"
	failed=1
}

train r-memory --data sub --workers 2
tell r-memory "the first samples, in memory"
train r-file --data big --limit-train 200000 --workers 2 --resident "$resident"
tell r-file "the same of the large file, --resident $resident"
grep -a -h memory: log-r-file
same r-memory r-file
train r-whole --data big --workers 2 --resident "$resident"
tell r-whole "all of $(du -h -L big/train.npy | cut -f1)"

"$lockstep" train --data big $common --workers 2 --resident "$resident" --checkpoint-every 20 --out r-killed >log-r-killed 2>&1 &
launcher=$!
until [ "$(cat r-killed/steps.jsonl 2>/dev/null | wc -l)" -gt 120 ] || ! kill -0 $launcher 2>/dev/null; do sleep 0.02; done
kill -9 $launcher $(ps -o pid= --ppid $launcher)
wait $launcher 2>/dev/null
[ -e r-killed/summary.json ] && { echo "FAILED: the run ended before it was killed"; exit 1; }
"$lockstep" train --resume r-killed --workers 3 >log-r-resumed 2>&1 || { cat log-r-resumed; exit 1; }
grep -a -h resuming log-r-resumed
tell r-killed "all, killed, resumed by three"
same r-whole r-killed
[ $failed = 0 ] && echo "passed"
exit $failed
