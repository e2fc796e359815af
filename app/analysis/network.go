package analysis

import (
	"fmt"
	"math"
	"strings"

	"lockstep/app/record"
	"lockstep/app/strategy"
)

// Network is what is known of an architecture by its name, so that a row which was given another name shows:
// for images of 32×32 pixels, or texts, of ten classes.
type Network struct {
	Parameters int64
	PerClass   int64   // parameters of one class more
	FLOPs      float64 // additions and multiplications of training on a sample; 0: they depend on its length
}

// Networks returns the architectures of package model that no program can redefine.
func Networks() map[string]Network {
	return map[string]Network{
		"lenet":       {53_762, 65, 5e6},
		"vgg11":       {9_231_114, 513, 0.9e9},
		"resnet20":    {269_722, 65, 0.24e9},
		"resnet56":    {853_018, 65, 0.75e9},
		"resnet50":    {23_520_842, 2049, 7.7e9},
		"airbench":    {1_972_792, 256, 0},
		"bert-tiny":   {4_387_210, 129, 0},
		"bert-mini":   {11_173_130, 257, 0},
		"bert-small":  {28_768_778, 513, 0},
		"bert-medium": {41_378_314, 513, 0},
		"bert-base":   {109_489_930, 769, 0},
	}
}

// parameters returns how many a row's network has at least and at most. Images of other sizes and stems make
// the first layer, and those behind the last map, larger or smaller.
func (n Network) parameters(classes int) (least, most float64) {
	all := float64(n.Parameters + n.PerClass*int64(max(classes, 2)-10))
	return 0.7 * all, 1.5 * all
}

// isOfNetwork says if a run cannot have trained the network that its row names: it sent fewer or more bytes
// than the gradients have, had less memory than the weights take, or computed faster than its cores can.
func isOfNetwork(row *record.Row, run *record.Run) string {
	s, c := row.Setting, configOf(run)
	n, isKnown := Networks()[s.Model]
	if !isKnown || s.Peer != "" || c == nil || c["groups"] != "" || c["size"] != 32.0 || run.Steps == 0 {
		return "" // weights may be frozen
	}
	least, most := n.parameters(s.Classes)
	if text := n.sends(row, run, c, least, most); text != "" {
		return text
	}
	const bytes = 8 // of a weight and its gradient
	if memory := float64(run.PeakRSSBytes); memory > 0 && memory < bytes*least {
		return fmt.Sprintf("its memory of %.3g MB does not hold the weights and gradients of %s, %d of each.",
			memory/1e6, s.Model, n.Parameters)
	}
	return n.computes(row, run, c)
}

// sends is isOfNetwork by the bytes. Every way of adding up the n gradients of p workers sends at least
// 2n(p-1) elements (Patarasuk and Yuan 2009), and no way sends more than each rank all of its pieces to every
// other rank, twice.
func (n Network) sends(row *record.Row, run *record.Run, c configured, least, most float64) string {
	const (
		element = 4       // bytes
		control = 1 << 20 // bytes of a step that are no gradients
	)
	s := row.Setting
	isPlain := s.Wire == "" && c["wire"] == plainWire && c["accumulate"] == 1.0 &&
		c["backup-workers"] == 0.0 && !c.isGrowing()
	if !isPlain || s.Workers < 2 || !strategy.Named(s.Strategy).IsJoint() {
		return ""
	}
	p, pieces := float64(s.Workers), math.Ceil(float64(s.Shards)/float64(s.Workers))
	copies := 2 * p // of all gradients, to servers and back
	if s.Algorithm == "one-shot" {
		copies = max(copies, p*(p-1))
	}
	steps, sent := float64(run.Steps), float64(run.BytesSent)
	low := 2 * (p - 1) * least * element * steps
	high := (copies*pieces*most*element + p*p*control) * steps
	switch {
	case sent < low:
		return fmt.Sprintf("it sent %.3g MB, and the gradients of %s are %.3g MB at least in %d steps of %d "+
			"workers.", sent/1e6, s.Model, low/1e6, run.Steps, s.Workers)
	case sent > high:
		return fmt.Sprintf("it sent %.3g MB, and the gradients of %s are %.3g MB at most in %d steps of %d "+
			"workers.", sent/1e6, s.Model, high/1e6, run.Steps, s.Workers)
	}
	return ""
}

