package launcher

import (
	"cmp"
	"fmt"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/internal/spelling"
)

// noteContention says that the run's threads are more than the cores that they share, if so.
func (o Options) noteContention(c setting.Config) {
	threads, cores := o.crowd(c)
	if threads <= cores {
		return
	}
	fmt.Fprintf(o.Stderr, "note: %s share %s: the times show contention, not scaling\n",
		spelling.Count(threads, "thread"), spelling.Count(cores, "core"))
}

// noteSettings says what settings do that may not be wanted.
func (o Options) noteSettings(c setting.Config) {
	if n, isOwn := o.Origins.OwnShards(c); isOwn {
		fmt.Fprintf(o.Stderr, "note: same bits with any number of workers up to %d: add --shards %d to "+
			"those runs\n", n, n)
	}
	for _, text := range slowed(c) {
		fmt.Fprintln(o.Stderr, "note: "+text)
	}
	if c.Insecure && !c.IsOneProcess() {
		fmt.Fprintln(o.Stderr, "warning: --insecure: links between hosts, if there are several, are not "+
			"encrypted; whoever reads them can rebuild training data from gradients")
	}
}

// warn reports a problem that does not end the run, and say tells people a line.
func (o Options) warn(text string) { o.tell(Progress{Note: text, IsWarning: true}) }
func (o Options) say(text string)  { o.tell(Progress{Note: text}) }

func (o Options) tell(p Progress) {
	if o.Progress == nil {
		fmt.Fprintln(o.Stderr, p.Note)
		return
	}
	o.Progress(p)
}

// show passes an evaluation on.
func (o Options) show(e record.Evaluation) {
	if o.Progress != nil {
		o.Progress(Progress{Phase: "evaluation", Evaluation: &e})
	}
}

// crowd returns how many compute threads share the cores of this machine, and how many cores those are: all
// of them if another launcher has started the workers, because it may have bound each to its own. On several
// hosts it is about that with the fewest cores for each thread.
func (o Options) crowd(c setting.Config) (threads, cores int) {
	if o.Meeting != nil {
		return max(1, o.Place.LocalWorld) * c.Threads, host.AllCores()
	}
	threads, cores = c.NumThreads(), host.Cores()
	for i, l := range o.Environment.Loads(c.Workers, c.NumApart()) {
		its := l.Workers*c.Threads + l.Servers
		of := cmp.Or(l.Cores, host.Cores())
		if i == 0 || its*cores > threads*of {
			threads, cores = its, of
		}
	}
	return threads, cores
}

// isCrowded reports whether the run has more compute threads than this machine has cores.
func (o Options) isCrowded(c setting.Config) bool {
	threads, cores := o.crowd(c)
	return threads > cores
}

// coreShare returns what a compute thread of the run has of a core of this machine, at most 1.
func (o Options) coreShare(c setting.Config) float64 {
	threads, cores := o.crowd(c)
	return min(1, float64(cores)/float64(threads))
}

// OwnThreads returns the number of compute threads of a guest: what the launcher gives each process, or a
// share of the cores of this machine.
func OwnThreads(p cluster.Place) int {
	workers := max(1, p.LocalWorld)
	switch {
	case p.Cores > 0:
		return p.Cores
	case host.Cores()*workers <= host.AllCores():
		return host.Cores() // it is bound to cores of its own
	}
	return max(1, host.Cores()/workers)
}
