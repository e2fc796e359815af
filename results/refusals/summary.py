#!/usr/bin/env python3
"""Prints the table of README.md from refusals.jsonl, which `make refusals REFUSALFILE=...` writes."""
import json
import pathlib

print("| what is wrong | status | after | what is said |")
print("|---|---|---|---|")
for line in sorted((pathlib.Path(__file__).parent / "refusals.jsonl").read_text().splitlines()):
    row = json.loads(line)
    said = row["said"].replace("lockstep: ", "").replace("|", "\\|")
    if len(said) > 260:
        said = said[:260].rsplit(" ", 1)[0] + " ..."
    print(f"| {row['case']} | {row['status']} | {row['ms'] / 1e3:.2f} s | {said} |")