// computes is isOfNetwork by the time. Convolutions may need a quarter of the operations that they are
// counted with (Winograd), and the speed of the cores is that of another second.
func (n Network) computes(row *record.Row, run *record.Run, c configured) string {
	const slack = 10
	s := row.Setting
	isFloat := c["math"] == "fast" || c["math"] == "exact"
	if n.FLOPs == 0 || !isFloat || run.PeakFLOPs == 0 || run.TrainSeconds <= 0 || s.Hosts > 1 ||
		s.Condition != "" {
		return ""
	}
	rate := n.FLOPs * float64(run.Samples) / run.TrainSeconds
	if rate <= slack*run.PeakFLOPs {
		return ""
	}
	return fmt.Sprintf("training %s on %d samples in %.4g s are %.3g GFLOP/s, and its cores reach %.3g.",
		s.Model, run.Samples, run.TrainSeconds, rate/1e9, run.PeakFLOPs/1e9)
}

// dataSet is what is known of a data set by its name.
type dataSet struct {
	classes     int
	isText      bool
	train, test int // samples; 0: as many as asked for
	isGenerated bool
}

// dataSets returns those of package data that no program can redefine.
func dataSets() map[string]dataSet {
	return map[string]dataSet{
		"cifar10": {10, false, 50_000, 10_000, false},
		"mnist":   {10, false, 60_000, 10_000, false},
		"svhn":    {10, false, 73_257, 26_032, false},
		"sst2":    {2, true, 67_349, 872, false},
		"glyphs":  {10, false, 0, 0, true},
	}
}

// isOfData says if a run cannot have trained on the data set that its row names: it has other classes, is of
// texts for a network of images, or has fewer samples.
func isOfData(row *record.Row, run *record.Run) string {
	s := row.Setting
	d, isKnown := dataSets()[s.Data]
	if !isKnown {
		return ""
	}
	_, isNetwork := Networks()[s.Model]
	readsTexts := strings.HasPrefix(s.Model, "bert-")
	switch {
	case s.Classes != 0 && s.Classes != d.classes:
		return fmt.Sprintf("the data set %s has %d classes, the row %d.", s.Data, d.classes, s.Classes)
	case isNetwork && readsTexts != d.isText:
		return fmt.Sprintf("the network %s cannot read the data set %s.", s.Model, s.Data)
	case s.Generated != d.isGenerated && s.Classes != 0:
		return fmt.Sprintf("the row says that the data set %s is generated: %t.", s.Data, s.Generated)
	case d.test > 0 && run.TestSamples > int64(d.test):
		return fmt.Sprintf("it was evaluated on %d samples, %s has %d.", run.TestSamples, s.Data, d.test)
	}
	if per := stepsPerEpoch(row, run); d.train > 0 && (per-1)*s.Batch >= d.train {
		return fmt.Sprintf("its first epoch has %d steps of %d samples, %s has %d.", per, s.Batch, s.Data,
			d.train)
	}
	return ""
}

// reachesPeak says if the cores reached more than any can, two multiply-adds of 16 numbers in each cycle at 7
// GHz, or GPUs more than 10 PFLOP/s each.
func reachesPeak(row *record.Row, run *record.Run) string {
	const most, mostOfGPU = 2 * 2 * 16 * 7e9, 1e16
	s := row.Setting
	if isGPU(run.Device) {
		if run.PeakFLOPs > mostOfGPU*float64(s.Workers) {
			return fmt.Sprintf("its GPUs reached %.4g GFLOP/s, which none does.", run.PeakFLOPs/1e9)
		}
		return ""
	}
	if run.PeakFLOPs <= most*float64(s.NumThreads()) {
		return ""
	}
	return fmt.Sprintf("its %d threads reached %.4g GFLOP/s, which no processor does.", s.NumThreads(),
		run.PeakFLOPs/1e9)
}
