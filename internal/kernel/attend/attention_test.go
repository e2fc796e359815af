package attend_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/attend"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
)

// textCase is a batch of texts for attention.
type textCase struct {
	lengths     []int
	heads, size int
	share       float64
	causal      bool
	every       int // the reference has only each so manyth row, which alone have gradients; 0 means all
}

// shape returns the shape of the case with texts of at most most tokens.
func (c textCase) shape(most int) attend.Shape {
	return attend.Shape{Heads: c.heads, Size: c.size, Most: most, Causal: c.causal}
}

// rows returns where the texts start, and the dropout of the case.
func (c textCase) rows() (row.Rows, row.Dropout) {
	r, d := row.Rows{Starts: []int32{0}}, row.Dropout{Limit: row.DropLimit(c.share)}
	for n, length := range c.lengths {
		r.Starts = append(r.Starts, r.Starts[n]+int32(length))
		d.Keys = append(d.Keys, uint64(n+1)<<60+12345)
	}
	return r, d
}

// factor is dropout's factor of element j of row i of matrix h of text n: 16 bits of a word decide.
func (c textCase) factor(d row.Dropout, n, h, i, j int) float64 {
	word := asm.Hash(d.Keys[n] + uint64(h)<<36 + uint64(i)<<16 + uint64(j/4))
	if uint32(word>>(j%4*16)&0xffff) < d.Limit {
		return 0
	}
	return 65536 / float64(65536-d.Limit)
}

// reference computes attention and its gradients for dy in float64 by the formulas.
func (c textCase) reference(q, k, v, dy []float32) (y, dq, dk, dv []float64) {
	r, d := c.rows()
	cols, scale := c.heads*c.size, 1/math.Sqrt(float64(c.size))
	y, dq = make([]float64, len(q)), make([]float64, len(q))
	dk, dv = make([]float64, len(q)), make([]float64, len(q))
	for n, length := range c.lengths {
		for h := range c.heads {
			at := func(i int) int { return (int(r.Starts[n])+i)*cols + h*c.size }
			dot := func(a, b []float32, i, j int) (sum float64) {
				for f := range c.size {
					sum += float64(a[at(i)+f]) * float64(b[at(j)+f])
				}
				return sum
			}
			for i := 0; i < length; i += max(c.every, 1) {
				p, dp, total, flow := make([]float64, length), make([]float64, length), 0.0, 0.0
				if c.causal {
					p, dp = p[:i+1], dp[:i+1]
				}
				for j := range p {
					p[j] = math.Exp(dot(q, k, i, j) * scale)
					total += p[j]
				}
				for j := range p {
					p[j] /= total
					dp[j] = dot(dy, v, i, j) * c.factor(d, n, h, i, j)
					flow += p[j] * dp[j]
				}
				for j := range p {
					ds, kept := p[j]*(dp[j]-flow)*scale, p[j]*c.factor(d, n, h, i, j)
					for f := range c.size {
						y[at(i)+f] += kept * float64(v[at(j)+f])
						dv[at(j)+f] += kept * float64(dy[at(i)+f])
						dq[at(i)+f] += ds * float64(k[at(j)+f])
						dk[at(j)+f] += ds * float64(q[at(i)+f])
					}
				}
			}
		}
	}
	return y, dq, dk, dv
}

// each runs check on every ISA with 1, 2 and 3 threads, in float32 and with operands rounded to bf16.
func each(t *testing.T, check func(t *testing.T, cpu *compute.CPU)) {
	kerneltest.Everywhere(t, check)
	t.Run("bf16", func(t *testing.T) {
		kerneltest.Everywhere(t, func(t *testing.T, cpu *compute.CPU) {
			rounding, err := compute.Open(compute.Config{ISA: cpu.ISA(), Threads: cpu.Threads(),
				Math: compute.BF16})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(rounding.Close)
			check(t, rounding)
		})
	})
}

// tolerance is that of results of operands around 1.
func tolerance(cpu *compute.CPU) float64 {
	if cpu.Math() == compute.BF16 {
		return 0x1p-7
	}
	return 3e-6
}

