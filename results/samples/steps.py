"""The time of a step of samples in their file over that of the same in memory. Standard library only.

    python3 results/samples/make.py FOLDER --small
    python3 results/samples/steps.py LOCKSTEP FOLDER [--rounds 5] [--models lenet,resnet20] [-- TRAIN FLAGS]

Runs take turns: from memory, from the file, five rounds, two workers with a thread each. Prints each round's medians,
their ratios, the median of the ratios, and resident memory. Exits with 1 if hashes differ or a ratio is over 1.03.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

STEPS = {"lenet": 700, "resnet20": 40}


def train(a, model, resident, flags):
    with tempfile.TemporaryDirectory() as out:
        p = subprocess.run([a.lockstep, "train", "--model", model, "--data", os.path.join(a.folder, "sub"), "--workers", "2",
                            "--threads", "1", "--batch", "128", "--steps", str(STEPS.get(model, 100)), "--eval-every", "0",
                            "--limit-test", "0", "--seed", "3", "--resident", resident, "--json", "--quiet", "--out",
                            os.path.join(out, "run"), *flags], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"train {model} --resident {resident}: status {p.returncode}\n{p.stderr}")
    d = json.loads(p.stdout)
    return d["step_ms"]["median"], d["parameter_sha256"], max(r["peak_rss_bytes"] for r in d["ranks"])


def main():
    argv, flags = sys.argv[1:], []
    if "--" in argv:
        argv, flags = argv[:argv.index("--")], argv[argv.index("--") + 1:]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("lockstep")
    p.add_argument("folder")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--models", default="lenet,resnet20")
    p.add_argument("--resident", default="100MB", help="of the runs from the file")
    p.add_argument("--most", type=float, default=1.03)
    a = p.parse_args(argv)
    failed = False
    for model in a.models.split(","):
        ratios = []
        for k in range(a.rounds):
            turns = ["3GB", a.resident] if k % 2 == 0 else [a.resident, "3GB"]
            got = {r: train(a, model, r, flags) for r in turns}
            memory, file = got["3GB"], got[a.resident]
            ratios.append(file[0] / memory[0])
            same = memory[1] == file[1]
            failed |= not same
            print(f"{model} round {k + 1}: memory {memory[0]:.3f} ms, {memory[2] / 1e6:.0f} MB; file {file[0]:.3f} ms, "
                  f"{file[2] / 1e6:.0f} MB; ratio {ratios[-1]:.3f}; hash {file[1][:16]}" +
                  ("" if same else f", of memory {memory[1][:16]}: DIFFERENT"), flush=True)
        middle = statistics.median(ratios)
        failed |= middle > a.most
        print(f"{model}: ratio {middle:.3f} ({min(ratios):.3f} to {max(ratios):.3f}), wanted at most {a.most}", flush=True)
    sys.exit(1 if failed else 0)


main()
