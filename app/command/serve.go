package command

import (
	"fmt"
	"net"
	"strings"
	"time"

	"lockstep/app/job/input"
	"lockstep/app/setting"
	"lockstep/internal/regular"
	"lockstep/serve"

	"github.com/spf13/cobra"
)

// serveToken is the variable with the token of lockstep serve.
const serveToken = "LOCKSTEP_SERVE_TOKEN"

// serveCommand answers over HTTP what a trained network says.
func serveCommand(a *app) *cobra.Command {
	var base setting.Config
	var listen, tokenFile string
	s := serve.Config{Log: a.stderr}
	c := &cobra.Command{
		Use:   "serve RUN [flags]",
		Short: "Answer over HTTP what a trained network says of images, texts or rows",
		Long: `Answer over HTTP what a trained network says of images, texts or rows.

RUN is the folder of a training run, an ONNX file, or weights of a network that --model names. POST
/v1/predict takes JSON, an image, a text or CSV and answers in JSON; /openapi.json and the page at / describe
it, /metrics is for Prometheus, /healthz for a balancer. Inputs that wait are computed together.

It listens on this machine alone. Another address needs a token, in ` + serveToken + ` or a file, which
clients send as "Authorization: Bearer TOKEN"; the connection is not encrypted, so put a proxy with TLS in
front where others can listen. Memory is bounded by --max-body and --max-waiting: what goes beyond is refused
with status 413 or 429, and so with 429 are bodies while those of all requests take 8 times --max-body. On
SIGTERM or Ctrl-C it goes on for --drain, with /healthz at 503, then answers every request that has begun to
come on a connection it has accepted, and ends with status 0.`,
		Example: "  lockstep serve runs/photos\n" +
			"  curl --data-binary @cat.jpg -H 'Content-Type: image/jpeg' http://127.0.0.1:8080/v1/predict\n" +
			"  lockstep serve bert/ --model bert-base --listen 0.0.0.0:8080 --token-file secret",
		Args: takes(1, 1, "the folder of one run"),
	}
	use := addTrained(c, &base)
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8080", "`ADDRESS` and port")
	f.StringVar(&tokenFile, "token-file", "", "`FILE` with the token (default: "+serveToken+", or none)")
	f.DurationVar(&use.Wait, "wait", 0, "a batch waits `TIME` for more inputs, such as 2ms")
	f.DurationVar(&s.Deadline, "deadline", 30*time.Second, "answer within `TIME`, or with status 504")
	f.IntVar(&s.MaxWaiting, "max-waiting", 256, "refuse requests while `N` inputs wait")
	f.Int64Var(&s.MaxBody, "max-body", 8<<20, "refuse bodies of more `BYTES`")
	f.DurationVar(&s.Drain, "drain", 500*time.Millisecond, "take requests for `TIME` after a signal to end")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if s.MaxWaiting < 1 || s.MaxBody < 1 || s.Deadline <= 0 || s.Drain < 0 {
			return usagef("--max-waiting, --max-body and --deadline want more than 0, --drain at least 0")
		}
		if s.Token, err = a.tokenToServe(tokenFile, listen); err != nil {
			return err
		}
		l, err := new(net.ListenConfig).Listen(c.Context(), "tcp", listen)
		if err != nil {
			return usagef("--listen %s: %v; choose another port, as in --listen 127.0.0.1:8081", listen, err)
		}
		defer l.Close()
		base.Catalog = &a.catalog
		trained, err := input.OpenTrained(args[0], base, *use)
		if err != nil {
			return err
		}
		defer trained.Close()
		s.Predictor, s.Images, s.Name = trained.Predictor, trained.Images, args[0]
		ctx, stop := a.interruptible(c.Context())
		defer stop()
		fmt.Fprintf(a.stderr, "lockstep: %s (%s) at http://%s\n", s.Name, trained.Network().Name, l.Addr())
		return serve.New(s).Run(ctx, l)
	}
	return c
}

// tokenToServe returns the token, which an address that others reach needs.
func (a *app) tokenToServe(file, listen string) (string, error) {
	token := a.environment[serveToken]
	if file != "" {
		text, err := regular.ReadFile(file, 4096)
		if err != nil {
			return "", usagef("--token-file: %v", err)
		}
		token = string(text)
	}
	token = strings.TrimSpace(token)
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return "", usagef("--listen %s: want an address and a port, such as 127.0.0.1:8080", listen)
	}
	ip := net.ParseIP(host)
	isHere := host == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case token == "" && (file != "" || !isHere):
		return "", usagef("--listen %s: others can reach it, so want a token: set %s, or give --token-file",
			listen, serveToken)
	case token != "" && len(token) < 16:
		return "", usagef("the token has %d characters, want at least 16, such as those of `lockstep token`",
			len(token))
	}
	return token, nil
}