// operands are what attention and its gradients are computed of.
type operands struct{ q, k, v, dy []float32 }

// draw returns operands of the case.
func (c textCase) draw(t *testing.T) operands {
	r, _ := c.rows()
	n := int(r.Starts[len(c.lengths)]) * c.heads * c.size
	return operands{kerneltest.Draw(t, n, 0, 1), kerneltest.Draw(t, n, 0, 2), kerneltest.Draw(t, n, 0, 3),
		kerneltest.Draw(t, n, 0, 4)}
}

func TestAttention(t *testing.T) {
	for _, c := range []textCase{
		{[]int{1}, 1, 16, 0, false, 0}, {[]int{5, 1, 33}, 2, 64, 0.25, false, 0},
		{[]int{300, 7, 130}, 1, 64, 0.1, false, 0}, {[]int{17, 128}, 3, 32, 0, false, 0},
		{[]int{63, 64, 65, 257}, 2, 32, 0.1, false, 0}, {[]int{100}, 1, 48, 0, false, 0},
		{[]int{1, 2, 33}, 2, 16, 0, true, 0}, {[]int{64, 260, 129, 5}, 1, 32, 0.1, true, 0},
		{[]int{270}, 1, 48, 0, true, 0},
		{[]int{530}, 1, 32, 0.1, true, 0}, {[]int{530}, 1, 32, 0.1, false, 0}, // with a block in the middle
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) { c.check(t, c.draw(t), 0) })
	}
}

// check compares attention and its gradients with the reference, but for the gradients of the first features
// of q and k, and with other processors and numbers of threads bit for bit.
func (c textCase) check(t *testing.T, x operands, skip int) {
	r, d := c.rows()
	n, most := len(x.q), slices.Max(c.lengths)
	wantY, wantDQ, wantDK, wantDV := c.reference(x.q, x.k, x.v, x.dy)
	first := map[compute.Math][][]float32{} // the bits depend on it alone
	each(t, func(t *testing.T, cpu *compute.CPU) {
		a := attend.New(cpu, c.shape(most+cpu.Threads()))
		scratch := kerneltest.Floats(t, a.ScratchFloats())
		moments := kerneltest.Floats(t, 2*n/c.size)
		got := [][]float32{kerneltest.Floats(t, n), kerneltest.Floats(t, n), kerneltest.Floats(t, n),
			kerneltest.Floats(t, n)}
		run := func() {
			a.Forward(got[0], moments, x.q, x.k, x.v, r, d, scratch)
			a.Backward(got[1], got[2], got[3], x.dy, got[0], moments, x.q, x.k, x.v, r, d, scratch)
		}
		run()
		for i, want := range [][]float64{wantY, wantDQ, wantDK, wantDV} {
			if i == 1 || i == 2 {
				for f := 0; f < n; f += c.size {
					for j := range skip {
						want[f+j] = float64(got[i][f+j])
					}
				}
			}
			kerneltest.Near(t, fmt.Sprintf("y, dq, dk, dv [%d]", i), got[i], want, tolerance(cpu), 3)
		}
		k := cpu.Math()
		if first[k] == nil {
			for _, s := range got {
				first[k] = append(first[k], slices.Clone(s))
			}
		}
		for i, want := range first[k] {
			kerneltest.SameBits(t, fmt.Sprintf("%d threads [%d]", cpu.Threads(), i), got[i], want)
		}
		if a := alloctest.Least(2, run); a != 0 {
			t.Errorf("%v allocations, want 0", a)
		}
	})
}

