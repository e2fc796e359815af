#!/usr/bin/env python3
"""Prints the tables of README.md from faults.jsonl, which `make faults FAULTFILE=...` writes."""
import json
import pathlib
import statistics

rows, mended = {}, {}
for line in (pathlib.Path(__file__).parent / "faults.jsonl").read_text().splitlines():
    row = json.loads(line)
    if "mended_by" in row:
        mended.setdefault((row["fault"], row["mended_by"]), []).append(row)
    else:
        rows.setdefault(row["fault"], []).append(row)
print("| fault | rounds | named by all survivors after, median | worst | launcher has ended, worst | hashes |")
print("|---|---|---|---|---|---|")
for fault, all_rounds in rows.items():
    named = [r.get("ms", 0) / 1e3 for r in all_rounds]
    ended = max(r["end_ms"] for r in all_rounds) / 1e3
    hashes = len({r["parameter_sha256"] for r in all_rounds})
    print(f"| {fault} | {len(named)} | {statistics.median(named):.2f} s | {max(named):.2f} s | {ended:.1f} s | {hashes} |")

print("\n| fault | started again by | rounds | undisturbed hash | from the fault to the end of the run, median | worst |")
print("|---|---|---|---|---|---|")
for (fault, by), all_rounds in mended.items():
    ended = [r["end_ms"] / 1e3 for r in all_rounds]
    usual = max(r["parameter_sha256"] for r in all_rounds)
    same = sum(r["parameter_sha256"] == usual for r in all_rounds)
    print(f"| {fault} | `{by}` | {len(ended)} | {same} | {statistics.median(ended):.1f} s | {max(ended):.1f} s |")
