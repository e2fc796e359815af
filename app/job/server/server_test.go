package server

import (
	"testing"

	"lockstep/app/setting"
	"lockstep/gradsync"
	"lockstep/ps"
	"lockstep/shard"
)

// The plan of a server has a vector for the weights, one for each piece that is not read where it is,
// and with clipping one for their sum.
func TestReceivedBytes(t *testing.T) {
	const elems, one = 100, 4 * 100
	plan, err := shard.Cut(2, 2)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := ps.NewLayout(ps.LayoutConfig{Plan: plan, Len: elems, Servers: 1, RowLen: 1,
		Segments: []gradsync.Segment{{Len: elems}}, Order: []int{0}, BucketBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		wire string
		clip float64
		want int64
	}{{"fp32", 0, 2 * one}, {"zstd", 0, 2 * one}, {"int8", 0, 3 * one}, {"fp32", 1, 3 * one}} {
		config := setting.Default()
		config.Strategy, config.Workers, config.Wire, config.Clip = "ps", 2, c.wire, c.clip
		if got := ReceivedBytes(config, layout, plan, 0); got != c.want {
			t.Errorf("%s, clip %v: %d bytes, want %d", c.wire, c.clip, got, c.want)
		}
	}
}
