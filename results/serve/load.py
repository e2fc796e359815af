"""A served network under load, and ended and started again meanwhile. Standard library only.

    python3 results/serve/load.py RUN [--clients 200] [--seconds 60] [--restart] [--fresh] [-- SERVE FLAGS] > load.json
    python3 results/serve/load.py bert/ --tokens 128 -- --model bert-base

RUN is the folder of a run, or weights with "-- --model resnet50 --size 224" behind. Each client sends an input, waits
for the answer and sends the next. Prints one JSON object: answers by status, per second, p50 and p99 in milliseconds,
the server's resident memory each second, and what was lost: requests that went out on a connection which then ended
without an answer. With --restart the server gets SIGTERM at half of the time and is started again when it has
ended; meanwhile connections are refused, which loses nothing: the client asks again.
"""
import argparse, base64, http.client, json, os, signal, subprocess, sys, threading, time


def resident(pid):
    try:
        with open(f"/proc/{pid}/status") as f:
            return next((int(l.split()[1]) * 1024 for l in f if l.startswith("VmRSS")), 0)
    except OSError:
        return 0


class Client(threading.Thread):
    def __init__(self, port, kind, body, until, is_fresh):
        super().__init__()
        self.port, self.kind, self.body, self.until = port, kind, body, until
        self.connection = "close" if is_fresh else "keep-alive"
        self.took, self.statuses, self.lost, self.refused = [], {}, [], 0

    def run(self):
        c = None
        while time.monotonic() < self.until:
            if c is None:
                c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
                try:
                    c.connect()
                except OSError:
                    self.refused, c = self.refused + 1, None
                    time.sleep(0.05)
                    continue
            began = time.monotonic()
            try:
                c.request("POST", "/v1/predict", self.body, {"Content-Type": self.kind, "Connection": self.connection})
                r = c.getresponse()
                r.read()
                self.statuses[r.status] = self.statuses.get(r.status, 0) + 1
                if r.status == 200:
                    self.took.append(1e3 * (time.monotonic() - began))
                else:
                    time.sleep(0.1)
                if r.will_close:
                    c.close()
                    c = None
            except (OSError, http.client.HTTPException) as e:
                self.lost.append(f"{type(e).__name__}: {e}")
                c.close()
                c = None


class Server:
    def __init__(self, a, serve_flags):
        self.a, self.flags, self.gap = a, serve_flags, None
        self.start()

    def start(self):
        self.p = subprocess.Popen([os.environ.get("LOCKSTEP", "bin/lockstep"), "serve", self.a.run, "--listen",
                                   f"127.0.0.1:{self.a.port}", "--max-waiting", "1024", *self.flags])
        while self.p.poll() is None:
            try:
                c = http.client.HTTPConnection("127.0.0.1", self.a.port, timeout=5)
                c.request("GET", "/healthz")
                if c.getresponse().status == 200:
                    return
            except OSError:
                time.sleep(0.02)
        sys.exit(f"the server ended with status {self.p.returncode}")

    def restart(self):
        began = time.monotonic()
        self.end()
        self.start()
        self.gap = time.monotonic() - began

    def end(self):
        self.p.send_signal(signal.SIGTERM)
        if status := self.p.wait():
            sys.exit(f"the server ended with status {status}")


def main():
    argv, flags = sys.argv[1:], []
    if "--" in argv:
        argv, flags = argv[:argv.index("--")], argv[argv.index("--") + 1:]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("run")
    p.add_argument("--clients", type=int, default=200)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--restart", action="store_true")
    p.add_argument("--port", type=int, default=8099)
    p.add_argument("--shape", default="224,224,3", help="H,W,C of an image")
    p.add_argument("--tokens", type=int, help="send texts of so many tokens, no images")
    p.add_argument("--inputs", type=int, default=0, help="send so many images in one request, as JSON")
    p.add_argument("--fresh", action="store_true", help="a connection for each request")
    a = p.parse_args(argv)
    if a.tokens:
        kind, body = "application/json", json.dumps({"inputs": [{"tokens": [1000 + i for i in range(a.tokens)]}]})
    else:
        h, w, channels = map(int, a.shape.split(","))
        kind, body = "application/octet-stream", bytes(i * 7 % 256 for i in range(h * w * channels))
        if a.inputs:
            image = {"pixels": base64.b64encode(body).decode()}
            kind, body = "application/json", json.dumps({"inputs": [image] * a.inputs})
    s = Server(a, flags)
    began = time.monotonic()
    clients = [Client(a.port, kind, body, began + a.seconds, a.fresh) for _ in range(a.clients)]
    for c in clients:
        c.start()
    memory = []
    while time.monotonic() < began + a.seconds:
        time.sleep(1)
        memory.append(resident(s.p.pid))
        if a.restart and s.gap is None and time.monotonic() > began + a.seconds / 2:
            s.restart()
    for c in clients:
        c.join()
    seconds = time.monotonic() - began
    s.end()
    took = sorted(t for c in clients for t in c.took)
    statuses = {}
    for c in clients:
        for status, n in c.statuses.items():
            statuses[status] = statuses.get(status, 0) + n
    lost = [e for c in clients for e in c.lost]
    out = {"clients": a.clients, "seconds": round(seconds, 1), "statuses": statuses, "lost": len(lost), "losses": lost[:5],
           "refused": sum(c.refused for c in clients), "restart_seconds": s.gap, "per_second": len(took) / seconds}
    if took:
        out.update(p50_ms=took[len(took) // 2], p99_ms=took[int(len(took) * 0.99)], longest_ms=took[-1])
    third = len(memory) // 3
    out.update(resident_mib=[m >> 20 for m in memory], resident_first_third=max(memory[1:third] or [0]) >> 20,
               resident_last_third=max(memory[-third:] or [0]) >> 20)
    json.dump(out, sys.stdout, indent=1)
    print()


main()
