package worker

import (
	"fmt"
	"runtime/debug"

	"lockstep/app/host"
	"lockstep/app/job/server"
	"lockstep/app/setting"
	"lockstep/internal/spelling"
	"lockstep/train"
)

// footprint is what a worker takes of memory, in bytes.
type footprint struct {
	planned, optimizer int64 // all of it, and the optimizer's part
	together           int64 // planned, of all processes, on rank 0
	gradient           int64
	tensors            int // that the gradient has
}

// least is the heap that a bound on memory leaves at least, so that the collector does not run all the time.
const least = 64 << 20

// leastActivations is what a worker keeps of activations, in bytes, however little memory the machine has.
const leastActivations = 1 << 30

// activations returns how many bytes of them the worker keeps; 0: all, as on a GPU without --memory.
// Otherwise the default is the worker's share of a quarter of what the samples leave of the machine's memory
// (docs/design/0034), and at most its share of half of what --resident allows.
func (w *Worker) activations() int64 {
	c := w.Config
	switch {
	case c.Memory > 0:
		return int64(c.Memory)
	case c.IsOnGPU():
		return 0
	}
	own := int64(host.MemoryBytes())/int64(max(w.WorkersHere, 1)) - w.Task.Bytes/w.Sharers()
	most := max(leastActivations, own/4)
	if c.Resident > 0 {
		most = min(most, int64(c.Resident)/2/w.Sharers())
	}
	return most
}

// planMemory estimates the memory of the run, the larger of training and of loading the data. It refuses a
// run that does not fit this machine.
func (w *Worker) planMemory(l *train.Loop) error {
	m, c := l.Memory(), w.Config
	data := m.Batches + w.Task.Bytes/w.Sharers()
	if w.saver != nil {
		// the copy that is written
		m.Variables += l.Snapshot().Bytes() + w.heldBytes(len(l.Variables().Weights))
	}
	w.optimizer = l.OptimizerBytes()
	if c.HoldsBack() {
		for _, p := range l.Pieces() {
			m.Variables += 4 * int64(len(p)) // residuals of error feedback
		}
	}
	if w.served != nil {
		m.Variables += w.served.planned + 4*int64(len(l.Variables().Weights)) // pulled weights
	}
	// Loading may take more: the files, and twice the decoded samples while their slices grow.
	loading := host.PeakRSS() / w.Sharers()
	var largest int64
	for _, p := range l.Parameters() {
		w.gradient += 4 * int64(p.Len)
		w.tensors++
		largest = max(largest, 4*int64(p.Len))
	}
	m.Variables += 2 * largest // at the end a parameter is copied to be hashed, and to be written
	arena := m.Arena
	if w.gpu != nil {
		arena = 0 // it is in the GPU's memory
	}
	m.Variables += w.lent()
	w.planned = max(loading, arena+m.Variables+data+server.ProcessBytes/w.Sharers())
	w.together = w.planned * int64(c.Workers) // no worker needs more than the first
	here := (w.planned - w.lent()) * int64(w.WorkersHere)
	if w.served != nil {
		w.together += w.served.apart
		here += w.served.apart * int64(w.WorkersHere) / int64(c.Workers)
	}
	machine := host.MemoryBytes()
	text := w.memoryText(m, data, loading, machine)
	if machine > 0 && uint64(here) > machine {
		return &setting.UsageError{Lines: []string{text + "; try a smaller --batch, fewer --workers, " +
			"or less --memory"}}
	}
	if most := int64(c.Resident) / w.Sharers(); c.Resident > 0 {
		if w.planned > most {
			return &setting.UsageError{Lines: []string{fmt.Sprintf("%s; --resident allows %s, and must "+
				"allow what loading takes; for training try a smaller --batch, fewer --threads, or less "+
				"--memory", text, spelling.Size(most))}}
		}
		// Arenas are not the collector's.
		debug.SetMemoryLimit(max(least, int64(c.Resident)-w.Sharers()*arena))
	}
	w.Announce(text)
	return nil
}

// memoryText says what was planned, and what its parts are.
func (w *Worker) memoryText(m train.Memory, data, loading int64, machine uint64) string {
	activations := "activations " + spelling.Size(m.Arena)
	if w.gpu != nil {
		activations += " on the GPU, not counted"
	}
	text := fmt.Sprintf("memory: %s planned, the larger of training (%s, parameters with gradients and "+
		"optimizer %s, data %s) and loading the data (%s)", spelling.Size(w.planned), activations,
		spelling.Size(m.Variables), spelling.Size(data), spelling.Size(loading))
	if w.Config.World() > 1 {
		text += fmt.Sprintf("; %s together", spelling.Size(w.together))
	}
	if machine > 0 {
		text += fmt.Sprintf("; this machine, or its container, has %s", spelling.Size(int64(machine)))
	}
	return text
}

// lent is about what a worker reads of its peers' gradients where they lie in shared memory, when each of k
// has a share of the sum: of every peer the share that it adds up itself, and the one that the peer has added
// up. These pages count in both processes, but take the machine's memory once.
func (w *Worker) lent() int64 {
	k := int64(w.WorkersHere)
	if !w.Config.SharesMemory() || w.Config.IsIsolated() || w.served != nil || k < 2 {
		return 0
	}
	return w.gradient * 2 * (k - 1) / k
}
