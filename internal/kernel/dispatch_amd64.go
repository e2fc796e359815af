//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// detect lists the assembly implementations this processor can run, slowest first.
func detect() []ISA {
	var list []ISA
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2 {
		list = append(list, AVX2)
	}
	x := &cpu.X86
	if len(list) > 0 && x.HasAVX512F && x.HasAVX512VL && x.HasAVX512BW && x.HasAVX512DQ {
		list = append(list, AVX512)
	}
	return list
}

// spinRounds is how often a waiting thread looks, pausing in between, before it sleeps: about 0.5 ms,
// so that it outlasts the calls that one thread does alone. A sleep costs more than what it saves:
// two threads on two cores, medians of three interleaved runs, with 200 and with 4000 rounds: lenet,
// batch 16, 1.31 and 0.53 ms a step (one thread 0.69); vgg11, batch 64, 168 and 131 ms (one 240).
const spinRounds = 4000

// gemmFor returns the tiles of isa.
func gemmFor(isa ISA) gemmOps {
	o := plainGemm()
	if isa != Plain {
		o.turn, o.strip = turnAVX2, stripAVX2
	}
	switch isa {
	case AVX2:
		o.lanes, o.widths, o.serial = 8, []int{2, 1}, 1<<19
		o.tile[6] = [5]func(*tileArgs){1: tileAVX2_6x8, 2: tileAVX2_6x16}
		o.tile[4] = [5]func(*tileArgs){1: tileAVX2_4x8, 2: tileAVX2_4x16}
		o.tile[2] = [5]func(*tileArgs){1: tileAVX2_2x8, 2: tileAVX2_2x16}
		o.tile[1] = [5]func(*tileArgs){1: tileAVX2_1x8, 2: tileAVX2_1x16}
		o.outer[6] = [5]func(*outerArgs){1: outerAVX2_6x8, 2: outerAVX2_6x16}
		o.outer[4] = [5]func(*outerArgs){1: outerAVX2_4x8, 2: outerAVX2_4x16}
		o.outer[2] = [5]func(*outerArgs){1: outerAVX2_2x8, 2: outerAVX2_2x16}
		o.outer[1] = [5]func(*outerArgs){1: outerAVX2_1x8, 2: outerAVX2_1x16}
		o.pack = [5]func(*packArgs){1: packAVX2_8, 2: packAVX2_16}
	case AVX512:
		o.lanes, o.widths, o.serial = 16, []int{4, 2, 1}, 1<<20
		o.tile[6] = [5]func(*tileArgs){1: tileAVX512_6x16, 2: tileAVX512_6x32, 4: tileAVX512_6x64}
		o.tile[4] = [5]func(*tileArgs){1: tileAVX512_4x16, 2: tileAVX512_4x32, 4: tileAVX512_4x64}
		o.tile[2] = [5]func(*tileArgs){1: tileAVX512_2x16, 2: tileAVX512_2x32, 4: tileAVX512_2x64}
		o.tile[1] = [5]func(*tileArgs){1: tileAVX512_1x16, 2: tileAVX512_1x32, 4: tileAVX512_1x64}
		o.outer[6] = [5]func(*outerArgs){1: outerAVX512_6x16, 2: outerAVX512_6x32, 4: outerAVX512_6x64}
		o.outer[4] = [5]func(*outerArgs){1: outerAVX512_4x16, 2: outerAVX512_4x32, 4: outerAVX512_4x64}
		o.outer[2] = [5]func(*outerArgs){1: outerAVX512_2x16, 2: outerAVX512_2x32, 4: outerAVX512_2x64}
		o.outer[1] = [5]func(*outerArgs){1: outerAVX512_1x16, 2: outerAVX512_1x32, 4: outerAVX512_1x64}
		o.pack = [5]func(*packArgs){1: packAVX512_16, 2: packAVX512_32, 4: packAVX512_64}
	}
	return o
}
