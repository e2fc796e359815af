package product

import (
	"testing"

	"lockstep/compute"
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
				p := gatherPart{next: next}
				for range g.batch {
					p.fetch(6 * min(g.chunk, g.shape.depth-first))
				}
				if len(p.next) > 0 {
					t.Errorf("%v: %d tiles leave %d floats of %d", isa, g.batch, len(p.next), len(next))
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
