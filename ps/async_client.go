package ps

import (
	"errors"
	"sync"

	"lockstep/comm"
)

// ErrHalted is the error of a worker that asks for a batch of a run that was halted.
var ErrHalted = errors.New("ps: the run was halted")

// AsyncClient is a worker's side of asynchronous servers. It satisfies train.AsyncSync. A step is
// Take, WaitWeights, Begin, GatherRows and Ready, Commit. It is for one goroutine, except for Halt.
type AsyncClient struct {
	*Client
	next     ask
	asked    []byte
	ask      *comm.Mail
	answered []byte
	answer   *comm.Mail
	updated  []float32
	update   *comm.Mail
	pushed   *comm.Mail // rows
	isPushed bool

	isHalted bool // the last answer said so
	halting  sync.Once
	halted   chan struct{} // closed by Halt
	halt     *comm.Mail
}

// NewAsyncClient returns the client of worker Post.Rank, for a layout of AsyncLayout.
func NewAsyncClient(c ClientConfig) (*AsyncClient, error) {
	client, err := NewClient(c)
	if err != nil {
		return nil, err
	}
	w := &AsyncClient{Client: client, next: ask{batch: -1}, asked: make([]byte, askBytes),
		answered: make([]byte, answerBytes), updated: make([]float32, c.Layout.config.RowLen),
		halted: make(chan struct{})}
	home, rank := c.Layout.Homes[0], c.Post.Rank()
	r := registry{post: c.Post, layout: c.Layout}
	w.ask = r.send(kindAsk, home, rank, 0, comm.Letter{Name: "ask", Buf: w.asked})
	w.answer = r.receive(kindAnswer, home, rank, 0, comm.Letter{Name: "next batch", Buf: w.answered})
	w.update = r.receive(kindUpdate, home, rank, 0, comm.Letter{Name: "update", Vector: w.updated})
	w.halt = r.send(kindHalt, home, rank, 0, comm.Letter{Name: "halt", Buf: make([]byte, 1)})
	return w, r.err
}

// Begin starts the push of a batch.
func (w *AsyncClient) Begin(batch int) {
	w.next.batch = batch
	w.Client.Begin(batch)
}

// GatherRows sends the rows of the batch to server 0. It must be called with the same memory in
// every step.
func (w *AsyncClient) GatherRows(rows []float32) {
	if w.pushed == nil {
		l := w.config.Layout
		r := registry{post: w.config.Post, layout: l}
		w.pushed = r.send(kindRows, l.Homes[0], w.config.Post.Rank(), 0,
			comm.Letter{Name: "rows", Vector: rows})
		w.keep(r.err)
	}
	if w.err == nil {
		w.isPushed = true
		w.pushed.Start()
	}
}

// Ready pushes a bucket of the gradient when its last parameter is final.
func (w *AsyncClient) Ready(param int) {
	bucket := w.bucketOf[param]
	if w.missing[bucket]--; w.missing[bucket] == 0 {
		w.push(bucket)
	}
}

// Commit says how the gradient that was pushed updates the weights: its learning rate, and the size of
// the batch. The next Take passes it on. With isLast the run ends with the batches that are lent.
func (w *AsyncClient) Commit(rate float64, samples int, isLast bool) {
	w.next.rate, w.next.samples, w.next.isLast = rate, samples, isLast
}

// Take asks for a batch and blocks until one is lent, or the run is at a stop: then the batch is
// -1, and isOver says whether the run ends here. Before it returns, it calls count with the rows of
// every update that it has not seen, in order. WaitWeights waits for the weights that belong to
// the answer.
func (w *AsyncClient) Take(count func(rows []float32)) (batch int, isOver bool, err error) {
	if w.isHalted {
		<-w.halted // this worker is about to be halted, too
		return -1, true, ErrHalted
	}
	if w.isPushed {
		w.isPushed = false
		w.keep(w.pushed.Wait())
	}
	for i := range w.spans {
		e := &w.spans[i]
		w.wait(e) // after a stop the weights may not have been read
		w.waitSent(e)
		e.expect()
	}
	w.next.put(w.asked)
	w.next = ask{batch: -1}
	w.answer.Start()
	w.ask.Start()
	w.keep(w.ask.Wait())
	w.keep(w.answer.Wait())
	var a answer
	if w.err == nil {
		a.read(w.answered)
	}
	for range a.updates {
		w.update.Start()
		if w.keep(w.update.Wait()); w.err != nil {
			break
		}
		count(w.updated)
	}
	w.isHalted = a.isHalted
	return a.batch, a.isOver && !a.isHalted, w.err
}

// Sum leaves counts as they are: every worker counts everything.
func (w *AsyncClient) Sum([]int64) error { return w.err }

// Halt ends the run at the next stop, as soon as the batches that are lent are applied. It may be
// called concurrently with all other methods but Close, and more than once.
func (w *AsyncClient) Halt() {
	w.halting.Do(func() {
		w.halt.Start()
		close(w.halted)
	})
}

// Close tells the servers that this worker leaves, unless it leaves with an error, or has borrowed
// a batch: then the end of its links tells them. The post stays open.
func (w *AsyncClient) Close() error {
	if w.next.batch >= 0 {
		return nil
	}
	return w.Client.Close()
}
