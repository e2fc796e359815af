package kernel

// product multiplies matrices that fit the cache, on one thread, with the tiles of gather.go and outer.go.
// It is what attention is made of.
type product struct {
	ops   *gemmOps
	table [tileRows + 1 + tileRows]int32
	bias  []float32 // zeros
	pairs []int32
	tile  tileArgs
	outer outerArgs
	pack  packArgs
	turn  turnArgs
}

// newProduct returns a product whose sums over rows have at most rows terms.
func newProduct(o *gemmOps, rows int) *product {
	return &product{ops: o, bias: make([]float32, o.widths[0]*o.lanes), pairs: make([]int32, 2*rows)}
}

// panelFloats returns the size of the panels of depth rows of width columns.
func (o *gemmOps) panelFloats(depth, width int) int {
	return depth * ((width + o.lanes - 1) / o.lanes * o.lanes)
}

// packed fills panels with a matrix of depth rows, stride floats apart.
func (p *product) packed(panels, src []float32, stride, depth int, blocks []block) {
	for i := range blocks {
		b := &blocks[i]
		p.pack.run(p.ops, panels[depth*b.at:], src[b.first:], depth, stride, b)
	}
}

// turned fills panels with the transpose of a matrix of depth columns, whose rows are stride floats apart.
func (p *product) turned(panels, src []float32, stride, depth int, blocks []block) {
	for i := range blocks {
		b := &blocks[i]
		p.turn.run(p.ops, panels[depth*b.at:], src[b.first*stride:], depth, stride, b)
	}
}

// matrix is rows of floats, stride apart.
type matrix struct {
	floats []float32
	stride int
}

// row returns the first n floats of a row.
func (m matrix) row(i, n int) []float32 { return m.floats[i*m.stride:][:n] }

// times computes dst = src times the panels: dst[i,k] = sum over d of src[i,d]*panel[d,k], d in order, for
// rows rows.
func (p *product) times(dst, src matrix, rows, depth int, panels []float32, blocks []block) {
	for i := range tileRows {
		p.table[i], p.table[tileRows+1+i] = int32(i*dst.stride), int32(i*src.stride)
	}
	a := &p.tile
	*a = tileArgs{table: p.table[:], taps: 1, depth: depth, zero: p.bias, bias: p.bias,
		aheadStride: 4 * dst.stride, aheadMask: aheadMask(depth)}
	for j := range blocks {
		b := &blocks[j]
		a.weights, a.tail = panels[depth*b.at:], b.tail
		for i := 0; i < rows; i += a.rows {
			a.rows = tileHeight(rows - i)
			a.src, a.dst = src.floats[i*src.stride:], dst.floats[i*dst.stride+b.first:]
			a.ahead = a.dst[min(a.rows*dst.stride, len(a.dst)):]
			p.ops.tile[a.rows][b.vectors](a)
		}
	}
	*a = tileArgs{}
}

// transposed computes dst = transposed a times b, or with add adds it to dst: dst[j,k] = sum over i of
// a[i,j]*b[i,k], i in order, for rows rows of dst and terms rows of a and b. The columns of b must be whole
// vectors.
func (p *product) transposed(dst, a, b matrix, rows, terms int, add bool, blocks []block) {
	o := &p.outer
	*o = outerArgs{bStride: b.stride, stride: dst.stride, pairs: p.pairs[:2*terms]}
	if add {
		o.flags = tileAdd
	}
	for i := range terms {
		o.pairs[2*i], o.pairs[2*i+1] = int32(i*a.stride), int32(i)
	}
	for j := range blocks {
		v := &blocks[j]
		o.tail, o.b = v.tail, b.floats[v.first:]
		for i := 0; i < rows; i += o.rows {
			o.rows = tileHeight(rows - i)
			o.a, o.dst = a.floats[i:], dst.floats[i*dst.stride+v.first:]
			p.ops.outer[o.rows][v.vectors](o)
		}
	}
	*o = outerArgs{}
}
