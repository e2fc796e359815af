package ps

import (
	"encoding/binary"
	"math"

	"lockstep/comm"
)

// Note: asynchronous messages
//
// A worker borrows a batch and returns its gradient in these messages, besides push, pull, load,
// state, vector and leave, which Note: messages describes:
//
//	ask       (to server 0) the worker wants the next batch; the batch whose gradient follows, if
//	          any, with its rate and rows
//	answer    (from server 0) the next batch, a view or a stop, with the first updates that the worker
//	          has not seen
//	update    (from server 0) further updates, in order
//	order     (from server 0 to the others) a decision of the ledger
//	arrival   (to server 0 from the others) all spans of a gradient are there
//	halt      (to server 0) the run is to end at the next stop
//
// A worker sends its ask before the backward pass of its last shard, and starts the receivers of the
// answer and of the weights with it. So it can prepare the next batch meanwhile, and its weights are on
// their way as soon as its gradient is applied.
//
// All servers carry out the ledger's decisions in the same order, so every version is the same on
// all of them. A gradient is committed when all of it is on all servers: the loss of its worker can
// no longer take a part of it away. A server copies its weights when it lends a batch, because they may
// change while the copy is sent.
const (
	kindAsk = iota + kindLeave + 1
	kindAnswer
	kindUpdate
	kindOrder
	kindArrival
	kindHalt
)

// ask is what a worker tells server 0, ahead of the rows of the batch.
type ask struct {
	batch   int // whose gradient follows; -1: none
	rate    float64
	samples int
	isLast  bool // the run shall end
}

const askBytes = 32

func (a ask) put(b []byte) {
	putWords(b, a.batch, int(math.Float64bits(a.rate)), a.samples, bit(a.isLast))
}

func (a *ask) read(b []byte) {
	w := words(b)
	*a = ask{w(0), math.Float64frombits(uint64(w(1))), w(2), w(3) != 0}
}

// answer is what server 0 tells a worker, ahead of updates.
type answer struct {
	batch                    int // -1: a view or a stop
	updates                  int // that the worker has not seen
	isView, isOver, isHalted bool
}

const answerBytes = 40

func (a answer) put(b []byte) {
	putWords(b, a.batch, a.updates, bit(a.isView), bit(a.isOver), bit(a.isHalted))
}

func (a *answer) read(b []byte) {
	w := words(b)
	*a = answer{w(0), w(1), w(2) != 0, w(3) != 0, w(4) != 0}
}

// done is an update that was made: the batch, and the rows of its shards.
type done struct {
	batch int
	rows  []float32
}

// doneBytes is the length of what is told of an update ahead of its rows.
const doneBytes = 8

// mostTold is how many bytes of updates a message has, unless one update takes more.
const mostTold = 4096

// told returns how many updates a message has room for, and the bytes of each.
func (l *Layout) told() (updates, size int) {
	size = doneBytes + 4*l.config.RowLen
	return max(1, min(2*l.Workers, mostTold/size)), size
}

func (d done) put(b []byte) {
	putWords(b, d.batch)
	copy(b[doneBytes:], comm.Bytes(d.rows))
}

// read fills the rows, which must have their length.
func (d *done) read(b []byte) {
	d.batch = words(b)(0)
	copy(comm.Bytes(d.rows), b[doneBytes:])
}

// order is a decision for all servers.
type order struct {
	kind          Kind
	worker, batch int
	rate          float64 // of an Apply
	samples       int
}

// dismiss is the kind of the last order.
const dismiss Kind = -1

const orderBytes = 40

func (o order) put(b []byte) {
	putWords(b, int(o.kind), o.worker, o.batch, int(math.Float64bits(o.rate)), o.samples)
}

func (o *order) read(b []byte) {
	w := words(b)
	*o = order{Kind(w(0)), w(1), w(2), math.Float64frombits(uint64(w(3))), w(4)}
}

// loanKey identifies a gradient: a batch may be lent twice.
type loanKey struct{ worker, batch int }

const arrivalBytes = 16

// goodbye in place of an arrival says that a server has no workers any more.
var goodbye = loanKey{-1, -1}

func (k loanKey) put(b []byte) { putWords(b, k.worker, k.batch) }

func (k *loanKey) read(b []byte) {
	w := words(b)
	*k = loanKey{w(0), w(1)}
}

func putWords(b []byte, values ...int) {
	for i, v := range values {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
}

func words(b []byte) func(i int) int {
	return func(i int) int { return int(int64(binary.LittleEndian.Uint64(b[8*i:]))) }
}

func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}

// outbox sends messages to one peer, one after another.
type outbox struct {
	queue  []parcel
	isBusy bool
}

// parcel is a message whose memory is filled when it is its turn.
type parcel struct {
	mail *comm.Mail
	fill func()
}

// add sends a message when the ones before it have left.
func (o *outbox) add(m *comm.Mail, fill func()) {
	o.queue = append(o.queue, parcel{m, fill})
	o.send()
}

// send starts the next message, unless one is under way.
func (o *outbox) send() {
	if o.isBusy || len(o.queue) == 0 {
		return
	}
	p := o.queue[0]
	o.queue = append(o.queue[:0], o.queue[1:]...)
	o.isBusy = true
	p.fill()
	p.mail.Start()
}

// sent notes that the message under way has left.
func (o *outbox) sent() {
	o.isBusy = false
	o.send()
}
