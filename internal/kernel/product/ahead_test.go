package product

import (
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/kerneltest"
)

// While a panel is multiplied, the one that is multiplied next is fetched, and the tiles of a batch suffice
// to fetch all of it.
func TestNextPanelIsFetched(t *testing.T) {
	for _, isa := range compute.Supported() {
		v := On(kerneltest.Open(t, isa, 1)).NewConv(ConvShape{1024, 1, 1, 1200, 1000, 1, 1, 1, 0})
		g := v.forward.(*gather)
		g.panels = make([]float32, g.rows()*g.columns)
		blocks := [2]int{0, len(g.blocks)}
		next := g.nextPanel(blocks[1]-1, g.chunk*(g.shape.depth/g.chunk), blocks) // the next batch begins
		for b := range blocks[1] {
			for first := 0; first < g.shape.depth; first += g.chunk {
				if want := g.panel(first, b); &next[0] != &want[0] {
					t.Fatalf("%v: block %d, chunk at %d: another panel was fetched", isa, b, first)
				}
				left := [1][]float32{next}
				for range g.batch {
					fetchNext(left[:], 6*min(g.chunk, g.shape.depth-first), nil)
				}
				if len(left[0]) > 0 {
					t.Errorf("%v: %d tiles leave %d floats of %d", isa, g.batch, len(left[0]), len(next))
				}
				next = g.nextPanel(b, first, blocks)
			}
		}
	}
}

// While a strip is multiplied, the next one is fetched: its first channel, then its last.
func TestNextStripIsFetched(t *testing.T) {
	v := On(kerneltest.Open(t, compute.Supported()[0], 1)).NewConv(ConvShape{256, 1, 1, 300, 300, 1, 1, 1, 0})
	o := v.weights.(*outer)
	x := make([]float32, 256*300)
	for i := range x {
		x[i] = float32(i)
	}
	p := o.parts[0]
	for i := range o.tiles[1:] {
		last, tile := o.tiles[i], o.tiles[i+1]
		if tile.first == last.first {
			continue
		}
		p.next = o.nextStrip(p, i, x)
		for _, channel := range []int32{tile.first, tile.first + tile.rows - 1} {
			p.fetch(4 * 300)
			if p.outer.Fetch[0] != float32(channel) || p.outer.FetchStride != 4*300 {
				t.Fatalf("channel %v was fetched every %d bytes, not %d", p.outer.Fetch[0],
					p.outer.FetchStride, channel)
			}
		}
	}
}

// While a parcel is multiplied, a part of several blocks and panels asks for all that it packs of the next
// one, and for nothing else.
func TestNextParcelIsFetched(t *testing.T) {
	const rows, depth, width = 444, 608, 160 // two parcels, batches of 7 and 6 blocks
	x, dy := make([]float32, rows*depth), make([]float32, rows*width)
	for threads := 1; threads <= 4; threads++ {
		c, err := compute.Open(compute.Config{ISA: compute.Plain, Threads: threads, Math: compute.BF16})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		o := On(c).NewConv(ConvShape{rows, 1, 1, depth, width, 1, 1, 1, 0}).weights.(*splitOuter)
		o.x, o.dy = x, dy
		for i := range o.grid.parts() {
			p := o.parts[0]
			p.blocks, p.panels = o.grid.share(i, o.blocks(), o.panels())
			clear(x)
			clear(dy)
			o.findComing(p)
			for batch := range p.batches() {
				lo, hi := compute.Span(p.blocks[1]-p.blocks[0], batch, p.batches())
				for range p.panels[1] - p.panels[0] {
					rows := (hi - lo) * asm.SplitSide
					if next := p.askComing(rows); next != &nothing {
						markAsked(next, rows, o.steps)
					}
				}
			}
			what := fmt.Sprintf("%d threads, part %d", threads, i)
			checkAsked(t, what+" x", x[o.parcel()*depth:], depth, p.blocks)
			checkAsked(t, what+" dy", dy[o.parcel()*width:], width, p.panels)
		}
	}
}

// markAsked sets what so many rows ask for in so many steps to 1.
func markAsked(next *splitNext, rows, steps int) {
	for _, from := range next.rows[:rows] {
		for step := range steps {
			at := int(from) + step*next.stride
			for i := at; i < min(at+asm.SplitSide, len(next.from)); i++ {
				next.from[i] = 1
			}
		}
	}
}

// checkAsked fails unless the columns of the given blocks were asked for in all rows, and no others.
func checkAsked(t *testing.T, what string, asked []float32, width int, blocks [2]int) {
	t.Helper()
	for i, got := range asked {
		want := float32(0)
		if b := i % width / asm.SplitSide; b >= blocks[0] && b < blocks[1] {
			want = 1
		}
		if got != want {
			t.Fatalf("%s: row %d, column %d: %v, want %v", what, i/width, i%width, got, want)
		}
	}
}

// The gradient of the weights is cut into strips by the shape. The numbers of convolutions of stride 1 are as
// they were before there were any of stride 2: others would change bits.
func TestStrips(t *testing.T) {
	c := On(kerneltest.Open(t, compute.Plain, 1))
	for _, v := range []struct{ n, side, c, k, stride, want int }{
		{64, 32, 64, 64, 1, 8}, {64, 32, 64, 128, 1, 8}, {64, 32, 96, 192, 1, 7}, {64, 32, 128, 144, 1, 7},
		{64, 32, 192, 192, 1, 1}, {128, 16, 32, 32, 1, 8}, {64, 8, 256, 256, 1, 1},
		{64, 32, 128, 128, 2, 4}, {128, 16, 32, 64, 2, 4}, {64, 16, 64, 64, 2, 1}, {64, 32, 128, 136, 2, 1},
	} {
		s := ConvShape{v.n, v.side, v.side, v.c, v.k, 3, 3, v.stride, 1}
		if got := c.NewConv(s).weights.(*winogradWeights).strips; got != v.want {
			t.Errorf("%+v: %d strips, want %d", s, got, v.want)
		}
	}
}
