"""Writes onnx/testdata: small networks as torch.onnx.export writes them, by both exporters, inputs, the logits that
onnxruntime computes, and those after one step of SGD in PyTorch. Needs torch, torchvision, onnx, onnxruntime, transformers.

    python golden.py ../../onnx/testdata
"""
import io, os, sys
import numpy as np, onnx, onnxruntime, torch
from torch import nn

class Lenet(nn.Module):  # convolutions, batch norm, pools, a flattened map
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 4, 5), nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 6, 3, padding=1)
        self.fc1, self.fc2 = nn.Linear(6 * 3 * 3, 16), nn.Linear(16, 5)
    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc2(torch.relu(self.fc1(torch.flatten(x, 1))))
    shape = (1, 16, 16)

class Gate(nn.Module):  # squeeze and excitation
    def __init__(self, c):
        super().__init__()
        self.down, self.up = nn.Conv2d(c, 4, 1), nn.Conv2d(4, c, 1)
    def forward(self, x):
        return x * torch.sigmoid(self.up(nn.functional.silu(self.down(x.mean((2, 3), keepdim=True)))))

class Mobile(nn.Module):  # depthwise convolutions, gates, clipped and hard functions, residual sums
    def __init__(self):
        super().__init__()
        self.stem, self.bn = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8)
        self.depth, self.gate = nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), Gate(8)
        self.point, self.bn2 = nn.Conv2d(8, 8, 1, bias=False), nn.BatchNorm2d(8)
        self.mixed = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=2)
        self.head = nn.Linear(8, 5)
    def forward(self, x):
        x = nn.functional.relu6(self.bn(self.stem(x)))
        x = x + self.bn2(self.point(self.gate(nn.functional.hardswish(self.depth(x)))))
        x = nn.functional.leaky_relu(self.mixed(x), 0.1)
        return self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))
    shape = (3, 12, 12)

class Decoder(nn.Module):  # group norm, transposed convolution, concat, pad, slice, reductions, a permuted map
    def __init__(self):
        super().__init__()
        self.down, self.norm = nn.Conv2d(2, 8, 3, stride=2, padding=1), nn.GroupNorm(2, 8)
        self.up, self.out = nn.ConvTranspose2d(8, 4, 2, stride=2), nn.Conv2d(6, 4, 3)
        self.scale, self.ln = nn.Parameter(torch.linspace(0.5, 1.5, 4).view(4, 1, 1)), nn.LayerNorm(4)
        self.head = nn.Linear(8, 5)
    def forward(self, x):
        y = self.up(nn.functional.elu(self.norm(self.down(x))))
        y = self.out(nn.functional.pad(torch.cat([x, y], 1), (1, 0, 1, 0))) * self.scale
        y = self.ln(y.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        y = nn.functional.avg_pool2d(nn.functional.softplus(y[:, :, 1:, :-1]), 2)
        return self.head(torch.cat([y.amax((2, 3)), y.exp().sum((2, 3)).log()], 1))
    shape = (2, 8, 8)

class Transformer(nn.Module):  # patches, a class token, attention by products of batches, layer norm, GELU
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, stride=4)
        self.token = nn.Parameter(torch.randn(1, 1, 16) * 0.1)
        self.place = nn.Parameter(torch.randn(1, 5, 16) * 0.1)
        self.block = nn.TransformerEncoderLayer(16, 2, 24, 0.0, "gelu", batch_first=True, norm_first=True)
        self.head = nn.Linear(16, 5)
        nn.init.uniform_(self.block.self_attn.out_proj.bias)  # of zeros, the new exporter writes nothing
    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.place
        return self.head(self.block(x)[:, 0])
    shape = (3, 8, 8)

