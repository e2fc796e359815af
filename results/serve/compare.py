"""Predict, serve and ONNX Runtime, turn by turn on one machine: the same weights, inputs and threads.

    python -m venv /tmp/venv-ort && /tmp/venv-ort/bin/pip install numpy torch torchvision onnx onnxscript onnxruntime transformers
    make build && /tmp/venv-ort/bin/python results/serve/compare.py --out compare.jsonl

resnet50 (224 pixels) and bert-base (128 tokens) with random weights are exported by torch.onnx.export, and saved for
Lockstep as safetensors. One line of JSON for each network, threads and batch: seconds of each turn, medians, the median of the
turns' ratios to ONNX Runtime's, and the largest difference of the logits as a part of the largest one. A turn
is a call of each, in an order that rotates; before each call the machine rests, since ONNX Runtime's threads
spin. Serve is asked over HTTP: its times have the request's body in them, base64 in JSON for batches.
"""
import argparse, base64, http.client, json, os, pathlib, socket, statistics, subprocess, sys, time

import numpy as np
import onnxruntime as ort

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("LOCKSTEP", str(ROOT / "bin/lockstep"))
REST = 0.05  # seconds before a call


def export(folder, model):
    """Writes FOLDER/net.onnx and FOLDER/model.safetensors."""
    import torch
    torch.manual_seed(1)
    if model == "resnet50":
        import torchvision
        from safetensors.torch import save_file
        net = torchvision.models.resnet50().eval()
        for m in net.modules():  # running statistics of a network that was trained are no zeros and ones
            if isinstance(m, torch.nn.BatchNorm2d):
                m.running_mean.normal_(0, 0.1)
                m.running_var.uniform_(0.5, 2)
        save_file(net.state_dict(), folder / "model.safetensors")
        args, names, axes = (torch.zeros(1, 3, 224, 224),), ["images"], {"images": {0: "n"}}
    else:
        from transformers import BertConfig, BertForSequenceClassification
        net = BertForSequenceClassification(BertConfig(num_labels=2, attn_implementation="eager")).eval()
        net.save_pretrained(folder)
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [f"w{i}" for i in range(30522 - 5)]
        (folder / "vocab.txt").write_text("\n".join(words) + "\n")
        args = (torch.ones(1, 128, dtype=torch.long), torch.ones(1, 128, dtype=torch.long))
        names, axes = ["input_ids", "attention_mask"], {n: {0: "n"} for n in ("input_ids", "attention_mask")}
    torch.onnx.export(net, args, folder / "net.onnx", input_names=names, output_names=["logits"],
                      dynamic_axes={**axes, "logits": {0: "n"}}, opset_version=17, dynamo=False)


class Predict:
    """Lockstep's Predictor in a process of its own."""

    def __init__(self, binary, folder, model, threads, inputs):
        inputs.tofile(folder / "inputs")
        self.p = subprocess.Popen([binary, folder, model, "224", str(threads), folder / "inputs"], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, n):
        print(n, file=self.p.stdin, flush=True)
        return self.p.stdout.readline()

    def call(self, n):
        return int(self.ask(n)) / 1e9

    def logits(self, n):
        return np.array([float(x) for x in self.ask(-n).strip("[]\n").split()])

    def close(self):
        self.p.stdin.close()
        self.p.wait()


class Serve:
    """lockstep serve, asked over HTTP."""

    def __init__(self, folder, model, threads, inputs):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.p = subprocess.Popen([BINARY, "serve", folder, "--model", model, "--size", "224", "--threads", str(threads),
                                   "--max-body", str(64 << 20), "--listen", f"127.0.0.1:{self.port}"])
        self.c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        for _ in range(300):
            try:
                self.send("GET", "/healthz", None, {})
                break
            except OSError:
                self.c.close()
                time.sleep(0.1)
        if inputs.dtype == np.int32:
            each = [{"tokens": row.tolist()} for row in inputs]
        else:
            pixels = (inputs * 50 + 128).clip(0, 255).astype(np.uint8)
            each = [{"pixels": base64.b64encode(row.tobytes()).decode()} for row in pixels]
        self.bodies = {n: json.dumps({"inputs": each[:n]}) for n in (1, 32)}

    def send(self, method, path, body, head):
        self.c.request(method, path, body, head)
        r = self.c.getresponse()
        text = r.read()
        if r.status != 200:
            raise RuntimeError(f"{r.status} {text[:200]}")

    def call(self, n):
        began = time.perf_counter()
        self.send("POST", "/v1/predict", self.bodies[n], {"Content-Type": "application/json"})
        return time.perf_counter() - began

    def close(self):
        self.p.terminate()
        self.p.wait()


