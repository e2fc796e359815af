package onnx

import (
	"slices"

	"lockstep/graph"
	"lockstep/op"
	"lockstep/tensor"
)

// moves adds what only moves elements about.
func (b *builder) moves() bool {
	switch b.node.Op {
	case "Shape":
		t := b.shapeOf(b.must(0).axes)
		b.set(0, &value{constant: t, axes: t.Shape})
	case "Flatten", "Reshape", "Unsqueeze", "Squeeze":
		b.reshape(b.must(0))
	case "Transpose":
		b.transpose(b.must(0))
	case "Concat":
		b.concat()
	case "Slice":
		v := b.must(0)
		if ranges, ok := b.ranges(v.axes); ok {
			b.slice(v, ranges, 0)
		}
	case "Split":
		b.split(b.must(0))
	case "Gather":
		b.gather(b.must(0))
	case "GatherND":
		b.gatherElements(b.must(0))
	case "Expand":
		b.expand(b.must(0))
	case "Pad":
		b.pad(b.must(0))
	default:
		return false
	}
	return true
}

// newShape returns the shape that Flatten, Reshape, Unsqueeze or Squeeze gives to one of shape s.
func (b *builder) newShape(s tensor.Shape) (tensor.Shape, bool) {
	switch b.node.Op {
	case "Flatten":
		axis := bound(b.node.integer("axis", 1), len(s))
		return tensor.Shape{s[:axis].Elems(), s[axis:].Elems()}, true
	case "Reshape":
		to, ok := b.integersOf(1, "shape")
		if !ok {
			b.fail("the shape is missing")
			return nil, false
		}
		return b.asked(s, to)
	}
	axes, ok := b.integersOf(1, "axes")
	if !ok && b.node.Op == "Unsqueeze" {
		b.fail("the axes are missing")
		return nil, false
	}
	isNamed := func(i, n int) bool {
		return slices.Contains(axes, i) || slices.Contains(axes, i-n)
	}
	var to tensor.Shape
	if b.node.Op == "Squeeze" {
		for i, n := range s {
			if n != 1 || ok && !isNamed(i, len(s)) {
				to = append(to, n)
			}
		}
		return append(tensor.Shape{}, to...), true
	}
	rest := s
	for i := range len(s) + len(axes) {
		if isNamed(i, len(s)+len(axes)) {
			to = append(to, 1)
		} else if len(rest) > 0 {
			to, rest = append(to, rest[0]), rest[1:]
		}
	}
	return to, len(rest) == 0
}

// mostElems bounds the elements of a value, so that their number can be computed.
const mostElems = 1 << 40

// asked returns the shape that Reshape asks for: 0 keeps an axis, -1 is what is left. A batch of the file
// that is not the graph's is replaced.
func (b *builder) asked(s tensor.Shape, list []int) (tensor.Shape, bool) {
	to, known, open := tensor.Shape{}, 1, -1
	for i, n := range list {
		if n == 0 && i < len(s) && b.node.integer("allowzero", 0) == 0 {
			n = s[i]
		}
		if n < -1 || n == -1 && open >= 0 || n > 0 && known > mostElems/n {
			b.fail("shape %v", list)
			return nil, false
		}
		if n == -1 {
			open = i
		} else {
			known *= n
		}
		to = append(to, n)
	}
	if b.fixed > 0 && b.fixed != b.batch && len(to) > 0 && to[0] > 0 && len(s) > 0 && s[0] == b.batch &&
		to[0]%b.fixed == 0 {
		known = known / to[0] * (to[0] / b.fixed * b.batch)
		to[0] = to[0] / b.fixed * b.batch
	}
	if open >= 0 && known > 0 {
		to[open] = s.Elems() / known
	}
	if to.Elems() != s.Elems() {
		b.fail("%v cannot become %v%s", s, list, b.ofBatch())
		return nil, false
	}
	return to, true
}

// ofBatch says what to do where the file has a fixed batch.
func (b *builder) ofBatch() string {
	if b.fixed == 0 || b.fixed == b.batch {
		return ""
	}
	return "; the file is for batches of a fixed size: export it with a named first axis " +
		`(dynamic_axes={"x": {0: "batch"}} or dynamic_shapes)`
}

