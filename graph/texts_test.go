package graph_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/random"
	"lockstep/tensor"
)

// Texts of the tests: tokens of a small vocabulary, some of them more than once. The first and the third are
// pairs.
var (
	textTokens  = []int32{3, 0, 6, 3, 1, 5, 2, 2, 4}
	textLengths = []int32{5, 1, 3}
	textSplits  = []int32{3, 0, 1}
)

const (
	textWords, textMost, textCols, textHeads = 7, 6, 32, 2
	layerEps                                 = 1e-3
)

// textNetwork has every op that reads texts, two heads, and no dropout: embeddings, attention over them,
// causal attention over its normalised sum with the embeddings, attention over that, the first tokens.
func textNetwork() (*graph.Graph, graph.Options) {
	g := graph.New()
	param := func(name string, axes ...int) *graph.Node {
		return g.Parameter(graph.Param{Name: name, Shape: axes})
	}
	tokens := g.Texts("texts", len(textLengths), textMost)
	x := graph.Embedding(tokens, param("words", textWords, textCols), param("positions", textMost, textCols),
		param("kinds", 2, textCols))
	q := graph.GELU(graph.Linear(x, param("query", textCols, textCols), param("bias", textCols)))
	y := graph.Attention(q, x, graph.LayerNorm(x, param("a", textCols), param("b", textCols), layerEps),
		textHeads, 0)
	y = graph.AddLayerNorm(x, y, param("gamma", textCols), param("beta", textCols), layerEps, 0)
	y = graph.CausalAttention(q, x, y, textHeads, 0)
	y = graph.Tanh(graph.FirstToken(graph.Attention(y, y, y, textHeads, 0)))
	logits := graph.Linear(y, param("top", textCols, classes), nil)
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", len(textLengths)))
	return g, graph.Options{Loss: loss, Logits: logits, Train: true}
}

// setTexts gives a program texts with their labels.
func setTexts(p *graph.Program, tokens, lengths, labels []int32) {
	p.Input("texts").SetTexts(tokens, lengths)
	p.Input("labels").SetInts(labels)
}

// referenceTexts computes textNetwork's logits from its parameters, in order, in float64.
func referenceTexts(p [][]float64) []float64 {
	x := referenceEmbedding(p[0], p[1], p[2])
	q := referenceLinear(x, p[3], p[4], textCols, textCols)
	for i, v := range q {
		q[i] = v * 0.5 * math.Erfc(-v/math.Sqrt2)
	}
	y := referenceAttention(q, x, referenceLayerNorm(x, p[5], p[6]), false)
	y = referenceLayerNorm(referenceAdd(x, y), p[7], p[8])
	y = referenceAttention(q, x, y, true)
	y = referenceAttention(y, y, y, false)
	var first []float64
	at := 0
	for _, length := range textLengths {
		for _, v := range y[at*textCols : (at+1)*textCols] {
			first = append(first, math.Tanh(v))
		}
		at += int(length)
	}
	return referenceLinear(first, p[9], nil, textCols, classes)
}

func referenceEmbedding(words, positions, kinds []float64) []float64 {
	var x []float64
	at := 0
	for n, length := range textLengths {
		for t := range int(length) {
			kind := 0
			if split := int(textSplits[n]); split > 0 && t >= split {
				kind = textCols
			}
			word := int(textTokens[at]) * textCols
			for c := range textCols {
				x = append(x, words[word+c]+positions[t*textCols+c]+kinds[kind+c])
			}
			at++
		}
	}
	return x
}

func referenceLayerNorm(x, gamma, beta []float64) []float64 {
	y := make([]float64, len(x))
	for row := 0; row < len(x); row += len(gamma) {
		mean, variance, n := 0.0, 0.0, float64(len(gamma))
		for _, v := range x[row : row+len(gamma)] {
			mean += v / n
		}
		for _, v := range x[row : row+len(gamma)] {
			variance += (v - mean) * (v - mean) / n
		}
		for c := range gamma {
			y[row+c] = (x[row+c]-mean)/math.Sqrt(variance+layerEps)*gamma[c] + beta[c]
		}
	}
	return y
}

