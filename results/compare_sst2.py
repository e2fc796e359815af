#!/usr/bin/env python3
"""Time training steps on SST-2 of Lockstep, without padding, and of PyTorch, padded, in turn.

    LOCKSTEP_DATA=FOLDER results/compare_sst2.py --model bert-mini --batch 32 --threads 1

results/peers has common.py and bert.py, the PyTorch model and its optimizer; it runs tuned. Its batches are
the training texts in random order, cut at 128 tokens, padded to the longest text of the batch, with an
attention mask. Ours are of as many texts, shuffled, with padding left out. Both sides: SGD with momentum
0.9 and weight decay 1e-4, --steps steps, the mean time of a step. Needs torch and transformers (for the
tokenizer). Ours computes as each of --math says in turn.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--model", default="bert-mini")
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--pairs", type=int, default=5)
parser.add_argument("--math", default="fast")
parser.add_argument("--binary", default="bin/lockstep")
parser.add_argument("--python", default=sys.executable, help="a Python that has torch and transformers")
parser.add_argument("--theirs", action="store_true", help="time PyTorch alone and print seconds")
a = parser.parse_args()


def theirs():
    sys.path.insert(0, PEERS)
    import common
    common.enter_env("tuned", a.threads)
    import torch
    import transformers
    torch.manual_seed(0)
    torch.set_num_threads(a.threads)
    torch.set_num_interop_threads(1)
    data = os.environ["LOCKSTEP_DATA"]
    words = transformers.BertTokenizerFast(vocab_file=data + "/bert-base-uncased/vocab.txt", do_lower_case=True)
    with open(data + "/sst-2/train.tsv", encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f][1:]
    random.Random(1).shuffle(rows)
    net = common.build(a.model)[0]
    net.train()
    optimizer, loss_fn = common.sgd(net.parameters()), torch.nn.CrossEntropyLoss()
    times, tokens, padded = [], 0, 0
    for i in range(a.steps + 2):
        batch = rows[i * a.batch:(i + 1) * a.batch]
        x = words([text for _, text in batch], truncation=True, max_length=128, padding=True,
                  return_tensors="pt")
        y = torch.tensor([int(label) for label, _ in batch])
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss_fn(net(x["input_ids"], x["attention_mask"].float()), y).backward()
        optimizer.step()
        times.append(time.perf_counter() - begin)
        tokens, padded = tokens + int(x["attention_mask"].sum()), padded + x["input_ids"].numel()
    print(json.dumps({"seconds": statistics.mean(times[2:]), "tokens_of_padded": tokens / padded}))


def ours(math):
    with tempfile.TemporaryDirectory() as out:
        command = [a.binary, "train", "--quiet", "--json", "--model", a.model, "--data", "sst2", "--batch",
                   str(a.batch), "--threads", str(a.threads), "--steps", str(a.steps), "--lr", "0.01",
                   "--weight-decay", "1e-4", "--sequence", "128", "--limit-test", "0", "--math", math,
                   "--out", out + "/run"]
        run = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return sum(run["phases"].values()) / run["steps"]


if a.theirs:
    theirs()
    sys.exit()
ratios = {math: [] for math in a.math.split(",")}
for pair in range(a.pairs):
    done = subprocess.run([a.python, __file__, "--theirs"] + sys.argv[1:], check=True, capture_output=True)
    other = json.loads(done.stdout.splitlines()[-1])
    for math in ratios:
        own = ours(math)
        ratios[math].append(other["seconds"] / own)
        print(json.dumps({"data": "sst2", "model": a.model, "batch": a.batch, "threads": a.threads,
                          "pair": pair + 1, "math": math, "lockstep_ms": round(own * 1e3, 2),
                          "torch_ms": round(other["seconds"] * 1e3, 2),
                          "tokens_of_padded": round(other["tokens_of_padded"], 3),
                          "torch_over_lockstep": round(ratios[math][-1], 3)}), flush=True)
for math, list in ratios.items():
    print(json.dumps({"data": "sst2", "model": a.model, "batch": a.batch, "threads": a.threads, "math": math,
                      "median_torch_over_lockstep": round(statistics.median(list), 3),
                      "min": round(min(list), 3), "max": round(max(list), 3)}))