func (b *builder) reshape(v *value) {
	to, ok := b.newShape(v.axes)
	if !ok {
		b.fail("no shape for %v", v.axes)
		return
	}
	n := v.node
	switch {
	case v.isMap && len(to) == 2 && to[0] == v.axes[0] && to[0] == b.batch && n.Shape()[1]*n.Shape()[2] != 1:
		b.set(0, &value{node: n, axes: to, isMap: true, isFlat: true})
	case v.isFlat && len(to) == 4 && to.Equal(mapOf(n).axes):
		b.mapped(n)
	case len(to) == 4 && to[2]*to[3] == 1 && n != nil: // as of squeeze and excitation
		b.mapped(graph.Reshape(b.rows(v), tensor.Shape{to[0], 1, 1, to[1]}))
	default:
		b.plain(graph.Reshape(b.rows(v), to))
	}
}

// permutation returns the order that Transpose gives to n axes, nil if it is none.
func (b *builder) permutation(n int) []int {
	perm := b.node.integers("perm")
	if perm == nil {
		perm = make([]int, 0, n)
		for i := range n {
			perm = append(perm, n-1-i)
		}
	}
	isEach := len(perm) == n
	for i, a := range slices.Sorted(slices.Values(perm)) {
		isEach = isEach && a == i
	}
	if !isEach {
		b.fail("perm %v of %d axes", perm, n)
		return nil
	}
	return perm
}

// inMap is where the axes of the file's maps are in a graph's.
func inMap(axis int) int { return []int{0, 3, 1, 2}[axis] }

func (b *builder) transpose(v *value) {
	perm := b.permutation(len(v.axes))
	if perm == nil {
		return
	}
	n, isImage := v.node, v.isMap && !v.isFlat
	switch {
	case isImage:
		perm = slices.Clone(perm)
		for i, a := range perm {
			perm[i] = inMap(a)
		}
	case slices.Equal(perm, []int{0, 3, 1, 2}) && !v.isMap && n != nil:
		b.mapped(n)
		return
	default:
		n = b.rows(v)
	}
	if !slices.IsSorted(perm) {
		n = op.Transpose(n, perm...)
	}
	b.plain(n)
}

// axisOf returns an axis of a value of n axes.
func (b *builder) axisOf(axis, n int) int {
	if axis < -n || axis >= n {
		b.fail("axis %d of %d", axis, n)
		return 0
	}
	return (axis + n) % n
}

func (b *builder) concat() {
	var in []*value
	areMaps, rank := true, 0
	for i := range b.node.In {
		v := b.must(i)
		in = append(in, v)
		areMaps = areMaps && v.isMap && !v.isFlat
		rank = len(v.axes)
	}
	axis := b.axisOf(b.node.integer("axis", 0), rank)
	if b.err != nil || len(in) == 0 {
		b.fail("joins nothing")
		return
	}
	var nodes []*graph.Node
	for _, v := range in {
		if areMaps {
			nodes = append(nodes, v.node)
		} else {
			nodes = append(nodes, b.rows(v))
		}
	}
	if areMaps {
		b.mapped(op.Concat(inMap(axis), nodes...))
	} else {
		b.plain(op.Concat(axis, nodes...))
	}
}

// slice makes a part of v result number i.
func (b *builder) slice(v *value, ranges []op.Range, i int) {
	if v.isMap && !v.isFlat {
		moved := make([]op.Range, 4)
		for a, r := range ranges {
			moved[inMap(a)] = r
		}
		b.set(i, mapOf(op.Slice(v.node, moved...)))
		return
	}
	n := op.Slice(b.rows(v), ranges...)
	b.set(i, &value{node: n, axes: n.Shape()})
}

// ranges returns what Slice takes of a value of shape s.
func (b *builder) ranges(s tensor.Shape) (ranges []op.Range, ok bool) {
	starts, ok1 := b.integersOf(1, "starts")
	ends, ok2 := b.integersOf(2, "ends")
	if !ok1 || !ok2 {
		b.fail("where it starts and ends is not constant")
		return nil, false
	}
	axes, hasAxes := b.listOf(3, "axes")
	steps, hasSteps := b.listOf(4, "steps")
	ranges = make([]op.Range, len(s))
	for i, start := range starts {
		axis, step := i, 1
		if hasAxes && i < len(axes) {
			axis = axes[i]
		}
		if hasSteps && i < len(steps) {
			step = steps[i]
		}
		axis = b.axisOf(axis, len(s))
		isStep := step != 0 && -1<<30 < step && step < 1<<30
		if b.err != nil || len(ends) != len(starts) || !isStep || len(s) == 0 {
			b.fail("starts %v, ends %v, steps %v", starts, ends, steps)
			return nil, false
		}
		ranges[axis] = sliceOf(start, ends[i], step, s[axis])
	}
	return ranges, true
}

