package kernel

// elementOps holds the inner loops of the memory-bound kernels.
type elementOps struct{}

// elementFor returns the memory-bound inner loops of isa.
func elementFor(isa ISA) elementOps { return elementOps{} }