// Scores of -Inf weigh nothing beside others, also in a row in which a whole block of keys has no others. A
// row that has nothing else is NaN.
func TestBlocksOfMinusInf(t *testing.T) {
	const length, size, blocks, rows = 2*256 + 7, 32, 3, 7
	for _, causal := range []bool{false, true} {
		c := textCase{[]int{length}, 1, size, 0, causal, 0}
		x := c.draw(t)
		// Scores of the keys of block b are -Inf in a row whose q has feature b, which those of the last rows
		// have whose number among them has bit b.
		mark := func(row, bits int) {
			for b := range blocks {
				x.q[row*size+b] = float32(1e10 * float64(bits>>b&1))
			}
		}
		for i := range length {
			mark(i, max(0, i-(length-rows)))
			clear(x.k[i*size:][:blocks])
			x.k[i*size+i/256] = -1e30
		}
		c.check(t, x, blocks)
		mark(length-1, 1<<blocks-1)
		r, d := c.rows()
		kerneltest.Everywhere(t, func(t *testing.T, cpu *compute.CPU) {
			a := attend.New(cpu, c.shape(length))
			y, moments := kerneltest.Floats(t, length*size), kerneltest.Floats(t, 2*length)
			a.Forward(y, moments, x.q, x.k, x.v, r, d, kerneltest.Floats(t, a.ScratchFloats()))
			for i, v := range y {
				if isNaN := v != v; isNaN != (i/size == length-1) {
					t.Fatalf("causal %v: feature %d of row %d is %v", causal, i%size, i/size, v)
				}
			}
		})
	}
}

func TestLayerNorm(t *testing.T) {
	for _, c := range []textCase{
		{lengths: []int{1}, heads: 1, size: 5}, {lengths: []int{3, 40, 1}, heads: 1, size: 128, share: 0.25},
		{lengths: []int{700, 9}, heads: 1, size: 33, share: 0.1},
	} {
		r, d := c.rows()
		cols := c.size
		n := int(r.Starts[len(r.Starts)-1]) * cols
		x, a, dy := kerneltest.Draw(t, n, 1, 1), kerneltest.Draw(t, n, 0, 2), kerneltest.Draw(t, n, 0, 3)
		gamma, beta := kerneltest.Draw(t, cols, 1, 4), kerneltest.Draw(t, cols, 0, 5)
		y, dx, da := make([]float64, n), make([]float64, n), make([]float64, n)
		dgamma, dbeta := make([]float64, cols), make([]float64, cols)
		for text, length := range c.lengths {
			for i := range length {
				at := (int(r.Starts[text]) + i) * cols
				xh, mean, square, g, gx := make([]float64, cols), 0.0, 0.0, 0.0, 0.0
				for j := range xh {
					xh[j] = float64(x[at+j]) + float64(a[at+j])*c.factor(d, text, 0, i, j)
					mean += xh[j] / float64(cols)
				}
				for j := range xh {
					xh[j] -= mean
					square += xh[j] * xh[j] / float64(cols)
				}
				inverse := 1 / math.Sqrt(square+1e-12)
				for j := range xh {
					xh[j] *= inverse
					y[at+j] = xh[j]*float64(gamma[j]) + float64(beta[j])
					dgamma[j] += float64(dy[at+j]) * xh[j]
					dbeta[j] += float64(dy[at+j])
					g += float64(dy[at+j]) * float64(gamma[j]) / float64(cols)
					gx += float64(dy[at+j]) * float64(gamma[j]) * xh[j] / float64(cols)
				}
				for j := range xh {
					dx[at+j] = inverse * (float64(dy[at+j])*float64(gamma[j]) - g - xh[j]*gx)
					da[at+j] = dx[at+j] * c.factor(d, text, 0, i, j)
				}
			}
		}
		var first [][]float32
		kerneltest.Everywhere(t, func(t *testing.T, cpu *compute.CPU) {
			p := row.On(cpu).NewLayerNorm(cols, 1e-12)
			s, moments := kerneltest.Clone(t, a), kerneltest.Floats(t, 2*n/cols)
			got := [][]float32{kerneltest.Floats(t, n), kerneltest.Floats(t, n), kerneltest.Floats(t, n),
				kerneltest.Floats(t, cols), kerneltest.Floats(t, cols)}
			p.Forward(got[0], s, moments, x, s, gamma, beta, r, d)
			p.Backward(got[1], got[2], got[3], got[4], dy, s, moments, gamma, r, d)
			for i, want := range [][]float64{y, dx, da, dgamma, dbeta} {
				kerneltest.Near(t, fmt.Sprintf("%+v: y, dx, da, dgamma, dbeta [%d]", c, i), got[i], want,
					1e-5, 3)
			}
			if first == nil {
				for _, s := range got {
					first = append(first, slices.Clone(s))
				}
			}
			for i, want := range first {
				kerneltest.SameBits(t, fmt.Sprintf("%+v on %d threads [%d]", c, cpu.Threads(), i), got[i],
					want)
			}
		})
	}
}

