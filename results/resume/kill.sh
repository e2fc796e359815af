#!/bin/sh
# Kills one worker or a whole run at random moments, resumes it on 1 to 3 workers each time, and compares the final
# hash with the undisturbed run's. Usage: results/resume/kill.sh LOCKSTEP KILLS
set -eu
lockstep=$1 kills=$2
folder=$(mktemp -d)
cd "$folder"
settings="--shards 4 --limit-train 4000 --limit-test 100 --steps 3000 --threads 1"
hash() { sed -n 's/^  "parameter_sha256": "\(.*\)",/\1/p' "$1/summary.json"; }
newest() { ls -t run/checkpoints 2>/dev/null | head -n 1; }
# shellcheck disable=SC2086 # a list of words
"$lockstep" train --quiet --out whole $settings >/dev/null
# shellcheck disable=SC2086
"$lockstep" train --quiet --out run --workers 2 --checkpoint-every 25 $settings >/dev/null 2>log &
before='' i=0
while [ "$i" -lt "$kills" ]; do
    launcher=$! victim=$!
    # Some way beyond a checkpoint that this part has written.
    while [ "$(newest)" = "$before" ] && kill -0 "$launcher" 2>/dev/null; do sleep 0.05; done
    sleep "$(awk -v s="$$$i" 'BEGIN { srand(s); print 0.6 * rand() }')"
    worker=$(sed -n 's/.*pid \([0-9]*\),.*/\1/p' run/rank1.log 2>/dev/null | tail -n 1)
    # The number may be that of an earlier part, and somebody else's process by now.
    if [ $((i % 2)) -eq 0 ] && grep -q "^PPid:.$launcher\$" "/proc/${worker:-none}/status" 2>/dev/null; then
        victim=$worker
    fi
    kill -9 "$victim" 2>/dev/null || break # the run was faster
    wait "$launcher" 2>/dev/null || true
    i=$((i + 1)) before=$(newest)
    sleep 0.2 # the other workers die with the launcher
    echo "kill $i: $([ "$victim" = "$launcher" ] && echo all || echo 'rank 1'), newest $before"
    "$lockstep" train --quiet --resume run --workers $((1 + i % 3)) --threads 1 >/dev/null 2>log &
done
wait $!
echo "undisturbed $(hash whole)"
echo "resumed     $(hash run)"
[ "$(hash whole)" = "$(hash run)" ] && echo equal
