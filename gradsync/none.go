package gradsync

// none exchanges nothing: every worker trains alone on its share of each batch.
type none struct{}

func (*none) Begin(int)         {}
func (*none) Ready(int)         {}
func (*none) Share([]float32)   {}
func (*none) Wait() error       { return nil }
func (*none) Sum([]int64) error { return nil }
func (*none) Close() error      { return nil }
func (*none) Buckets() []Bucket { return nil }
