package commbench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/compute"
	"lockstep/internal/kernel/row"
	"lockstep/internal/regular"
)

// Options is what Run needs of the world around it.
type Options struct {
	Environment cluster.Environment
	// Worker is the command that calls Work.
	Worker []string
	// Progress, if not nil, is told before every measurement how many are done, of how many.
	Progress func(done, all int, what string)
}

// assignment is what a rank in a process of its own is told.
type assignment struct {
	Points  []point `json:"points"`
	Repeats int     `json:"repeats"`
}

// Run measures everything in c, which must be valid.
func Run(ctx context.Context, c Config, o Options) ([]record.Collective, error) {
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	points := c.points()
	ways := c.ways()
	all := len(points) * len(ways) * len(c.Ranks)
	var records []record.Collective
	for _, link := range ways {
		for _, n := range c.Ranks {
			names, err := o.Environment.HostNames(n)
			if err != nil {
				return records, err
			}
			hosts := comm.OneHost(n)
			if names != nil {
				hosts = comm.NewTopology(names)
			}
			begin := len(records)
			report := func(i int) {
				if i < len(points) {
					p := points[i]
					o.Progress(begin+i, all, fmt.Sprintf("%s, %d ranks: %v %s %s, %d bytes", link, n, p.Op,
						p.Algorithm, p.Codec, p.Bytes))
				}
			}
			report(0)
			ranks, err := c.measure(ctx, link, n, points, o, report)
			if err != nil {
				return records, fmt.Errorf("commbench: %s, %d ranks: %w", link, n, err)
			}
			encryption := cmp.Or(link.encryption, ranks[0].Encryption)
			if encryption == cluster.EncryptNotNeeded {
				encryption = ""
			}
			of := group{link.link, string(encryption), link.streams, hosts, ranks}
			for i, p := range points {
				records = append(records, of.record(p, i))
			}
		}
	}
	o.Progress(all, all, "done")
	return records, nil
}

// measure returns the samplings by rank and point of one group of ranks.
func (c Config) measure(ctx context.Context, w way, n int, points []point, o Options,
	report func(int)) ([]findings, error) {
	if w.link == "local" {
		return c.here(ctx, n, points, report)
	}
	logs, remove, err := regular.MakeFolder("", "commbench")
	if err != nil {
		return nil, err
	}
	defer remove()
	ranks := make([]findings, n)
	texts, err := cluster.Launch(ctx, cluster.LaunchConfig{
		World: n, Threads: 1, Command: o.Worker, SharedMemory: w.link == "shm",
		Encryption:  w.encryption,
		Streams:     w.streams,
		Environment: o.Environment.With(cluster.Environment{cluster.EnvMaxProcs: strconv.Itoa(2)}),
		Log:         func(rank int) string { return filepath.Join(logs, strconv.Itoa(rank)) },
		Starving:    host.Starving,
		Job:         assignment{Points: points, Repeats: c.Repeats},
		Event: func(rank int, text json.RawMessage) error {
			var s sampling
			err := json.Unmarshal(text, &s)
			if ranks[rank].Points = append(ranks[rank].Points, s); rank == 0 {
				report(len(ranks[rank].Points))
			}
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	for r, text := range texts {
		if err := json.Unmarshal(text, &ranks[r]); err != nil {
			return nil, fmt.Errorf("result of rank %d: %w", r, err)
		}
	}
	return ranks, nil
}

// here measures among goroutines of this process.
func (c Config) here(ctx context.Context, n int, points []point, report func(int)) ([]findings, error) {
	before := runtime.GOMAXPROCS(max(2*n, runtime.GOMAXPROCS(0)))
	defer runtime.GOMAXPROCS(before)
	ranks, errs := make([]findings, n), make([]error, n)
	meshes := comm.NewLocal(n)
	cut := context.AfterFunc(ctx, func() {
		for _, m := range meshes {
			m.Shutdown()
		}
	})
	defer cut()
	var group sync.WaitGroup
	for r, mesh := range meshes {
		group.Go(func() {
			ranks[r], errs[r] = onMesh(mesh, comm.OneHost(n), 0, points, c.Repeats, func(at int, _ sampling) {
				if r == 0 {
					report(at + 1)
				}
			})
		})
	}
	group.Wait()
	return ranks, errors.Join(append(errs, ctx.Err())...)
}

// onMesh measures as one rank of mesh, which it owns.
func onMesh(mesh comm.Mesh, hosts comm.Topology, generation uint32, points []point, repeats int,
	done func(int, sampling)) (found findings, err error) {
	cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
	if err != nil {
		return found, errors.Join(err, mesh.Close())
	}
	defer cpu.Close()
	rows := row.On(cpu)
	g, err := comm.NewGroup(mesh, comm.Config{Topology: hosts, Generation: generation,
		Add: func(dst, src []float32) { rows.Add(dst, dst, src) }})
	if err != nil {
		return found, errors.Join(err, mesh.Close())
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	return measure(g, points, repeats, done)
}

// Work is a rank in a process of its own, started by Run.
func Work(ctx context.Context, e cluster.Environment) error {
	member, err := e.ResolveMember()
	if err != nil {
		return err
	}
	session, err := cluster.Join(ctx, member, cluster.Hello{PID: os.Getpid(), Host: e.HostName()})
	if err != nil {
		return err
	}
	defer session.Close()
	found, err := workIn(session)
	if err == nil {
		return session.Done(found)
	}
	var lost *comm.PeerError
	failure := cluster.Failure{Status: 1, Text: err.Error()}
	if errors.As(err, &lost) {
		failure.Noticed, failure.Lost, failure.In = true, lost.Rank, lost.Mismatched()
	}
	return session.Fail(failure, err)
}

// workIn measures what the session's launcher wants.
func workIn(s *cluster.Session) (findings, error) {
	var a assignment
	if err := json.Unmarshal(s.Welcome.Job, &a); err != nil {
		return findings{}, fmt.Errorf("commbench: decode the assignment: %w", err)
	}
	mesh, err := s.Connect(s.Context())
	if err != nil {
		return findings{}, err
	}
	defer context.AfterFunc(s.Context(), mesh.Shutdown)()
	var done atomic.Int64
	beating, stop := context.WithCancel(context.Background())
	var beat sync.WaitGroup
	beat.Go(func() {
		cluster.Beat(beating, func() cluster.Progress {
			return cluster.Progress{Phase: "measure", Step: int(done.Load()), Steps: len(a.Points)}
		}, func(p cluster.Progress) { s.Report(p) }) // a lost launcher ends the context
	})
	defer beat.Wait()
	defer stop()
	found, err := onMesh(mesh, s.Topology(), s.Generation(), a.Points, a.Repeats,
		func(at int, one sampling) {
			s.Tell(one)
			done.Store(int64(at) + 1)
		})
	found.Encryption = s.Welcome.Encryption
	return found, err
}
