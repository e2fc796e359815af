package server

import (
	"fmt"
	"os"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/internal/kernel/row"
	"lockstep/optim"
	"lockstep/ps"
	"lockstep/shard"
	"lockstep/trace"
)

// processBytes is the memory of a worker without its data: program, runtime, plans of kernels. The difference
// between peak_rss_bytes in summary.json and the other parts is 17 MB for lenet and 57 MB for resnet50.
const ProcessBytes = 24 << 20

// Server is a parameter server with its optimizer, in whatever process it is.
type Server struct {
	Serve   func() error
	rule    *servedRule
	Book    *updateBook // of server 0 of an asynchronous run, else nil
	stat    record.ServerStat
	Planned int64 // bytes of its memory
}

// New makes server number of the layout. The rule shows in the beacon; nil shows it nowhere.
// Updates are spans of the recorder.
func New(at *job.Seat, post *comm.Post, layout *ps.Layout, b Blueprint, number int, shows *job.Beacon,
	r *trace.Recorder) (*Server, error) {
	c := at.Config
	cpu, err := job.OpenCPU(c, 1, false)
	if err != nil {
		return nil, err
	}
	part := layout.Parts[number]
	params, elems := optim.Share(b.Params, part.Shares)
	weights := post.Alloc(elems)
	rule, err := optim.New(c.UpdateRule(), cpu, weights, params)
	if err != nil {
		return nil, err
	}
	rows := row.On(cpu)
	wire := c.GradientWire()
	config := ps.ServerConfig{Post: post, Layout: layout, Number: number, Weights: weights,
		Add:  func(dst, src []float32) { rows.Add(dst, dst, src) },
		Push: wire, Pull: PullWire(wire), Track: r.Track(fmt.Sprintf("server %d", number))}
	s := &Server{rule: &servedRule{Optimizer: rule, beacon: shows, end: endOf(params)}}
	config.Rule = s.rule
	for _, v := range rule.State() {
		config.State = append(config.State, v.Data)
	}
	if c.Clip > 0 {
		config.Clip = optim.NewClip(c.Clip, cpu, elems)
	}
	if err := s.open(at, config, b); err != nil {
		return nil, err
	}
	s.stat = record.ServerStat{Server: number, Rank: post.Rank(), Elements: int64(elems),
		OptimizerBytes: rule.Bytes()}
	plan, err := shard.Cut(c.StepShards(), c.Workers)
	s.Planned = rule.Bytes() + ReceivedBytes(c, layout, plan, number)
	return s, err
}

// ReceivedBytes returns the memory of a server's weights, and of the gradients that it receives from other
// processes, or from all if the wire changes them: a vector for each piece, and with clipping one for
// their sum. Asynchronous servers have a gradient of each worker instead, and a copy of the weights for
// it; those of a replay may keep as many gradients again.
func ReceivedBytes(c setting.Config, layout *ps.Layout, plan shard.Plan, number int) int64 {
	vectors := 1
	if c.IsAsync() {
		if vectors += 2 * c.Workers; c.Replay != "" {
			vectors += c.Workers
		}
		return 4 * int64(layout.Parts[number].Len) * int64(vectors)
	}
	if c.Clip > 0 {
		vectors++ // the sum of all of them
	}
	for rank := range plan.Workers() {
		if rank != layout.Homes[number] || c.GradientWire().IsLossy() {
			vectors += len(plan.Pieces(rank))
		}
	}
	return 4 * int64(layout.Parts[number].Len) * int64(vectors)
}

// open makes the server of the strategy.
func (s *Server) open(at *job.Seat, config ps.ServerConfig, b Blueprint) error {
	c := at.Config
	if !c.IsAsync() {
		server, err := ps.NewServer(config)
		if err == nil {
			s.Serve = server.Serve
		}
		return err
	}
	ledger, err := ledgerOf(c, b)
	if err != nil {
		return err
	}
	all := ps.AsyncConfig{ServerConfig: config, Ledger: ledger, DividesRate: c.StalenessRate}
	if config.Number == 0 {
		s.Book = newUpdateBook(at, b, ledger.Staleness)
		all.OnLoad, all.OnUpdate = s.Book.open, s.Book.add
	}
	server, err := ps.NewAsyncServer(all)
	if err == nil {
		s.Serve = server.Serve
	}
	return err
}

// Result returns the server's figures at its end.
func (s *Server) Result(post *comm.Post, host string) *record.ServerStat {
	total := post.Counters().Total()
	s.stat.PID, s.stat.Host, s.stat.Updates = os.Getpid(), host, s.rule.steps-s.rule.before
	s.stat.BytesSent, s.stat.BytesReceived, s.stat.BytesVectors = total.Sent, total.Received, total.Vector
	return &s.stat
}

// endOf returns the end of the last parameter.
func endOf(params []optim.Param) (end int) {
	for _, p := range params {
		end = max(end, p.Offset+p.Len)
	}
	return end
}

// servedRule is an optimizer that counts its updates, and shows in a beacon when it is at work.
type servedRule struct {
	optim.Optimizer
	beacon *job.Beacon // or nil
	end    int         // of the last parameter
	steps  int         // done, with those before the run was resumed
	before int         // of these, those before
	isOpen bool        // a step has begun and has not reached the end
}

// Resume implements ps.Rule.
func (r *servedRule) Resume(steps int) {
	r.steps, r.before = steps, steps
	r.Optimizer.Resume(steps)
}

// Step implements ps.Rule.
func (r *servedRule) Step(lo, hi int, g []float32, rate float64, scale float32) {
	if r.beacon != nil {
		r.beacon.Enter(job.PhaseUpdate)
		defer func() { r.beacon.Serve(r.steps) }()
	}
	r.Optimizer.Step(lo, hi, g, rate, scale)
	r.isOpen = r.isOpen || lo == 0
	if r.isOpen && hi >= r.end {
		r.isOpen = false
		r.steps++
	}
}

// PullWire returns the wire of weights: that of gradients if it loses nothing, else none.
func PullWire(gradients gradsync.Wire) gradsync.Wire {
	if gradients.IsLossy() {
		return gradsync.Wire{}
	}
	return gradients
}
