package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/app/bench"
	"lockstep/app/predict"
	"lockstep/app/report"
	"lockstep/cluster/lab"
	"lockstep/forecast"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// predictFlags are the flags of predict that train does not have, or that take a list.
type predictFlags struct {
	matrix
	config                  predict.Config
	network, scale          string
	cores, oversubscription string
	isJSON, isQuiet         bool
	out                     string
}

func predictCommand(a *app) *cobra.Command {
	f := predictFlags{matrix: newMatrix()}
	f.models, f.workers, f.strategies = nil, []int{1, 2, 4, 8, 16}, []string{"ddp"}
	c := &cobra.Command{
		Use:   "predict [flags]",
		Short: "Predict the step with more workers over a described network, and keep account of it",
		Long: `Predict the step with more workers over a described network, and keep account of it.

Short runs of one and two workers tell what computing, sharing the cores, messages and bytes cost here. The
schedules of training are then simulated for every number of workers. A prediction is a file with a hash that
is never changed; lockstep predict verify FILE runs what can be run here, and what it finds widens or narrows
later intervals. Every prediction says how those before it fared.

Hosts are machines like this one. With --in-lab they are hosts of a lab on this machine, whose cores they
share, as lockstep lab makes them; those can be verified.`,
		Example: `  lockstep predict --workers 1,2,4,1024 --network 1gbit,200us --model vgg11 --batch 1024
  lockstep predict --strategies gather-scatter,all-reduce,ddp,ps --workers 3,4 --network 200mbit --in-lab
  lockstep predict verify predictions/20261129-0612-1a2b3c4d.json
  lockstep predict --network 10gbit --per-host 4 --oversubscription 4:16 --scale weak \
      --samples 1e9 --price 1.20
  lockstep predict --strategies diloco --wire bf16 --bucket 8MiB --cores x2 --slow-worker 1:1.5`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("predict is of steps of more workers; lockstep infer %.80s %.80s says what a "+
					"network makes of inputs", args[0], args[1])
			}
			return noArguments(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error { return a.predict(c, &f) },
	}
	f.add(c, a)
	addHelpAll(c)
	c.AddCommand(predictVerifyCommand(a))
	return c
}

// add gives c its flags.
func (f *predictFlags) add(c *cobra.Command, a *app) {
	flags := c.Flags()
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		other := map[string]string{"models": "model", "strategy": "strategies"}
		return pflag.NormalizedName(cmp.Or(other[name], name))
	})
	for _, m := range f.flags() {
		if m.name == "strategies" || m.name == "workers" {
			flags.Var(m.value, m.name, m.usage)
		}
	}
	flags.Lookup("workers").Usage = "a `LIST` of numbers of workers, 1 to " + strconv.Itoa(predict.MaxWorkers)
	flags.StringVar(&f.network, "network", "", "`RATE,DELAY` of each host's link, such as 1gbit,200us, or "+
		"one of the two; the delay is one way (default: workers of one machine)")
	flags.BoolVar(&f.config.Inputs.IsLab, "in-lab", false, "hosts share this machine's cores, as in "+
		"lockstep lab")
	flags.IntVar(&f.config.Inputs.PerHost, "per-host", 1, "`N` workers of each host")
	flags.StringVar(&f.oversubscription, "oversubscription", "", "`RATIO:HOSTS`, such as 4:16: 16 hosts "+
		"share a switch, whose uplink carries a quarter of what their links do (default: one switch)")
	flags.StringVar(&f.scale, "scale", "strong", "`KIND` of scaling: strong, --batch is that of all "+
		"workers; weak, of each")
	flags.StringVar(&f.cores, "cores", "", "what if a host had `xN` times as many cores, such as x2")
	flags.Float64Var(&f.config.Inputs.Samples, "samples", 0, "say the time, and with --price the "+
		"cost, of `N`")
	flags.Float64Var(&f.config.Inputs.Price, "price", 0, "`DOLLARS` of a host's hour")
	flags.Var(budget(&f.config.Budget), "budget", "`TIME` of the short runs (default: 1m)")
	flags.StringVar(&f.config.From, "from", "", "calibrate by the benchmark in this `FOLDER`, with rows "+
		"single, and none, all-reduce and ddp of two workers (default: short runs)")
	flags.StringVar(&f.config.Folder, "calibration", "", "keep the short runs in this new `FOLDER`")
	flags.StringVar(&f.out, "out", "", "new `FILE` (default: predictions/<date>-<hash>.json)")
	flags.BoolVar(&f.isJSON, "json", false, "print the prediction as one JSON document")
	flags.BoolVarP(&f.isQuiet, "quiet", "q", false, "show no progress")
	addSettings(c, benchSettings(&a.catalog))
}