// Long texts are as accurate as short ones, with scratch that does not grow with them.
func TestLongTexts(t *testing.T) {
	for _, c := range []textCase{
		{[]int{1024}, 1, 16, 0.1, false, 97}, {[]int{1024, 200}, 1, 16, 0, true, 61},
		{[]int{4096}, 1, 64, 0, false, 97}, {[]int{4096}, 2, 32, 0.1, true, 97},
	} {
		r, d := c.rows()
		cols, most := c.heads*c.size, c.lengths[0]
		n := int(r.Starts[len(c.lengths)]) * cols
		q, k, v, dy := kerneltest.Draw(t, n, 0, 1), kerneltest.Draw(t, n, 0, 2), kerneltest.Draw(t, n, 0, 3),
			kerneltest.Draw(t, n, 0, 4)
		isSampled := func(i int) bool { // in the reference
			token, start := i/cols, 0
			for _, first := range r.Starts {
				if int(first) <= token {
					start = int(first)
				}
			}
			return (token-start)%c.every == 0
		}
		for i := range dy {
			if !isSampled(i) {
				dy[i] = 0
			}
		}
		wantY, wantDQ, wantDK, wantDV := c.reference(q, k, v, dy)
		isas := compute.Supported()
		if most > 1024 {
			isas = []compute.ISA{compute.Best()}
		}
		var first [][]float32
		for _, isa := range isas {
			cpu := kerneltest.Open(t, isa, 2)
			a := attend.New(cpu, c.shape(most))
			short := attend.New(cpu, c.shape(256)).ScratchFloats()
			if got := a.ScratchFloats(); got != short {
				t.Errorf("%d tokens: %d floats of scratch, for 256 tokens %d", most, got, short)
			}
			scratch, moments := kerneltest.Floats(t, a.ScratchFloats()), kerneltest.Floats(t, 2*n/c.size)
			got := [][]float32{kerneltest.Floats(t, n), kerneltest.Floats(t, n), kerneltest.Floats(t, n),
				kerneltest.Floats(t, n)}
			a.Forward(got[0], moments, q, k, v, r, d, scratch)
			a.Backward(got[1], got[2], got[3], dy, got[0], moments, q, k, v, r, d, scratch)
			if first == nil {
				first = got
			}
			for i, want := range first {
				kerneltest.SameBits(t, fmt.Sprintf("%+v on %v [%d]", c, isa, i), got[i], want)
			}
		}
		for i := range wantY {
			if !isSampled(i) {
				first[0][i] = 0
			}
		}
		for i, want := range [][]float64{wantY, wantDQ, wantDK, wantDV} {
			kerneltest.Near(t, fmt.Sprintf("%+v: y, dq, dk, dv [%d]", c, i), first[i], want, 1e-6, 3)
		}
	}
}

