package product

// Choice says how a plan computes y and dx. Those that begin alike give an image the same bits.
func (v *Conv) Choice() (forward, data string) { return choice(v.forward), choice(v.data) }

// choice names the algorithm of a plan, then how it goes about it.
func choice(p rowsPlan) string {
	switch p := p.(type) {
	case *stridedForward:
		return choice(p.plan)
	case *stridedData:
		return choice(p.plan)
	case *winograd:
		return "winograd"
	case *strassen:
		if p.rows < strassenRows {
			return choice(p.direct)
		}
		return "strassen"
	case *splitGather:
		return "parts"
	case *lanewise:
		return "direct: an image in each lane"
	case *gather:
		switch {
		case p.byPosition:
			return "direct: one position of several images"
		case p.pad != nil:
			return "direct: copied with padding"
		}
	}
	return "direct: image by image"
}

// ReadApart decides whether gradients of weights read x where it lies.
func (c *CPU) ReadApart(reads bool) { c.ops.Gemm.ReadsApart = reads }
