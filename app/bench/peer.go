package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/app/job/chooser"
	"lockstep/app/job/launcher"
	"lockstep/app/job/worker"
	"lockstep/app/peer"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/data"
)

const (
	peerSteps   = 5        // steps over which losses are compared with a peer's
	peerBatches = 8        // batches that a peer has at least
	peerBytes   = 64 << 20 // of batches that each worker of a peer has in memory, if those are more
)

// inexactPeer is why a peer ends with other bits.
const inexactPeer = "another program's kernels round otherwise"

// withPeers returns the rows with, after each one that a peer can do too, one for each way to run the peer,
// and notes those that it cannot do. It fails if there is none.
func withPeers(plan *Plan, name string) error {
	if name == "" {
		return nil
	}
	if name != peer.Name {
		return setting.Refuse("--peer %s: want %s", name, peer.Name)
	}
	var rows []Row
	for _, r := range plan.Rows {
		rows = append(rows, r)
		if why := r.peerless(); why != "" {
			skip := r.skipped(record.PeerCannot + why + ".")
			skip.Strategy = peer.Name + " " + skip.Strategy
			plan.Skipped = append(plan.Skipped, skip)
			continue
		}
		for _, format := range peer.Formats(r.Model) {
			one := r
			one.Peer, one.Options = peer.Name, strings.TrimSuffix(peer.Name+"+"+format, "+")
			rows = append(rows, one)
		}
	}
	if len(rows) == len(plan.Rows) {
		return setting.Refuse("--peer %s: it can do none of the rows; the first, %s: %s", name,
			rows[0].Name(), rows[0].peerless())
	}
	plan.Rows = rows
	return nil
}

// peerless says why PyTorch cannot do a row; "" if it can.
func (r Row) peerless() string {
	u := r.Optimizer
	switch {
	case !slices.Contains(peer.Models(), r.Model):
		return "the network " + r.Model + " (want one of " + strings.Join(peer.Models(), ", ") + ")"
	case !slices.Contains(peer.Strategies(), r.Strategy):
		return "the strategy " + r.Strategy
	case r.Options != "" || r.wire() != "" || r.Accumulate > 1 || r.Clip > 0 || r.EMA > 0 ||
		r.Smoothing > 0 || r.Mixup > 0 || r.Cutmix > 0 || r.Lookahead.Every > 0 || r.Until > 0 || r.For != "":
		return "settings of its own"
	case r.Hosts > 1:
		return "several hosts"
	case r.Condition.Slow != nil || r.Condition.IsApart() || r.SlowWorkers != nil ||
		r.SlowLoader != (data.Pace{}):
		return "the condition"
	case u.Name != "sgd" || len(u.Groups) > 0 || r.Schedule.Name != "constant" || u.DecayMatrices:
		return "settings of its update"
	case r.Size != 32 && !strings.HasPrefix(r.Model, "resnet"):
		return "the size of its images"
	case r.Device != "cpu":
		return "--device " + r.Device + " (PyTorch's rows run on the CPU)"
	case r.Math != "fast" && r.Math != "exact":
		return "--math " + r.Math + " (fast and exact are float32, as PyTorch is)"
	}
	return ""
}

// peers runs the rows of other programs.
type peers struct {
	torch   *peer.PyTorch
	folder  string // for what both sides begin with
	options launcher.Options
	sampled map[string]worker.Sampled // by file
}

// openPeers finds the program that the plan's rows ask for; nil if they ask for none.
func openPeers(ctx context.Context, p Plan, out string, o launcher.Options) (*peers, error) {
	first := slices.IndexFunc(p.Rows, func(r Row) bool { return r.Peer != "" })
	if first < 0 {
		return nil, nil
	}
	if r := p.Rows[first]; r.Hosts > 1 {
		return nil, setting.Refuse("--peer %s: its workers share one machine; row %s has %d hosts", peer.Name,
			r.Name(), r.Hosts)
	}
	o.Environment = environment(o)
	torch, err := peer.Find(ctx, o.Environment, p.Rows[first].Threads)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), setting.Refuse("--peer %s: %v", peer.Name, err))
	}
	return &peers{torch, filepath.Join(out, "peer"), o, map[string]worker.Sampled{}}, nil
}

// execute runs a row, of this program or of another one.
func (p *peers) execute(ctx context.Context, r Row, o launcher.Options) (*record.Summary, error) {
	if r.Peer != "" {
		return p.run(ctx, r)
	}
	return execute(ctx, r, o)
}

// close ends the program and removes what it read, which the next sitting writes anew; p may be nil.
func (p *peers) close() {
	if p == nil {
		return
	}
	p.torch.Close()
	for path := range p.sampled {
		os.Remove(path)
	}
}

// begin writes what a row begins with, once for all rows of one network on equal batches.
func (p *peers) begin(ctx context.Context, r Row) (path string, about worker.Sampled, err error) {
	if err := os.MkdirAll(p.folder, 0o777); err != nil {
		return "", about, fmt.Errorf("bench: %w", err)
	}
	size := r.Size
	if r.Models().ReadsTexts(r.Model) {
		size = r.Sequence
	}
	name := fmt.Sprintf("%s-%s-%d-%d-%s-%d-%d-%d-%d.safetensors", r.Model, filepath.Base(r.Data), size,
		r.Batch, r.Augment, r.LimitTrain, r.Steps, r.Epochs, r.Seed)
	path = filepath.Join(p.folder, strings.Map(plain, name))
	if about, ok := p.sampled[path]; ok {
		return path, about, nil
	}
	batches := worker.Batches{Least: peerBatches, Bytes: peerBytes}
	if about, err = worker.Sample(ctx, r.Config, p.options.Environment, batches, path); err == nil {
		p.sampled[path] = about
	}
	return path, about, err
}