// Causal attention is that of PyTorch (testdata/sdpa.py).
func TestCausalAttentionIsPyTorchs(t *testing.T) {
	const tokens, heads, size = 11, 2, 16
	text, err := os.ReadFile("testdata/sdpa.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ Y, DQ, DK, DV []float64 }
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	values := func(name string) []float32 {
		x := make([]float32, tokens*heads*size)
		for i := range x {
			word := uint32(i)*2654435761 + crc32.ChecksumIEEE([]byte(name))
			x[i] = 4 * (float32(word>>8)/(1<<24) - 0.5)
		}
		return x
	}
	q, k, v, dy := values("q"), values("k"), values("v"), values("dy")
	r := row.Rows{Starts: []int32{0, tokens}}
	kerneltest.Everywhere(t, func(t *testing.T, cpu *compute.CPU) {
		a := attend.New(cpu, attend.Shape{Heads: heads, Size: size, Most: tokens, Causal: true})
		scratch, moments := make([]float32, a.ScratchFloats()), make([]float32, 2*tokens*heads)
		y, dq, dk, dv := make([]float32, len(q)), make([]float32, len(q)), make([]float32, len(q)),
			make([]float32, len(q))
		a.Forward(y, moments, q, k, v, r, row.Dropout{}, scratch)
		a.Backward(dq, dk, dv, dy, y, moments, q, k, v, r, row.Dropout{}, scratch)
		for i, want := range [][]float64{want.Y, want.DQ, want.DK, want.DV} {
			kerneltest.Near(t, fmt.Sprintf("y, dq, dk, dv [%d]", i), [][]float32{y, dq, dk, dv}[i], want,
				3e-6, 1)
		}
	})
}

// A text gets the same bits in every batch.
func TestTextBitsByBatch(t *testing.T) {
	all := textCase{[]int{1, 16, 7, 130, 33, 64, 5, 290}, 2, 32, 0.1, true, 0}
	r, d := all.rows()
	cols := all.heads * all.size
	n := int(r.Starts[len(all.lengths)]) * cols
	q, k, v := kerneltest.Draw(t, n, 0, 1), kerneltest.Draw(t, n, 0, 2), kerneltest.Draw(t, n, 0, 3)
	each(t, func(t *testing.T, cpu *compute.CPU) {
		a := attend.New(cpu, all.shape(290))
		scratch := make([]float32, a.ScratchFloats())
		want, moments := make([]float32, n), make([]float32, 2*n/all.size)
		a.Forward(want, moments, q, k, v, r, d, scratch)
		for i, length := range all.lengths {
			lo, rows := int(r.Starts[i])*cols, length*cols
			y, one := make([]float32, rows), row.Rows{Starts: []int32{0, int32(length)}}
			alone := row.Dropout{Limit: d.Limit, Keys: d.Keys[i : i+1]}
			attend.New(cpu, all.shape(length)).Forward(y, make([]float32, 2*length*all.heads),
				q[lo:][:rows], k[lo:][:rows], v[lo:][:rows], one, alone, scratch)
			kerneltest.SameBits(t, fmt.Sprintf("text %d of %d tokens", i, length), y, want[lo:][:rows])
		}
	})
}

// With bf16 the products of texts of at least 64 tokens are of rounded operands, if heads have whole steps of
// features; all others have the bits of float32.
func TestWhatAttentionRounds(t *testing.T) {
	for _, c := range []struct {
		length, size int
		rounds       bool
	}{{63, 64, false}, {64, 64, true}, {128, 48, false}, {128, 32, true}} {
		n := c.length * c.size
		q, k, v := kerneltest.Draw(t, n, 0, 1), kerneltest.Draw(t, n, 0, 2), kerneltest.Draw(t, n, 0, 3)
		var y [2][]float32
		var says bool
		for i, m := range []compute.Math{compute.Fast, compute.BF16} {
			cpu, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: 1, Math: m})
			if err != nil {
				t.Fatal(err)
			}
			defer cpu.Close()
			a := attend.New(cpu, attend.Shape{Heads: 1, Size: c.size, Most: c.length})
			y[i], says = make([]float32, n), a.OfParts()
			r, moments := row.Rows{Starts: []int32{0, int32(c.length)}}, make([]float32, 2*c.length)
			a.Forward(y[i], moments, q, k, v, r, row.Dropout{}, make([]float32, a.ScratchFloats()))
		}
		if rounded := !slices.Equal(y[0], y[1]); rounded != c.rounds || says != c.rounds {
			t.Errorf("%d tokens, %d features: rounded %v, said to be %v, want %v", c.length, c.size, rounded,
				says, c.rounds)
		}
	}
}
