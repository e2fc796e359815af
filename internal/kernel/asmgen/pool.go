package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pixels walks the pixels of one row of a 2x2 max pooling, and the channels of each.
type pixels struct {
	*vectors
	base     map[string]reg.Register
	channel  reg.GPVirtual    // bytes from the pixel's first channel
	neighbor reg.GPVirtual    // the same for the input pixel to the right
	next     [2]reg.GPVirtual // both, two rows further down
	offset   int
	partial  bool
}

// get loads a vector of the slice at the channels of a pixel, or of its right neighbor.
func (p *pixels) get(slice string, index reg.Register) reg.Register {
	return p.load(p.at(slice, index), p.partial)
}

func (p *pixels) put(slice string, index, x reg.Register) {
	p.store(x, p.at(slice, index), p.partial)
}

func (p *pixels) at(slice string, index reg.Register) operand.Mem {
	return operand.Mem{Base: p.base[slice], Index: index, Scale: 1, Disp: p.offset}
}

// fetchNext asks for what the next row of pixels will read. Rows come in pairs, so that the
// processor's own prefetching loses the stream at the end of each.
func (p *pixels) fetchNext(slices []string) {
	for _, slice := range slices {
		for _, next := range p.next {
			p.PREFETCHT0(p.at(slice, next))
		}
	}
}

// maxPool emits the forward pass.
func (v *vectors) maxPool() {
	v.declare("maxPool", "func(y, top, low []float32, channels int)")
	v.pixels("y", []string{"top", "low"}, func(p *pixels) {
		m := p.get("top", p.channel)
		for _, x := range []reg.Register{
			p.get("top", p.neighbor), p.get("low", p.channel), p.get("low", p.neighbor),
		} {
			p.replace(m, x, p.beats(x, m))
		}
		p.put("y", p.channel, m)
	})
}

// maxPoolBackward emits the backward pass: the gradient goes to the first place, and moves on to each
// later one that beats the maximum so far.
func (v *vectors) maxPoolBackward() {
	v.declare("maxPoolBackward", "func(dtop, dlow, dy, top, low []float32, channels int)")
	v.pixels("dy", []string{"top", "low", "dtop", "dlow"}, func(p *pixels) {
		places := []struct {
			slice string
			index reg.Register
		}{{"top", p.channel}, {"top", p.neighbor}, {"low", p.channel}, {"low", p.neighbor}}
		dy := p.get("dy", p.channel)
		var m reg.Register
		var given []reg.Register
		for _, to := range places {
			x := p.get(to.slice, to.index)
			if m == nil {
				m, given = x, append(given, p.get("dy", p.channel)) // a register of its own
				continue
			}
			wins := p.beats(x, m)
			for _, d := range given {
				p.drop(d, wins)
			}
			given = append(given, p.keep(dy, wins))
			p.replace(m, x, wins)
		}
		for i, to := range places {
			p.put("d"+to.slice, to.index, given[i])
		}
	})
}

// pixels emits loops over the pixels of the slice one, of which the slices two have twice as many, and
// over their channels. The first two of these are the input rows.
func (v *vectors) pixels(one string, two []string, body func(p *pixels)) {
	p := &pixels{vectors: v, base: v.bases(append([]string{one}, two...))}
	left, channels, n := v.GP64(), v.GP64(), v.GP64()
	v.Load(v.Param(one).Len(), left)
	v.Load(v.Param("channels"), channels)
	ahead := v.GP64() // bytes of two rows
	v.Load(v.Param(two[0]).Len(), ahead)
	v.SHLQ(operand.Imm(3), ahead)
	v.begin(channels)
	v.Label("pixel")
	v.SUBQ(channels, left)
	v.JL(operand.LabelRef("end"))
	p.channel, p.neighbor = v.GP64(), v.GP64()
	v.XORQ(p.channel, p.channel)
	v.LEAQ(operand.Mem{Base: p.channel, Index: channels, Scale: 4}, p.neighbor)
	for i := range p.next {
		p.next[i] = v.GP64()
	}
	v.MOVQ(ahead, p.next[0])
	v.LEAQ(operand.Mem{Base: ahead, Index: channels, Scale: 4}, p.next[1])
	v.MOVQ(channels, n)
	v.walk(n, func(vector int, partial bool) {
		p.offset, p.partial = vector*4*v.lanes(), partial
		p.fetchNext(two[:2])
		body(p)
	}, p.channel, p.neighbor, p.next[0], p.next[1])
	b := p.base[one]
	v.LEAQ(operand.Mem{Base: b, Index: channels, Scale: 4}, b)
	for _, s := range two {
		b := p.base[s]
		v.LEAQ(operand.Mem{Base: b, Index: channels, Scale: 8}, b)
	}
	v.JMP(operand.LabelRef("pixel"))
	v.Label("end")
	v.VZEROUPPER()
	v.RET()
}
