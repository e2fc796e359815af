"""A served network under load, and its latency beside ONNX Runtime's. Standard library; numpy and onnxruntime
only with --onnx.

    python3 results/serve/load.py RUN [--onnx net.onnx] [--clients 200] [--seconds 60] > load.json

RUN is the folder of a run of a network for images. It prints one JSON object: milliseconds of batches of 1 and
32 (median of 30 after 5), of ONNX Runtime with as many threads, and what the clients met: answers, errors by
status, p50, p99, resident memory of the server before and after.
"""
import argparse, http.client, json, os, statistics, subprocess, sys, threading, time

HEAD = {"Content-Type": "application/octet-stream"}


def rss(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(l.split()[1]) * 1024 for l in f if l.startswith("VmRSS"))


def post(c, body, head=HEAD):
    c.request("POST", "/v1/predict", body, head)
    r = c.getresponse()
    return r.status, r.read()


def median_ms(f, times=30):
    for _ in range(5):
        f()
    took = []
    for _ in range(times):
        began = time.perf_counter()
        f()
        took.append(1e3 * (time.perf_counter() - began))
    return statistics.median(took)


def client(port, image, until, took, statuses):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while time.time() < until:
        began = time.perf_counter()
        try:
            status, _ = post(c, image)
        except OSError as e:
            status, c = type(e).__name__, http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        statuses[status] = statuses.get(status, 0) + 1
        if status == 200:
            took.append(1e3 * (time.perf_counter() - began))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("run")
    a.add_argument("--onnx")
    a.add_argument("--clients", type=int, default=200)
    a.add_argument("--seconds", type=float, default=60)
    a.add_argument("--port", type=int, default=8099)
    a.add_argument("--shape", default="32,32,3", help="H,W,C of an image")
    a = a.parse_args()
    h, w, channels = map(int, a.shape.split(","))
    image = bytes(i * 7 % 256 for i in range(h * w * channels))
    server = subprocess.Popen([os.environ.get("LOCKSTEP", "bin/lockstep"), "serve", a.run, "--listen",
                               f"127.0.0.1:{a.port}", "--max-body", str(64 << 20), "--max-waiting", "1024"])
    try:
        c = http.client.HTTPConnection("127.0.0.1", a.port, timeout=60)
        for _ in range(200):
            try:
                c.request("GET", "/healthz")
                c.getresponse().read()
                break
            except OSError:
                c.close()
                time.sleep(0.1)
        import base64
        one = {"pixels": base64.b64encode(image).decode()}
        batch = json.dumps({"inputs": [one] * 32}).encode()
        out = {"http_ms": {"1": median_ms(lambda: post(c, image)),
                           "32": median_ms(lambda: post(c, batch, {"Content-Type": "application/json"}))}}
        if a.onnx:
            import numpy as np, onnxruntime as ort
            o = ort.SessionOptions()
            o.intra_op_num_threads = len(os.sched_getaffinity(0))
            s = ort.InferenceSession(a.onnx, o, providers=["CPUExecutionProvider"])
            name = s.get_inputs()[0].name
            out["onnxruntime_ms"] = {str(n): median_ms(lambda x=np.zeros((n, channels, h, w), np.float32):
                                                       s.run(None, {name: x})) for n in (1, 32)}
        took, statuses, before = [], {}, rss(server.pid)
        until = time.time() + a.seconds
        each = [([], {}) for _ in range(a.clients)]
        threads = [threading.Thread(target=client, args=(a.port, image, until, t, s)) for t, s in each]
        [t.start() for t in threads], [t.join() for t in threads]
        for t, s in each:
            took += t
            for k, n in s.items():
                statuses[str(k)] = statuses.get(str(k), 0) + n
        took.sort()
        out["load"] = {"clients": a.clients, "seconds": a.seconds, "statuses": statuses,
                       "per_second": len(took) / a.seconds, "p50_ms": took[len(took) // 2],
                       "p99_ms": took[int(len(took) * 0.99)], "rss_before": before, "rss_after": rss(server.pid)}
        json.dump(out, sys.stdout, indent=1)
    finally:
        server.terminate()
        print("\nended with status", server.wait(), file=sys.stderr)


main()