// predict makes a prediction, freezes it and prints it.
func (a *app) predict(c *cobra.Command, f *predictFlags) error {
	config, err := f.complete(c, a)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(f.out); f.out != "" && err == nil { // before the runs
		return usagef("--out: %s is there already, and predictions are not changed; name another file", f.out)
	}
	ctx, stop := a.interruptible(c.Context())
	defer stop()
	show := newProgress(a, f.isQuiet)
	p, err := predict.Make(ctx, config, a.predicting(show))
	show.end()
	if err != nil {
		return err
	}
	path, err := p.Save(f.out)
	if err != nil {
		return err
	}
	page := report.Predicted(p, nil)
	if err := page.WriteBeside(beside(path)); err != nil {
		return err
	}
	return a.answerPrediction(p, nil, page, path, f.isJSON)
}

// predicting returns how short runs are made.
func (a *app) predicting(show *progress) bench.Options {
	o := a.benchOptions(show, nil)
	o.Job.Stderr = io.Discard
	return o
}

// answerPrediction prints a prediction with what was measured of it.
func (a *app) answerPrediction(p *forecast.Prediction, all []forecast.Verified, page *report.Report,
	path string, isJSON bool) error {
	if isJSON {
		return writeJSON(a, struct {
			*forecast.Prediction
			File     string              `json:"file"`
			Verified []forecast.Verified `json:"verified,omitempty"`
		}{p, path, all})
	}
	if err := page.Text(a.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\n%s\n%s\n", path, beside(path)+".html")
	return err
}

// complete turns the flags into what is asked for.
func (f *predictFlags) complete(c *cobra.Command, a *app) (predict.Config, error) {
	config := f.config
	part, err := a.part(f.matrix, given(c))
	if err != nil {
		return config, err
	}
	base := part.Base
	base.Threads = max(1, base.Threads)
	if err := f.describe(&config.Inputs); err != nil {
		return config, err
	}
	if f.cores != "" {
		times, err := strconv.ParseFloat(strings.TrimPrefix(f.cores, "x"), 64)
		if err != nil || !(times >= 0.01 && times <= 1024) {
			return config, usagef("--cores %q: want how many times as many, x0.01 to x1024", f.cores)
		}
		config.CoresTimes = times
	}
	v := describeVersion()
	config.Base, config.Workers, config.Strategies = base, f.workers, f.strategies
	slices.Sort(config.Workers)
	config.Workers = slices.Compact(config.Workers)
	config.Label = forecast.Prediction{Version: v.Version, Revision: v.Revision,
		Command: append([]string{"lockstep", "predict"}, commandLine(c)...)}
	config.Label.Track, err = forecast.ReadTrack(predict.MachineKey(bench.DescribeHost()), trackFile())
	return config, err
}

// describe reads the network.
func (f *predictFlags) describe(in *forecast.Inputs) (err error) {
	in.Network = f.network
	for part := range strings.SplitSeq(f.network, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		d, failed := time.ParseDuration(part)
		if failed == nil && d >= 0 && d < time.Minute && in.Delay == 0 {
			in.Delay = d.Seconds()
		} else if in.Rate > 0 {
			return usagef("--network %.80q: want one rate and one delay, such as 1gbit,200us", f.network)
		} else if in.Rate, err = lab.ParseRate(part); err != nil {
			return usagef("--network: %v, and no delay such as 200us", err)
		}
	}
	if f.oversubscription != "" {
		ratio, hosts, _ := strings.Cut(f.oversubscription, ":")
		in.Oversubscription, err = strconv.ParseFloat(ratio, 64)
		n, failed := strconv.Atoi(hosts)
		isRatio := in.Oversubscription >= 1 && in.Oversubscription <= 1000
		if in.Group = n; err != nil || failed != nil || !isRatio || n < 1 {
			return usagef("--oversubscription %q: want RATIO:HOSTS such as 4:16", f.oversubscription)
		}
	}
	switch f.scale {
	case "strong", "weak":
		in.IsWeak = f.scale == "weak"
		return nil
	}
	return usagef("--scale %q: want strong or weak", f.scale)
}

// foresee freezes the predictions that a plan asks for before its first run.
func (a *app) foresee(ctx context.Context, config *bench.Config, command []string, isQuiet bool) (
	[]json.RawMessage, error) {
	if config.Inquiry == nil || len(config.Inquiry.Predictions) == 0 {
		return nil, nil
	}
	track, err := forecast.ReadTrack(predict.MachineKey(bench.DescribeHost()), trackFile())
	if err != nil {
		return nil, err
	}
	ctx, stop := a.interruptible(ctx)
	defer stop()
	show, v := newProgress(a, isQuiet), describeVersion()
	defer show.end()
	return predict.Foresee(ctx, config, forecast.Prediction{Version: v.Version, Revision: v.Revision,
		Command: command, Track: track}, a.predicting(show))
}

// beside returns the path of a prediction without its ending.
func beside(path string) string { return strings.TrimSuffix(path, ".json") }

// trackFile returns the track record of this user's predictions; "" if there is no place for one.
func trackFile() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "lockstep", "predictions", forecast.RecordFile)
}

