package row

// The inner doors of the tests.
var (
	Exp = exp
	Log = log
)
