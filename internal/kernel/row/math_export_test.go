package row

// GoesPast is BatchNorm.goesPast.
func GoesPast(p *BatchNorm, out []float32) bool { return p.goesPast(out) }

// LeanRow is leanRow.
var LeanRow = leanRow
