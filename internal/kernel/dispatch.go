package kernel

// ops holds the inner loops of one ISA, chosen once when a CPU is opened. The outer loops above them
// are the same Go code for all.
type ops struct {
	element elementOps
}

// opsFor returns the inner loops of isa.
func opsFor(isa ISA) ops {
	return ops{element: elementFor(isa)}
}
