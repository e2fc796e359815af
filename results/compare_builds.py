"""Compares the step times of two builds of lockstep, in turn.

    python3 results/compare_builds.py OLD NEW ROUNDS FLAGS OF TRAIN...

Prints for each round the median and the mean step of both in milliseconds, without the first two steps, and
whether the parameters are the same; then the medians of the ratios old / new.
"""
import json
import statistics
import subprocess
import sys
import tempfile


def run(build, flags):
    with tempfile.TemporaryDirectory() as folder:
        out = folder + "/run"
        subprocess.run([build, "train", "--quiet", "--limit-test", "0", "--out", out, *flags], check=True,
                       stdout=subprocess.DEVNULL)
        with open(out + "/steps.jsonl") as lines:
            steps = [1e3 * json.loads(line)["seconds"] for line in lines][2:]
        with open(out + "/summary.json") as summary:
            digest = json.load(summary)["parameter_sha256"]
    return statistics.median(steps), statistics.mean(steps), digest


def main(old, new, rounds, *flags):
    medians, means = [], []
    for i in range(int(rounds)):
        order = (old, new) if i % 2 == 0 else (new, old)
        result = {build: run(build, flags) for build in order}
        (a, a_mean, a_digest), (b, b_mean, b_digest) = result[old], result[new]
        medians.append(a / b)
        means.append(a_mean / b_mean)
        print(f"old {a:.2f} (mean {a_mean:.2f}) new {b:.2f} (mean {b_mean:.2f}) ratio {a / b:.3f}, "
              f"{'same' if a_digest == b_digest else 'other'} parameters", flush=True)
    print(f"{' '.join(flags)}: old / new {statistics.median(medians):.3f}, of means {statistics.median(means):.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
