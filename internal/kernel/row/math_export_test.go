package row

// The inner doors of the tests.
var (
	Exp = exp
	Log = log
)

// GoesPast is BatchNorm.goesPast.
func GoesPast(p *BatchNorm, out []float32) bool { return p.goesPast(out) }

// LeanRow is leanRow.
var LeanRow = leanRow