// listOf is integersOf for a list that may be left out.
func (b *builder) listOf(i int, name string) (list []int, ok bool) {
	if b.in(i) == nil && b.node.attribute(name) == nil {
		return nil, false
	}
	return b.integersOf(i, name)
}

// sliceOf returns what is from start to end, excluded, of n.
func sliceOf(start, end, step, n int) op.Range {
	lo, hi := 0, n
	if step < 0 {
		lo, hi = -1, n-1
	}
	within := func(at int) int {
		if at < 0 {
			at = max(at, -n-1) + n
		}
		return min(max(at, lo), hi)
	}
	start, end = within(start), within(end)
	count := (end - start + step - 1) / step
	if step < 0 {
		count = (start - end - step - 1) / -step
	}
	return op.Range{Start: start, Len: max(count, 0), Step: step}
}

func (b *builder) split(v *value) {
	axis := b.axisOf(b.node.integer("axis", 0), len(v.axes))
	parts := len(b.node.Out)
	sizes, ok := b.listOf(1, "split")
	if b.err != nil || len(v.axes) == 0 {
		b.fail("splits a value of shape %v", v.axes)
		return
	}
	if !ok {
		size := (v.axes[axis] + parts - 1) / parts
		for i := range parts {
			sizes = append(sizes, min(size, v.axes[axis]-i*size))
		}
	}
	start := 0
	for i, n := range sizes {
		ranges := make([]op.Range, len(v.axes))
		ranges[axis] = op.Range{Start: start, Len: n, Step: 1}
		b.slice(v, ranges, i)
		start += n
	}
}

// gather adds Gather of constant numbers along an axis, or of rows by numbers that the samples have.
func (b *builder) gather(v *value) {
	axis := b.axisOf(b.node.integer("axis", 0), len(v.axes))
	at := b.must(1)
	if b.err != nil {
		return
	}
	if at.node != nil {
		if axis != 0 {
			b.fail("by numbers of the samples only along axis 0")
			return
		}
		numbers := b.rows(at)
		isAlone := len(v.axes) > 0 && v.axes[0] == 1
		if isAlone && at.node == b.kinds { // the only kind there is, of both parts of a text
			numbers = graph.Scale(numbers, 0)
		}
		b.plain(op.Gather(b.rows(v), numbers))
		return
	}
	t := at.constant
	numbers := make([]int, t.Shape.Elems())
	for i := range numbers {
		if numbers[i] = int(t.at(i)); numbers[i] < 0 {
			numbers[i] += v.axes[axis]
		}
	}
	if v.isMap && !v.isFlat && len(t.Shape) == 1 {
		b.mapped(op.Take(v.node, inMap(axis), numbers...))
		return
	}
	n := op.Take(b.rows(v), axis, numbers...)
	if len(t.Shape) != 1 && n.Shape() != nil {
		n = graph.Reshape(n, slices.Concat(v.axes[:axis], t.Shape, v.axes[axis+1:]))
	}
	b.plain(n)
}

// gatherElements adds GatherND of single elements, by constant places of all axes.
func (b *builder) gatherElements(v *value) {
	t := b.constantOf(1)
	rank := len(v.axes)
	isWhole := t != nil && len(t.Shape) > 0 && t.Shape[len(t.Shape)-1] == rank
	if !isWhole || b.node.integer("batch_dims", 0) != 0 {
		b.fail("takes parts of %v; only single elements at constant places are supported", v.axes)
		return
	}
	numbers := make([]int, t.Shape.Elems()/max(rank, 1))
	for i := range numbers {
		for a, n := range v.axes {
			k := int(t.at(i*rank + a))
			if k < 0 {
				k += n
			}
			if k < 0 || k >= n {
				b.fail("takes element %d of axis %d of %v", k, a, v.axes)
				return
			}
			numbers[i] = numbers[i]*n + k
		}
	}
	n := op.Take(graph.Reshape(b.rows(v), tensor.Shape{v.axes.Elems()}), 0, numbers...)
	b.plain(graph.Reshape(n, t.Shape[:len(t.Shape)-1]))
}

