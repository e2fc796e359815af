"""Holds what `lockstep export` writes to other programs: ONNX Runtime's probabilities beside those of `lockstep infer`, and
transformers' for a folder of huggingface. Needs torch, torchvision, onnx, onnxruntime, pillow; transformers for texts.

    python check.py LOCKSTEP_BINARY [FOLDER]        # prints a line for each network: the largest difference of a probability
"""
import json, os, subprocess, sys, tempfile
import numpy as np, onnx, onnxruntime, torch, torchvision
from PIL import Image

tool = os.path.abspath(sys.argv[1])
root = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
os.makedirs(root, exist_ok=True)
os.chdir(root)

def lockstep(*args, text=None):
    done = subprocess.run([tool, *args], input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"lockstep {' '.join(args)}: status {done.returncode}\n{done.stderr}")
    return done.stdout

def images(side):
    folder = f"images{side}"
    rng = np.random.default_rng(1)
    for part, count in (("train", 8), ("test", 5)):
        for k, name in enumerate(("amber", "blue", "cyan")):
            os.makedirs(f"{folder}/{part}/{name}", exist_ok=True)
            for i in range(count):
                pixels = rng.integers(0, 160, (side, side, 3)) + 30 * k
                Image.fromarray(pixels.astype(np.uint8)).save(f"{folder}/{part}/{name}/{i}.png")
    return folder

def session(path):
    onnx.checker.check_model(path)
    s = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return s, s.get_modelmeta().custom_metadata_map

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

def told(lines, classes):
    return np.array([[{t["label"]: t["probability"] for t in json.loads(l)["top"]}[c] for c in classes] for l in lines])

def check_images(name, model, side, *more):
    folder, run = images(side), f"run-{name}"
    if not os.path.exists(run):
        lockstep("train", "--model", model, "--data", folder, "--size", str(side), "--steps", "4", "--batch", "8", "--lr", "0.0003",
                 "--out", run, "--quiet", *more)
    lockstep("export", run, "--out", f"{name}.onnx")
    s, meta = session(f"{name}.onnx")
    lines = lockstep("infer", run, f"{folder}/test", "--json", "--top", "3").splitlines()
    paths, classes = [json.loads(l)["input"] for l in lines], json.loads(meta["lockstep.classes"])
    mean, std = (np.array(meta[k].split(","), "f4") for k in ("lockstep.mean", "lockstep.std"))
    x = np.stack([(np.asarray(Image.open(p), "f4") / 255 - mean) / std for p in paths]).transpose(0, 3, 1, 2)
    x = np.ascontiguousarray(x.astype("f4"))
    names = s.get_inputs()[0].name
    got = np.concatenate([softmax(s.run(None, {names: x[:4]})[0]), softmax(s.run(None, {names: x[4:]})[0])])
    assert lockstep("infer", f"{name}.onnx", f"{folder}/test", "--json", "--top", "3").splitlines() == lines or \
        np.abs(told(lockstep("infer", f"{name}.onnx", f"{folder}/test", "--json", "--top", "3").splitlines(), classes)
               - told(lines, classes)).max() < 1e-6
    print(f"{name:22} {np.abs(got - told(lines, classes)).max():.1e}  opset {onnx.load(f'{name}.onnx').opset_import[0].version}")

def check_texts(name, model, *more):
    words = "the a film was good bad dull fine and not very it of in to".split()
    open("vocab.txt", "w").write("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + words + ["."]))
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(words, n)) for n in rng.integers(1, 12, 24)]
    open("texts.csv", "w").write("text,label\n" + "".join(f"{t},{'yes' if 'good' in t else 'no'}\n" for t in texts))
    run = f"run-{name}"
    if not os.path.exists(run):
        lockstep("train", "--model", model, "--data", "./texts.csv", "--vocab", "vocab.txt", "--sequence", "16", "--steps", "4",
                 "--batch", "8", "--out", run, "--quiet", *more)
    lockstep("export", run, "--out", f"{run}/model.onnx")
    s, meta = session(f"{run}/model.onnx")
    new = "\n".join(texts) + "\n"
    lines = lockstep("infer", run, "-", "--json", "--top", "2", text=new).splitlines()
    ids = [json.loads(l) for l in lockstep("data", "tokenize", "--vocab", "vocab.txt", text=new).splitlines()]
    width = max(map(len, ids))
    feed = {"input_ids": np.array([i + [0] * (width - len(i)) for i in ids], "i8"),
            "attention_mask": np.array([[1] * len(i) + [0] * (width - len(i)) for i in ids], "i8"),
            "token_type_ids": np.zeros((len(ids), width), "i8")}
    got = softmax(s.run(None, {i.name: feed[i.name] for i in s.get_inputs()})[0])
    classes = json.loads(meta["lockstep.classes"])
    print(f"{name:22} {np.abs(got - told(lines, classes)).max():.1e}  opset {onnx.load(f'{run}/model.onnx').opset_import[0].version}")
    if more:
        return
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    lockstep("export", run, "--format", "huggingface", "--out", f"hf-{name}")
    net = AutoModelForSequenceClassification.from_pretrained(f"hf-{name}").eval()
    batch = AutoTokenizer.from_pretrained(f"hf-{name}")(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        other = net(**batch).logits.softmax(-1).numpy()
    order = [net.config.label2id[c] for c in classes]
    print(f"{name + ', transformers':22} {np.abs(other[:, order] - told(lines, classes)).max():.1e}")

def exported(net, x, path, **more):
    torch.onnx.export(net, x, path, input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}},
                      do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE, dynamo=False, **more)

def export_bert(path):
    """A small BERT as torch.onnx.export writes transformers' own."""
    from transformers import BertConfig, BertForSequenceClassification
    torch.manual_seed(3)
    c = BertConfig(vocab_size=21, hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128,
                   max_position_embeddings=64, attn_implementation="eager", return_dict=False)
    net = BertForSequenceClassification(c).eval()
    x = torch.randint(1, 21, (2, 9))
    axes = {n: {0: "batch", 1: "sequence"} for n in ("input_ids", "attention_mask", "token_type_ids")}
    torch.onnx.export(net, (x, torch.ones_like(x), torch.zeros_like(x)), path, input_names=list(axes), output_names=["logits"],
                      dynamic_axes=axes | {"logits": {0: "batch"}}, dynamo=False, do_constant_folding=False,
                      training=torch.onnx.TrainingMode.PRESERVE)

for name, model, side, more in (("lenet", "lenet", 32, []), ("mlp", "mlp", 16, []), ("vgg11", "vgg11", 32, []),
                                ("resnet20", "resnet20", 32, []), ("airbench", "airbench", 32, []),
                                ("resnet50 (32)", "resnet50", 32, []), ("resnet50 (96)", "resnet50", 96, [])):
    check_images(name.replace(" ", ""), model, side, *more)
torch.manual_seed(1)
for name in ("resnet18", "mobilenet_v2"):
    net = getattr(torchvision.models, name)(num_classes=3).eval()
    exported(net, torch.randn(2, 3, 64, 64), f"{name}-torch.onnx")
    check_images(f"{name}-from-torch", f"{name}-torch.onnx", 64)
check_texts("bert-tiny", "bert-tiny")
export_bert("bert-torch.onnx")
check_texts("bert-from-torch", "bert-torch.onnx", "--lr", "0.001")
