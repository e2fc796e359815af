#!/bin/sh
# Usage: show.sh LOCKSTEP FOLDER. Trains on more samples than it may hold, with what make.py wrote to FOLDER: the same
# hash as from memory, in bounded memory, and the same again after kill -9 and with three workers. Takes a minute.
set -u
L=$1
cd "$2" || exit 2
rm -rf r-memory r-file r-whole r-killed
common="--model lenet --batch 256 --shards 6 --seed 3 --eval-every 0 --lr 0.01 --steps 150"
tell='import json,sys
d = json.load(sys.stdin)
print(d["parameter_sha256"][:16], "accuracy", d["test_accuracy"], "workers", d["workers"], "MB of each rank",
      [round(r.get("peak_rss_bytes", 0) / 1e6) for r in d["ranks"]], "ms", d["step_ms"])'
echo "first 200,000 samples, in memory"
$L train --data sub $common --workers 2 --json --out r-memory 2>log | python3 -c "$tell"
echo "the same of the large file, --resident 400MB"
$L train --data big --limit-train 200000 $common --workers 2 --resident 400MB --json --out r-file 2>log | python3 -c "$tell"
grep -a memory: log
echo "all 2,700,000"
$L train --data big $common --workers 2 --resident 400MB --json --out r-whole 2>log | python3 -c "$tell"
echo "all, killed after about 60 steps, resumed with three workers"
$L train --data big $common --workers 2 --resident 400MB --checkpoint-every 20 --out r-killed >log 2>&1 &
p=$!
until [ "$(cat r-killed/steps.jsonl 2>/dev/null | wc -l)" -gt 120 ]; do sleep 0.2; done
kill -9 $p $(ps -o pid= --ppid $p)
wait $p 2>/dev/null
$L train --resume r-killed --workers 3 --json 2>log | python3 -c "$tell"
grep -a resuming log