class Runtime:
    """ONNX Runtime in this process."""

    def __init__(self, folder, threads, inputs):
        o = ort.SessionOptions()
        o.intra_op_num_threads = threads
        o.inter_op_num_threads = 1
        self.s = ort.InferenceSession(folder / "net.onnx", o, providers=["CPUExecutionProvider"])
        if inputs.dtype == np.int32:
            ids = inputs.astype(np.int64)
            self.feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        else:
            self.feed = {"images": np.ascontiguousarray(inputs.transpose(0, 3, 1, 2))}

    def run(self, n):
        return self.s.run(None, {k: v[:n] for k, v in self.feed.items()})[0]

    def call(self, n):
        began = time.perf_counter()
        self.run(n)
        return time.perf_counter() - began

    def logits(self, n):
        return self.run(n).ravel()

    def close(self):
        pass


def compare(folder, model, threads, a, binary):
    rng = np.random.default_rng(1)
    if model == "resnet50":
        inputs = rng.standard_normal((32, 224, 224, 3)).astype(np.float32)
    else:
        inputs = rng.integers(1000, 30000, (32, 128)).astype(np.int32)
    ways = {"onnxruntime": Runtime(folder, threads, inputs), "predict": Predict(binary, folder, model, threads, inputs)}
    if not a.no_serve:
        ways["serve"] = Serve(folder, model, threads, inputs)
    for batch in a.batches:
        want, got = (ways[w].logits(batch) for w in ("onnxruntime", "predict"))
        took = {name: [] for name in ways}
        for turn in range(-2, a.turns):
            names = list(ways)
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                time.sleep(REST)
                s = ways[name].call(batch)
                if turn >= 0:
                    took[name].append(round(s, 6))
        ratio = {name: statistics.median(x / y for x, y in zip(took[name], took["onnxruntime"]))
                 for name in ways if name != "onnxruntime"}
        yield {"model": model, "threads": threads, "batch": batch, "seconds": took,
               "median": {name: statistics.median(s) for name, s in took.items()}, "ratio": ratio,
               "difference": float(abs(got - want).max() / abs(want).max()), "onnxruntime": ort.__version__}
    for w in ways.values():
        w.close()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", nargs="+", default=["resnet50", "bert-base"])
    p.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    p.add_argument("--batches", nargs="+", type=int, default=[1, 32])
    p.add_argument("--turns", type=int, default=15)
    p.add_argument("--no-serve", action="store_true")
    p.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/lockstep-compare"), help="exported networks")
    p.add_argument("--out", help="JSON lines are added to it")
    a = p.parse_args()
    a.folder.mkdir(exist_ok=True)
    binary = a.folder / "predict"
    subprocess.run(["go", "build", "-trimpath", "-o", binary, "results/serve/testdata/predict.go"], cwd=ROOT, check=True)
    for model in a.models:
        folder = a.folder / model
        if not (folder / "net.onnx").exists():
            folder.mkdir(exist_ok=True)
            export(folder, model)
        for threads in a.threads:
            for row in compare(folder, model, threads, a, binary):
                ms = ", ".join(f"{k} {1e3 * v:.1f} ms" for k, v in row["median"].items())
                ratios = ", ".join(f"{k} {v:.2f}" for k, v in row["ratio"].items())
                print(f"{model} {threads} threads batch {row['batch']}: {ms}; ratios {ratios}; difference {row['difference']:.1e}",
                      file=sys.stderr, flush=True)
                if a.out:
                    with open(a.out, "a") as f:
                        f.write(json.dumps(row) + "\n")


main()
