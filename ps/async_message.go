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
//	ask       (to server 0) the batch whose gradient was pushed, if any; the worker wants the next
//	answer    (from server 0) the next batch, or a stop, and how many updates follow
//	update    (from server 0) the rows of an update, in order, for every update of the run
//	rows      (to server 0) the rows of the batch
//	order     (from server 0 to the others) a decision of the ledger
//	arrival   (to server 0 from the others) all spans of a gradient are there
//	halt      (to server 0) the run is to end at the next stop
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

// ask is what a worker tells server 0.
type ask struct {
	batch   int // whose gradient was pushed; -1: none
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

// answer is what server 0 tells a worker.
type answer struct {
	batch            int // -1: a stop
	updates          int // messages with updates that follow
	isOver, isHalted bool
}

const answerBytes = 32

func (a answer) put(b []byte) { putWords(b, a.batch, a.updates, bit(a.isOver), bit(a.isHalted)) }

func (a *answer) read(b []byte) {
	w := words(b)
	*a = answer{w(0), w(1), w(2) != 0, w(3) != 0}
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