func referenceAttention(q, k, v []float64, causal bool) []float64 {
	const size = textCols / textHeads
	y := make([]float64, len(q))
	start := 0
	for _, length := range textLengths {
		for h := range textHeads {
			row := func(i int) int { return (start+i)*textCols + h*size }
			for i := range int(length) {
				p, sum := make([]float64, length), 0.0
				if causal {
					p = p[:i+1]
				}
				for j := range p {
					for c := range size {
						p[j] += q[row(i)+c] * k[row(j)+c] / math.Sqrt(size)
					}
					p[j] = math.Exp(p[j])
					sum += p[j]
				}
				for j := range p {
					for c := range size {
						y[row(i)+c] += p[j] / sum * v[row(j)+c]
					}
				}
			}
		}
		start += int(length)
	}
	return y
}

// Every op on texts against its formula in float64, and its gradients against difference quotients, fused
// and not, on every ISA.
func TestTextsAgainstFormulas(t *testing.T) {
	g, o := textNetwork()
	labels := []int32{2, 0, 1}
	_, v := start(t, g, compute.Plain, o)
	values := make([][]float64, len(v.Params))
	for i := range values {
		values[i] = draw(i+20, v.Segments[i].Len)
	}
	total := func() float64 { return referenceCrossEntropy(referenceTexts(values), labels, classes) }
	logits, gradients := referenceTexts(values), make([][]float64, len(values))
	for i := range values {
		gradients[i] = differences(values[i], total)
	}
	for _, isa := range compute.Supported() {
		for _, compile := range []compiler{graph.Compile, graph.CompileUnfused} {
			p, err := compile(g, host(t, isa, 2), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			v = graph.NewVariables(p)
			if err := p.Attach(v); err != nil {
				t.Fatal(err)
			}
			for i, wide := range values {
				narrow := make([]float32, len(wide))
				for j, x := range wide {
					narrow[j] = float32(x)
				}
				v.SetParam(i, narrow)
			}
			gradient := v.NewGradient()
			p.Input("texts").SetPairs(textTokens, textLengths, textSplits)
			p.Input("labels").SetInts(labels)
			p.SetGradients(gradient)
			p.Poison(float32(math.NaN()))
			p.Forward()
			p.Backward(nil)
			if full, got := cost(p), p.FLOPs(); got <= full/2 || got >= full { // some texts are short
				t.Errorf("%d FLOPs of at most %d", got, full)
			}
			compare(t, isa, "logits", p.Logits(), logits)
			for i, param := range v.Params {
				got := make([]float32, v.Segments[i].Len)
				v.Canonical(i, got, gradient)
				compare(t, isa, "gradient of "+param.Name, got, gradients[i])
			}
		}
	}
}

// Dropout reads random's words: 16 bits for each element, rows 2^16 words apart.
func TestDropoutDraws(t *testing.T) {
	const share, cols = 0.3, 10
	g := graph.New()
	x := g.Input("x", tensor.Shape{2, 3, cols})
	one := g.Parameter(graph.Param{Name: "one", Shape: tensor.Shape{cols, cols}})
	y := graph.Flatten(graph.Dropout(graph.Linear(x, one, nil), share))
	loss := graph.SoftmaxCrossEntropy(y, g.Labels("labels", 2))
	for _, isa := range compute.Supported() {
		p, v := start(t, g, isa, graph.Options{Loss: loss, Logits: y, Train: true})
		for i := range cols {
			v.Weights[i*cols+i] = 1
		}
		for i := range images(p) {
			images(p)[i] = 1
		}
		clear(labelsOf(p))
		mustPanic(t, "no draws set", p.Forward)
		p.SetDraws(graph.Draws{Seed: 9, Step: 8, Samples: []int32{70, 71}})
		p.Forward()
		limit := uint64(math.Round(share * 65536))
		for i, got := range p.Logits() {
			n, row, col := i/(3*cols), i/cols%3, i%cols
			word := random.Derive(9, 2, 8, 1, uint64(70+n)).Word(uint64(row)<<16 + uint64(col/4))
			want := float32(0)
			if word>>(col%4*16)&0xffff >= limit {
				want = float32(65536 / float64(65536-limit))
			}
			if got != want {
				t.Fatalf("%v: sample %d, row %d, column %d: factor %v, want %v", isa, n, row, col, got, want)
			}
		}
		p, v = start(t, g, isa, graph.Options{Logits: y})
		copy(images(p), slices.Repeat([]float32{1}, 6*cols))
		for i := range cols {
			v.Weights[i*cols+i] = 1
		}
		if p.Forward(); slices.Contains(p.Logits(), 0) {
			t.Errorf("%v: inference drops elements", isa)
		}
	}
}

// Mistakes in building and in use say what is wrong.
func TestTextErrors(t *testing.T) {
	table := func(g *graph.Graph, name string, rows, cols int) *graph.Node {
		return g.Parameter(graph.Param{Name: name, Shape: tensor.Shape{rows, cols}})
	}
	for want, build := range map[string]func(g *graph.Graph){
		"texts of 6 tokens, but only 5 positions": func(g *graph.Graph) {
			graph.Embedding(g.Texts("texts", 2, 6), table(g, "a", 9, 4), table(g, "b", 5, 4),
				table(g, "c", 1, 4))
		},
		"20 features for 2 heads": func(g *graph.Graph) {
			x := graph.Embedding(g.Texts("texts", 2, 6), table(g, "a", 9, 20), table(g, "b", 6, 20),
				table(g, "c", 1, 20))
			graph.Attention(x, x, x, 2, 0)
		},
		"causal-attention": func(g *graph.Graph) {
			g.Texts("texts", 2, 6)
			x := g.Input("x", tensor.Shape{2, 32})
			graph.CausalAttention(x, x, x, 2, 0)
		},
		"works on samples, not on the tokens of texts": func(g *graph.Graph) {
			graph.Flatten(g.Texts("texts", 2, 6))
		},
		"there are texts a already": func(g *graph.Graph) { g.Texts("a", 1, 1); g.Texts("b", 1, 1) },
		"dropout of 1, want 0 to below 1": func(g *graph.Graph) {
			graph.Dropout(g.Input("x", tensor.Shape{2, 2}), 1)
		},
		"want the tokens of texts, [tokens, C]": func(g *graph.Graph) {
			g.Texts("texts", 2, 6)
			graph.FirstToken(g.Input("x", tensor.Shape{2, 2}))
		},
	} {
		g := graph.New()
		build(g)
		if g.Err() == nil || !strings.Contains(g.Err().Error(), want) {
			t.Errorf("got %v, want %q in it", g.Err(), want)
		}
	}
	g, o := textNetwork()
	p, _ := start(t, g, compute.Plain, o)
	labels := []int32{0, 0, 0}
	for want, lengths := range map[string][]int32{
		"text 1 has 0 tokens, want 1 to 6": {5, 0, 4}, "text 0 has 7 tokens": {7, 1, 1},
		"2 texts of 9 tokens": {5, 4}, "of 9 tokens, want 3 of 8": {5, 1, 2},
	} {
		mustPanic(t, want, func() { setTexts(p, textTokens, lengths, labels) })
	}
	for want, splits := range map[string][]int32{
		"2 splits for 3 texts": {1, 0}, "text 1 of 1 tokens splits at 1": {0, 1, 0},
		"text 2 of 3 tokens splits at -1": {4, 0, -1},
	} {
		mustPanic(t, want, func() { p.Input("texts").SetPairs(textTokens, textLengths, splits) })
	}
	mustPanic(t, fmt.Sprintf("tokens[2]=7, want 0 to %d", textWords-1), func() {
		setTexts(p, []int32{0, 1, 7}, []int32{1, 1, 1}, labels)
		p.Forward()
	})
}
