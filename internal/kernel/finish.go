package kernel

// finishFloats is about how many floats a block for a Finisher has: 256 KiB, which stay in the
// second-level cache until they are finished. Changing it changes results.
const finishFloats = 64 << 10

// Finisher does row by row work on the result of a product, such as taking batch statistics, while
// the rows are still in the cache.
type Finisher interface {
	// Finish does its work on block number block of the rows, on thread part. Blocks come in no
	// order, several at a time and each once, so each must keep to places of its own.
	Finish(part, block int)
}

// finishing calls a Finisher for every block.
type finishing struct {
	then   Finisher
	blocks int
}

// finish runs then over rows cut into blocks of blockRows.
func (c *CPU) finish(then Finisher, rows, blockRows int) {
	c.finishing = finishing{then, (rows + blockRows - 1) / blockRows}
	c.Run(&c.finishing)
	c.finishing = finishing{}
}

// Do finishes some blocks.
func (f *finishing) Do(part, parts int) {
	lo, hi := span(f.blocks, part, parts)
	for b := lo; b < hi; b++ {
		f.then.Finish(part, b)
	}
}