def export(model, x, path, dynamo):
    if dynamo:
        torch.onnx.export(model, (x,), path, dynamo=True, external_data=False, verbose=False,
                          dynamic_shapes=({0: torch.export.Dim("batch")},))
        slim = onnx.load(path)  # without the traces of Python's stack
        for node in slim.graph.node:
            del node.metadata_props[:]
            node.doc_string = ""
        del slim.graph.value_info[:], slim.graph.metadata_props[:], slim.metadata_props[:]
        onnx.save(slim, path)
    else:
        torch.onnx.export(model, (x,), path, dynamo=False, input_names=["x"], output_names=["y"],
                          dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}}, do_constant_folding=False,
                          training=torch.onnx.TrainingMode.PRESERVE)

def main(folder):
    for name, kind in (("lenet", Lenet), ("mobile", Mobile), ("decoder", Decoder), ("transformer", Transformer)):
        for dynamo in (False, True):
            torch.manual_seed(7)
            model = kind().eval()
            for m in model.modules():  # running statistics that are those of no batch
                if isinstance(m, nn.BatchNorm2d):
                    m.running_mean.uniform_(-0.2, 0.2), m.running_var.uniform_(0.5, 1.5)
                    with torch.no_grad():
                        m.weight.uniform_(0.5, 1.5), m.bias.uniform_(-0.2, 0.2)
            x, labels = torch.randn(6, *kind.shape), torch.arange(6) % 5
            path = os.path.join(folder, f"{name}-{'new' if dynamo else 'old'}.onnx")
            export(model, x[:2], path, dynamo)
            session = onnxruntime.InferenceSession(path)
            y = session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]
            assert np.abs(y - model(x).detach().numpy()).max() < 1e-5
            if not dynamo:
                model.train()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            nn.functional.cross_entropy(model(x), labels).backward()
            optimizer.step()
            after = model.eval()(x).detach().numpy()
            np.concatenate([a.astype("<f4").ravel() for a in (x.numpy(), y, after)]).tofile(path[:-5] + ".f32")

def texts(folder):
    """A small BERT of transformers by both exporters: token numbers, lengths, logits, and those after one step."""
    from transformers import BertConfig, BertForSequenceClassification
    lengths = torch.tensor([8, 3, 5, 1, 7, 2])
    names = ("input_ids", "attention_mask", "token_type_ids")
    for dynamo in (False, True):
        torch.manual_seed(7)
        net = BertForSequenceClassification(BertConfig(
            vocab_size=21, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, num_labels=5,
            max_position_embeddings=12, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, return_dict=False)).eval()
        for p in net.parameters():  # no two alike
            torch.nn.init.normal_(p, 1.0 if p.dim() == 1 else 0.0, 0.3)
        ids = torch.randint(1, 21, (6, 8))
        mask = (torch.arange(8) < lengths[:, None]).long()
        x = (ids * mask, mask, torch.zeros_like(ids))
        path = os.path.join(folder, "texts", f"bert-{'new' if dynamo else 'old'}.onnx")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if dynamo:
            dims = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence", max=12)}
            torch.onnx.export(net, x, path, dynamo=True, external_data=False, verbose=False, input_names=list(names),
                              dynamic_shapes=(dims, dims, dims))
            slim = onnx.load(path)
            for node in slim.graph.node:
                del node.metadata_props[:]
                node.doc_string = ""
            del slim.graph.value_info[:], slim.graph.metadata_props[:], slim.metadata_props[:]
            onnx.save(slim, path)
        else:
            axes = {n: {0: "batch", 1: "sequence"} for n in names}
            torch.onnx.export(net, x, path, dynamo=False, input_names=list(names), output_names=["logits"], dynamic_axes=axes,
                              do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
        y = onnxruntime.InferenceSession(path).run(None, {n: v.numpy() for n, v in zip(names, x)})[0]
        assert np.abs(y - net(*x)[0].detach().numpy()).max() < 1e-5
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        nn.functional.cross_entropy(net(*x)[0], torch.arange(6) % 5).backward()
        optimizer.step()
        after = net(*x)[0].detach().numpy()
        np.concatenate([a.astype("<f4").ravel() for a in (x[0].numpy(), lengths.numpy(), y, after)]).tofile(path[:-5] + ".f32")

main(sys.argv[1])
texts(sys.argv[1])