// work returns what PyTorch does for a row.
func (p *peers) work(r Row, path string, about worker.Sampled) peer.Work {
	u := r.Optimizer
	w := peer.Work{Model: r.Model, Classes: about.Classes, Strategy: r.Strategy, Workers: r.Workers,
		Threads: r.Threads, Steps: r.NumSteps(about.Samples), Epoch: r.StepsPerEpoch(about.Samples),
		Format: r.format(), LR: u.LR, Momentum: u.Momentum, Nesterov: u.Nesterov,
		WeightDecay: u.WeightDecay, Dropout: about.Dropout, Tensors: path, Out: r.Out}
	if about.Batches < w.Epoch {
		w.Short = about.Samples % r.Batch
	}
	return w
}

// format returns the layout of images of a peer's row.
func (r Row) format() string {
	_, format, _ := strings.Cut(r.Options, "+")
	return format
}

// run executes a row of PyTorch.
func (p *peers) run(ctx context.Context, r Row) (*record.Summary, error) {
	path, about, err := p.begin(ctx, r)
	if err != nil {
		return nil, err
	}
	w := p.work(r, path, about)
	if last := about.Samples % r.Batch; w.Steps >= w.Epoch && last > 0 && last < r.Workers {
		return nil, fmt.Errorf("the last batch of an epoch has no sample for some of %d workers, which "+
			"PyTorch cannot do; want another --limit-train", r.Workers)
	}
	o, err := p.torch.Run(ctx, w)
	if err != nil {
		return nil, err
	}
	epochs, rest := w.Steps/w.Epoch, w.Steps%w.Epoch
	s := &record.Summary{Strategy: r.Strategy, Link: "gloo", Threads: r.Threads, Workers: r.Workers,
		Shards: r.Shards, Wire: "fp32", Generated: about.Generated, Classes: about.Classes,
		Epochs: float64(w.Steps) / float64(w.Epoch),
		Outcome: record.Outcome{Steps: w.Steps, Samples: int64(epochs*about.Samples + rest*r.Batch),
			Batches: min(about.Batches, w.Steps), PeakRSSBytes: o.PeakRSSBytes, Taken: o.Taken}}
	if r.Workers == 1 {
		s.Link = "local"
	}
	ranks, err := stepsOf(r.Out, r.Workers, false)
	if err != nil {
		return nil, err
	}
	for _, seconds := range ranks[0].Steps.Seconds {
		s.Seconds += seconds
	}
	s.TrainSeconds = s.Seconds
	return s, nil
}

// check trains a few steps on both sides from equal weights on equal batches, as one worker, for every row
// of a peer that does another work than those before it.
func (p *peers) check(ctx context.Context, rows []Row, known []record.PeerCheck) ([]record.PeerCheck, error) {
	for _, r := range rows {
		isKnown := func(c record.PeerCheck) bool {
			return c.Model == r.Model && c.Data == r.Data && c.Batch == r.Batch && c.Format == r.format()
		}
		if r.Peer == "" || slices.ContainsFunc(known, isKnown) {
			continue
		}
		one, err := p.compare(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("--peer %s: %s: %w", peer.Name, r.Name(), err)
		}
		known = append(known, one)
	}
	return known, nil
}

// compare trains both sides for peerSteps.
func (p *peers) compare(ctx context.Context, r Row) (record.PeerCheck, error) {
	path, about, err := p.begin(ctx, r)
	if err != nil {
		return record.PeerCheck{}, err
	}
	r.Workers, r.Shards, r.Strategy, r.Steps, r.Epochs = 1, 1, strategy.Single, peerSteps, 0
	r.LimitTest, r.EvalEvery, r.Save, r.Link = 0, 0, false, "local"
	r.Out = rundir.Unused(filepath.Join(p.folder, "ours"))
	r.Config = r.WithoutDropout()
	ours := p.options
	ours.Progress = nil
	if _, err := chooser.Run(ctx, r.Config, ours); err != nil {
		return record.PeerCheck{}, err
	}
	c := record.PeerCheck{Peer: peer.Name, Model: r.Model, Data: r.Data, Batch: r.Batch, Format: r.format()}
	if c.Ours, err = lossesOf(r.Out); err != nil {
		return c, err
	}
	r.Out = rundir.Unused(filepath.Join(p.folder, "theirs"))
	w := p.work(r, path, about)
	c.Settings, w.Dropout = p.torch.Settings(w), 0
	if _, err := p.torch.Run(ctx, w); err != nil {
		return c, err
	}
	c.Theirs, err = lossesOf(r.Out)
	return c, err
}

// lossesOf returns the loss of each step of a run of one worker.
func lossesOf(folder string) (record.Numbers, error) {
	ranks, err := stepsOf(folder, 1, false)
	if err != nil {
		return nil, err
	}
	return ranks[0].Steps.Loss, nil
}