func predictVerifyCommand(a *app) *cobra.Command {
	var v predict.Verification
	var isJSON, isQuiet bool
	c := &cobra.Command{
		Use:   "verify FILE [flags]",
		Short: "Run what can be run here of a prediction, and add it to the track record",
		Example: "  lockstep predict verify predictions/20261129-0612-1a2b3c4d.json\n" +
			"  lockstep predict verify mine.json --repeats 6 --json",
		Args: takes(1, 1, "one file that lockstep predict wrote"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.verify(c.Context(), args[0], v, isJSON, isQuiet)
		},
	}
	flags := c.Flags()
	flags.IntVar(&v.Repeats, "repeats", 3, "`N` runs of every row, in rounds")
	flags.IntVar(&v.Most, "most", 0, "leave out rows of more than `N` workers (default: twice the cores)")
	flags.StringVar(&v.Folder, "out", "", "new `FOLDER` of the runs (default: beside the file)")
	flags.BoolVar(&isJSON, "json", false, "print one JSON document")
	flags.BoolVarP(&isQuiet, "quiet", "q", false, "show no progress")
	return c
}

// verify measures what a prediction says, keeps what was found and prints it.
func (a *app) verify(ctx context.Context, path string, v predict.Verification, isJSON, isQuiet bool) error {
	p, err := forecast.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("%v; lockstep predict makes one, and prints its path", err)
	} else if err != nil {
		return usagef("%v", err)
	}
	v.Catalog = &a.catalog
	if v.Folder == "" {
		v.Folder = beside(path) + "-runs-" + a.clock().UTC().Format("150405")
	}
	ctx, stop := a.interruptible(ctx)
	defer stop()
	show := newProgress(a, isQuiet)
	all, err := predict.Verify(ctx, p, v, a.predicting(show))
	show.end()
	if err != nil {
		return err
	}
	files := []string{filepath.Join(filepath.Dir(path), forecast.RecordFile), trackFile()}
	for _, file := range slices.Compact(files) { // first, so that a miss is kept whatever cannot be written
		err = errors.Join(err, forecast.Append(file, all))
	}
	page := report.Predicted(p, all)
	if err = errors.Join(err, page.WriteBeside(beside(path))); err != nil {
		return err
	}
	return a.answerPrediction(p, all, page, path, isJSON)
}
