"""Times attention by one thread, in turn with PyTorch's scaled_dot_product_attention, and prints a table.

    python3 results/kernels/attention.py [ROUNDS]        (go, torch)

4096 tokens in texts of equal length, four heads of 64 features, float32, no dropout. Forward and backward each:
the least time of a call of all rounds in milliseconds and, of ours, the share of the peak of that instruction set,
which counts the products alone (BenchmarkAttention of internal/kernel/attend).
"""
import os
import re
import subprocess
import sys
import tempfile
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import torch  # noqa: E402, which counts the cores that it may have
from torch.nn.functional import scaled_dot_product_attention  # noqa: E402

TOKENS, HEADS, SIZE, LENGTHS = 4096, 4, 64, (128, 512, 1024, 4096)
torch.set_num_threads(1)


def ours(test, length, causal):
    """Returns {(isa, direction): (ms, % of peak, KiB)}."""
    text = subprocess.run([test, "-test.run", "^$", "-test.benchtime", "0.2s", "-test.bench",
                           f"^BenchmarkAttention$/./^{length}$/^causal={str(causal).lower()}$"],
                          check=True, capture_output=True, text=True).stdout
    line = r"Attention/(\w+)/\d+/causal=\w+/(\w+)\S*\s+\d+\s+(\S+) %ofpeak\s+(\S+) KiB\s+(\S+) ms"
    return {(isa, way): (float(ms), float(share), float(kib))
            for isa, way, share, kib, ms in re.findall(line, text)}


def timed(f):
    f()
    times, end = [], time.perf_counter() + 0.3
    while len(times) < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        f()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def theirs(length, causal):
    shape = (TOKENS // length, length, HEADS, SIZE)
    q, k, v = (torch.randn(shape).transpose(1, 2).requires_grad_() for _ in range(3))
    dy = torch.randn(shape).transpose(1, 2)
    with torch.no_grad():
        forward = timed(lambda: scaled_dot_product_attention(q, k, v, is_causal=causal))
    y = scaled_dot_product_attention(q, k, v, is_causal=causal)
    backward = timed(lambda: torch.autograd.grad(y, (q, k, v), dy, retain_graph=True))
    return {("PyTorch", "forward"): (forward,), ("PyTorch", "backward"): (backward,)}


def main(rounds=5):
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        test = os.path.join(folder, "attend.test")
        subprocess.run(["go", "test", "-c", "-o", test, "./internal/kernel/attend"], check=True)
        for _ in range(int(rounds)):
            for case in [(length, causal) for length in LENGTHS for causal in (False, True)]:
                for key, value in {**ours(test, *case), **theirs(*case)}.items():
                    results.setdefault((case, key), []).append(value)
    columns = list(dict.fromkeys(key for _, key in results))
    print("| tokens | | KiB | " + " | ".join(f"{name}, {way}" for name, way in columns) + " |")
    print("|--:|---|--:|" + "--:|" * len(columns))
    for case in dict.fromkeys(case for case, _ in results):
        cells = []
        for key in columns:
            ms, *share = min(results[case, key])
            cells.append(f"{ms:.2f}" + (f" ({share[0]:.0f} %)" if share else ""))
        kib = results[case, columns[0]][0][2]
        print(f"| {case[0]} | {'causal' if case[1] else 'all'} | {kib:.0f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