func (b *builder) expand(v *value) {
	list, ok := b.integersOf(1, "shape")
	if !ok {
		b.fail("the shape is not constant")
		return
	}
	if b.fixed > 0 && b.fixed != b.batch && len(list) > 0 && list[0] == b.fixed && b.fixed > 1 {
		list[0] = b.batch
	}
	to, ok := together(v.axes, list)
	if !ok {
		b.fail("%v cannot become %v%s", v.axes, list, b.ofBatch())
		return
	}
	b.plain(op.Expand(b.rows(v), to))
}

func (b *builder) pad(v *value) {
	pads, ok := b.integersOf(1, "pads")
	if mode := b.node.text("mode", "constant"); !ok || mode != "constant" {
		b.fail("mode %s with constant pads %v; only constant is supported", mode, ok)
		return
	}
	fill := b.node.float("value", 0)
	if b.in(2) != nil {
		if t := b.constantOf(2); t != nil && t.Shape.Elems() == 1 {
			fill = float32(t.at(0))
		}
	}
	rank := len(v.axes)
	if axes, has := b.listOf(3, "axes"); has {
		all := make([]int, 2*rank)
		for i, a := range axes {
			a = b.axisOf(a, rank)
			if b.err == nil && i+len(axes) < len(pads) {
				all[a], all[a+rank] = pads[i], pads[i+len(axes)]
			}
		}
		pads = all
	}
	if len(pads) != 2*rank || slices.Min(append(pads, 0)) < 0 || slices.Max(append(pads, 0)) > 1<<20 {
		b.fail("pads %v of %v", pads, v.axes)
		return
	}
	before, behind := pads[:rank], pads[rank:]
	if v.isMap && !v.isFlat {
		order := []int{0, 2, 3, 1}
		var first, last []int
		for _, a := range order {
			first, last = append(first, before[a]), append(last, behind[a])
		}
		b.mapped(op.Pad(v.node, first, last, fill))
		return
	}
	b.plain(op.Pad(b.rows(v), before, behind, fill))
}

// sums adds sums, means and maxima along axes.
func (b *builder) sums() bool {
	of := map[string]func(x *graph.Node, keep bool, axes ...int) *graph.Node{"ReduceMean": op.Mean,
		"ReduceSum": op.Sum, "ReduceMax": op.Max}[b.node.Op]
	if of == nil {
		return false
	}
	v := b.must(0)
	axes, _ := b.listOf(1, "axes")
	if len(axes) == 0 && b.node.integer("noop_with_empty_axes", 0) != 0 {
		b.set(0, v)
		return true
	}
	keep := b.node.integer("keepdims", 1) != 0
	if v.isMap && !v.isFlat && isInOrder(axes) {
		moved := make([]int, len(axes))
		for i, a := range axes {
			moved[i] = inMap((a + 4) % 4)
		}
		slices.Sort(moved)
		if b.node.Op == "ReduceMean" && slices.Equal(moved, []int{1, 2}) {
			s := v.node.Shape()
			y := graph.GlobalAvgPool(v.node)
			if keep {
				b.mapped(graph.Reshape(y, tensor.Shape{s[0], 1, 1, s[3]}))
			} else {
				b.plain(y)
			}
			return true
		}
		y := of(v.node, keep, moved...)
		if keep {
			b.mapped(y)
		} else {
			b.plain(y)
		}
		return true
	}
	b.plain(of(b.rows(v), keep, axes...))
	return true
}

// isInOrder reports whether the axes of a map that stay, without these, are in the same order in file and
// graph: not if rows go and columns stay, or the reverse, with the channels.
func isInOrder(axes []int) bool {
	isGone := func(a int) bool { return slices.Contains(axes, a) || slices.Contains(axes, a-4) }
	for _, a := range axes {
		if a < -4 || a > 3 {
			return false
		}
	}
	return len(axes) > 0 && (isGone(1) || isGone(2) && isGone(3))
}
