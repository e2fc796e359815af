"""Writes golden.json: five sets of predictions with scikit-learn's figures of them.

    python3 golden.py > golden.json        # needs numpy and scikit-learn (1.9.1 wrote the file that is here)

Outputs and targets are in 64ths, so that a float32 holds them and some are equal.
"""
import json
import warnings

import numpy as np
import sklearn.metrics as m

warnings.simplefilter("ignore")


def classes(name, n, shares, skill, seed, absent=()):
    r = np.random.default_rng(seed)
    k = len(shares)
    y = r.choice(k, n, p=np.array(shares) / sum(shares))
    y[np.isin(y, absent)] = 0
    z = np.round(64 * (r.normal(size=(n, k)) * 1.5 + skill * np.eye(k)[y] + np.log(np.array(shares) + 1e-3)))
    x = z / 64
    e = np.exp(x - x.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    said, every = x.argmax(1), list(range(k))
    one = [m.precision_recall_fscore_support(y, said, labels=every, zero_division=0)]
    roc = [m.roc_auc_score(y == c, p[:, c]) if 0 < (y == c).sum() < n else None for c in every]
    ap = [m.average_precision_score(y == c, p[:, c]) if (y == c).any() else None for c in every]
    seen = sorted(set(y) | set(said))
    want = {
        "accuracy": m.accuracy_score(y, said), "balanced": m.balanced_accuracy_score(y, said),
        "kappa": m.cohen_kappa_score(y, said), "matthews": m.matthews_corrcoef(y, said),
        "macro": m.precision_recall_fscore_support(y, said, labels=seen, average="macro", zero_division=0)[:3],
        "weighted": m.precision_recall_fscore_support(y, said, average="weighted", zero_division=0)[:3],
        "precision": one[0][0].tolist(), "recall": one[0][1].tolist(), "f1": one[0][2].tolist(),
        "confusion": m.confusion_matrix(y, said, labels=every).ravel().tolist(),
        "log_loss": float(np.mean([-np.log(p[i, c]) for i, c in enumerate(y)])),
        "roc_auc": roc, "average_precision": ap,
    }
    if k > 3:
        # scikit-learn prefers the last of equal outputs, so the classes are given backwards
        want["top3"] = m.top_k_accuracy_score(k - 1 - y, x[:, ::-1], k=3, labels=every)
    return {"name": name, "outputs": z.astype(int).ravel().tolist(), "num_outputs": k, "labels": y.tolist(),
            "want": want}


def values(name, n, k, noise, seed):
    r = np.random.default_rng(seed)
    t = np.round(64 * r.normal(size=(n, k)) * 3)
    o = np.round(t + 64 * noise * r.normal(size=(n, k)))
    want = {"mae": m.mean_absolute_error(t / 64, o / 64), "rmse": m.mean_squared_error(t / 64, o / 64) ** 0.5,
            "r2": m.r2_score(t / 64, o / 64), "worst": float(np.abs(t - o).max() / 64)}
    return {"name": name, "outputs": o.astype(int).ravel().tolist(), "num_outputs": k,
            "targets": t.astype(int).ravel().tolist(), "want": want}


print(json.dumps([
    classes("ten classes", 240, [1] * 10, 2.0, 1),
    classes("three classes, one rare and never predicted", 300, [80, 15, 0.7], 1.5, 2),
    classes("two classes", 200, [1, 2], 1.0, 3),
    classes("a class without samples", 150, [3, 2, 2, 1, 1], 2.0, 4, absent=(4,)),
    values("one value", 120, 1, 0.7, 5),
    values("three values", 80, 3, 2.0, 6),
]))
