package ps

import (
	"errors"
	"sync"
	"time"

	"lockstep/comm"
)

// ErrHalted is the error of a worker that asks for a batch of a run that was halted.
var ErrHalted = errors.New("ps: the run was halted")

// AsyncClient is a worker's side of asynchronous servers. It satisfies train.AsyncSync. A step is
// Take, WaitWeights, Begin, Commit, GatherRows and Ready. It is for one goroutine, except for Halt.
type AsyncClient struct {
	*Client
	next     ask // to be sent
	asked    []byte
	ask      *comm.Mail
	isAsking bool // and not answered
	answered []byte
	answer   *comm.Mail
	updated  []byte
	update   *comm.Mail
	counted  done // scratch

	isBorrower bool // it has a batch, or was not told that others have none
	isHalted   bool // the last answer said so
	halting    sync.Once
	halted     chan struct{} // closed by Halt
	halt       *comm.Mail
}

// NewAsyncClient returns the client of worker Post.Rank, for a layout of AsyncLayout.
func NewAsyncClient(c ClientConfig) (*AsyncClient, error) {
	client, err := NewClient(c)
	if err != nil {
		return nil, err
	}
	n, size := c.Layout.told()
	rows := c.Layout.config.RowLen
	w := &AsyncClient{Client: client, next: ask{batch: -1}, asked: make([]byte, askBytes+4*rows),
		answered: make([]byte, answerBytes+n*size), updated: make([]byte, n*size),
		counted: done{rows: make([]float32, rows)}, halted: make(chan struct{})}
	home, rank := c.Layout.Homes[0], c.Post.Rank()
	r := registry{post: c.Post, layout: c.Layout}
	w.ask = r.send(kindAsk, home, rank, 0, comm.Letter{Name: "ask", Buf: w.asked})
	w.answer = r.receive(kindAnswer, home, rank, 0, comm.Letter{Name: "next batch", Buf: w.answered})
	w.update = r.receive(kindUpdate, home, rank, 0, comm.Letter{Name: "updates", Buf: w.updated})
	w.halt = r.send(kindHalt, home, rank, 0, comm.Letter{Name: "halt", Buf: make([]byte, 1)})
	return w, r.err
}

// Begin starts the push of a batch.
func (w *AsyncClient) Begin(batch int) {
	w.next.batch = batch
	w.Client.Begin(batch)
}

// Commit says, ahead of GatherRows, how the gradient of the batch updates the weights: its learning
// rate, and the size of the batch. With isLast the run ends with the batches that are lent.
func (w *AsyncClient) Commit(rate float64, samples int, isLast bool) {
	w.next.rate, w.next.samples, w.next.isLast = rate, samples, isLast
}

// GatherRows sends the rows of the batch to server 0 and asks for the next batch.
func (w *AsyncClient) GatherRows(rows []float32) {
	copy(w.asked[askBytes:], comm.Bytes(rows))
	w.request()
}

// request asks for a batch, and begins to receive its weights.
func (w *AsyncClient) request() {
	for i := range w.spans {
		e := &w.spans[i]
		w.wait(e) // after a stop the weights may not have been read
		e.expect()
	}
	if w.err != nil {
		return
	}
	w.next.put(w.asked)
	w.next = ask{batch: -1}
	w.isAsking = true
	w.answer.Start()
	w.ask.Start()
}

// Ready pushes a bucket of the gradient when its last parameter is final.
func (w *AsyncClient) Ready(param int) {
	bucket := w.bucketOf[param]
	if w.missing[bucket]--; w.missing[bucket] == 0 {
		w.push(bucket)
	}
}

// Ahead returns the batch that the next Take returns, if the answer is there already; else -1.
func (w *AsyncClient) Ahead() int {
	if !w.isAsking || !w.answer.IsDone() {
		return -1
	}
	var a answer
	a.read(w.answered)
	return a.batch
}

// Take blocks until a batch is lent, or there is a view or a stop, and batch is -1: isView says that
// worker 0 is to evaluate while others go on, isOver that the run ends at this stop. Before it
// returns, it calls count with the batch and the rows of every update that it has not seen, in order.
// WaitWeights waits for the weights that belong to the answer.
func (w *AsyncClient) Take(count func(batch int, rows []float32)) (batch int, isView, isOver bool,
	err error) {
	if w.isHalted {
		<-w.halted // this worker is about to be halted, too
		return -1, false, true, ErrHalted
	}
	if !w.isAsking {
		clear(w.asked[askBytes:])
		w.request()
	}
	w.isAsking = false
	var a answer
	if w.err == nil {
		began := time.Now()
		w.keep(w.ask.Wait())
		w.keep(w.answer.Wait())
		w.waited(began, w.answer)
	}
	if w.err == nil {
		a.read(w.answered)
		w.count(w.answered[answerBytes:], a.updates, count)
	}
	w.isHalted, w.isBorrower = a.isHalted, a.batch >= 0 || a.isView
	return a.batch, a.isView, a.isOver && !a.isHalted, w.err
}

// count counts updates, the first of which are told, and receives the others.
func (w *AsyncClient) count(told []byte, updates int, count func(batch int, rows []float32)) {
	_, size := w.config.Layout.told()
	for ; updates > 0; updates-- {
		if len(told) == 0 {
			w.update.Start()
			if w.keep(w.update.Wait()); w.err != nil {
				return
			}
			told = w.updated
		}
		w.counted.read(told)
		count(w.counted.batch, w.counted.rows)
		told = told[size:]
	}
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

// Close tells the servers that this worker leaves, unless it leaves with an error, or while others go
// on: then the end of its links tells them. The post stays open.
func (w *AsyncClient) Close() error {
	if w.isBorrower || w.isAsking {
		return nil
	}
	return w.Client.Close()
}
