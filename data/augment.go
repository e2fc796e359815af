package data

import (
	"cmp"
	"errors"
	"fmt"

	"lockstep/data/photo"
	"lockstep/random"
)

// Augmentation changes training images at random. The zero value leaves them unchanged.
type Augmentation struct {
	// Pad is the maximum shift in pixels: the image is padded with that many black pixels on each
	// side and cropped back to its size at a random position. 0 means no shift.
	Pad int `json:"pad"`
	// Reflect pads by reflection without repeating the edge, instead of with black: row -1 is row
	// 1. Pad must then be less than half of each side.
	Reflect bool `json:"reflect"`
	// Flip mirrors every other image left to right. Wrong for digits and letters.
	Flip bool `json:"flip"`
	// Alternate draws which images Flip mirrors in the first epoch only. The second epoch mirrors
	// the others, the third the first again, and so on. After Jordan 2024, arXiv 2404.00498,
	// section 3.6.
	Alternate bool `json:"alternate"`
	// Cutout is the side in pixels of a square that is set to 0, the mean, after normalisation. Its
	// centre is anywhere in the image, so a part may fall outside. 0 means none. After DeVries and
	// Taylor 2017.
	Cutout int `json:"cutout"`
	// Cut is the part of an image that is scaled to the size of a sample, before all else: of its file if
	// that is decoded when it is read, else of the sample.
	Cut photo.Cut `json:"cut,omitzero"`
	// Jitter changes colours, of images of three channels.
	Jitter photo.Jitter `json:"jitter,omitzero"`
	// Mixup and Cutmix are the parameters of the beta distributions of the share that is left to a sample
	// when another, and its class, is added to it: as a mean of both images, or with a rectangle of the
	// other in place of its own. The other is the next of the shard. 0 means never, else 0.05 to 2; with
	// both, half of the samples are mixed in each way. After Zhang et al. 2017, arXiv 1710.09412, and Yun
	// et al. 2019, arXiv 1905.04899.
	Mixup  float64 `json:"mixup,omitzero"`
	Cutmix float64 `json:"cutmix,omitzero"`
}

// Purposes of random streams; each is the first part of a stream's path.
const (
	purposeOrder uint64 = 0x64617461<<8 + iota // "data"
	purposeAugment
	purposeCoverage
	purposeGlyph
	purposeSynthetic
	purposeBatches
	purposeBlocks
	purposeTurns
)

// pose is one draw of an augmentation: pixel (h, w) of the result comes from row h+dy and column
// w+dx of the image, which is mirrored first if flip.
type pose struct {
	dy, dx int
	flip   bool
}

// hole is the square that an augmentation cuts out: rows [top, bottom) and columns [left, right).
type hole struct{ top, bottom, left, right int }

// What the words of a sample's stream are for, besides those below 8.
const (
	wordCut    = 16
	wordJitter = wordCut + photo.CutWords
	wordMix    = wordJitter + photo.JitterWords
)

// stream returns the random numbers of a sample in an epoch.
func (a Augmentation) stream(seed uint64, epoch, sample int) random.Stream {
	return random.Derive(seed, purposeAugment, uint64(epoch), uint64(sample))
}

// draw returns the pose of a sample in an epoch, a pure function of its arguments.
func (a Augmentation) draw(seed uint64, epoch, sample int) pose {
	if a.Pad == 0 && !a.Flip {
		return pose{}
	}
	s := a.stream(seed, epoch, sample)
	p := pose{
		dy:   s.Intn(0, 2*a.Pad+1) - a.Pad,
		dx:   s.Intn(1, 2*a.Pad+1) - a.Pad,
		flip: a.Flip && s.Word(2)>>63 == 1,
	}
	if a.Alternate {
		first := a.stream(seed, 0, sample)
		p.flip = a.Flip && (first.Word(2)>>63 == 1) != (epoch%2 == 1)
	}
	return p
}

// Check returns an error if samples of this kind cannot be changed so: texts not at all, rows of a table by
// Mixup alone, images of floats not in colour or scale, and mixed are only samples with labels alone that all
// count alike.
func (a Augmentation) Check(s *Set) error {
	colours := a.Jitter != photo.Jitter{}
	switch {
	case a == Augmentation{}:
	case s.Texts != nil:
		return errors.New("texts cannot be changed as images are")
	case s.Table != nil && a != Augmentation{Mixup: a.Mixup}:
		return errors.New("rows of a table can be mixed by mixup, and not be changed as images are")
	case s.IsFloat && (colours || !a.Cut.IsAll()):
		return errors.New("images of floats cannot be cut or coloured, want bytes")
	case colours && s.Shape[2] != 3:
		return fmt.Errorf("colours of images of %d channels, want 3", s.Shape[2])
	case a.IsMixed() && !s.HasLabels() || a.IsMixed() && s.NumTargets > 0:
		return errors.New("only samples with labels alone can be mixed")
	case a.IsMixed() && s.Weights != nil:
		return errors.New("a mixed sample has two classes, and weights are of one")
	}
	return nil
}

// validate returns an error for the first setting that does not fit images of this size.
func (a Augmentation) validate(c LoaderConfig) error {
	height, width := c.Set.Shape[0], c.Set.Shape[1]
	if err := cmp.Or(a.Cut.Validate(), a.Jitter.Validate()); err != nil {
		return fmt.Errorf("data: loader: augmentation: %w", err)
	}
	if err := a.Check(c.Set); err != nil {
		return fmt.Errorf("data: loader: %w", err)
	}
	switch {
	case !isBeta(a.Mixup) || !isBeta(a.Cutmix):
		return fmt.Errorf("data: loader: mixup %v, cutmix %v, want 0 or %v to %v", a.Mixup, a.Cutmix,
			random.MinBeta, random.MaxBeta)
	case a.IsMixed() && c.Batch < 2*c.Shards:
		return fmt.Errorf("data: loader: batch %d in %d shards leaves some with one sample, which has no "+
			"other to be mixed with; want a batch of at least %d", c.Batch, c.Shards, 2*c.Shards)
	case a.Pad < 0 || a.Cutout < 0:
		return fmt.Errorf("data: loader: padding %d, cutout %d, want 0 or more", a.Pad, a.Cutout)
	case a.Reflect && !View{DY: a.Pad, DX: a.Pad}.Fits(height, width):
		return fmt.Errorf("data: loader: padding %d reflects at the edge of images of %dx%d, want less "+
			"than half of each side", a.Pad, height, width)
	}
	return nil
}

// isBeta reports whether a parameter of mixing is 0 or can be drawn by.
func isBeta(alpha float64) bool {
	return alpha == 0 || alpha >= random.MinBeta && alpha <= random.MaxBeta
}

// portion is what is shown of an image: the square in its middle, or what cut draws by stream.
type portion struct {
	cut    photo.Cut
	stream random.Stream
}

// shown returns a sample of a set of images in an epoch, as it is stored but cut and coloured.
func (a Augmentation) shown(set *Set, sample int, seed uint64, epoch int, r *room) (raw []byte, err error) {
	isColoured := a.Jitter != photo.Jitter{}
	if a.Cut.IsAll() && !isColoured {
		return set.raw(sample, r.sample)
	}
	s := a.stream(seed, epoch, sample)
	height, width, channels := set.Shape[0], set.Shape[1], set.Shape[2]
	r.cut = atLeast(r.cut, set.SampleBytes())
	cut := r.cut[:set.SampleBytes()]
	switch isCut := !a.Cut.IsAll(); {
	case isCut && isUncut(set.Samples):
		err = set.Samples.(uncut).readPart(cut, sample, portion{a.Cut, s})
	case isCut:
		if raw, err = set.raw(sample, r.sample); err == nil {
			whole := photo.Pixels{Bytes: raw, Stride: width * channels, Step: channels, Channels: channels}
			r.scaler.Scale(cut, width, height, whole, a.Cut.Draw(s, wordCut, width, height))
		}
	default:
		raw, err = set.raw(sample, r.sample)
		copy(cut, raw)
	}
	if isColoured && err == nil {
		a.Jitter.Apply(cut, s, wordJitter)
	}
	return cut, err
}

// drawHole returns the hole of a sample in an epoch, clipped to the image; it is empty without
// Cutout.
func (a Augmentation) drawHole(seed uint64, epoch, sample, height, width int) hole {
	if a.Cutout == 0 {
		return hole{}
	}
	s := a.stream(seed, epoch, sample)
	top := s.Intn(3, height) - a.Cutout/2
	left := s.Intn(4, width) - a.Cutout/2
	return hole{max(0, top), min(height, top+a.Cutout), max(0, left), min(width, left+a.Cutout)}
}

// cut sets the hole in one image [H, W, C] to 0.
func (h hole) cut(image []float32, width, channels int) {
	for y := h.top; y < h.bottom; y++ {
		clear(image[(y*width+h.left)*channels : (y*width+h.right)*channels])
	}
}

// place writes one image [H, W, C] in pose p, normalised: crop, flip and conversion in one pass.
func (t *byteTable) place(dst []float32, src []byte, height, width, channels int, p pose) {
	if p == (pose{}) {
		t.convert(dst, src, channels)
		return
	}
	row := width * channels
	first, last := max(0, -p.dx), min(width, width-p.dx) // columns that come from the image
	for h := range height {
		out := dst[h*row : (h+1)*row]
		y := h + p.dy
		if y < 0 || y >= height || first >= last {
			t.blacken(out, channels)
			continue
		}
		t.blacken(out[:first*channels], channels)
		t.blacken(out[last*channels:], channels)
		in := src[y*row : (y+1)*row]
		if p.flip {
			end := width - (first + p.dx)
			begin := width - (last + p.dx)
			t.mirror(out[first*channels:last*channels], in[begin*channels:end*channels], channels)
			continue
		}
		begin := (first + p.dx) * channels
		t.convert(out[first*channels:last*channels], in[begin:begin+(last-first)*channels], channels)
	}
}

// mirror converts a run of pixels in reverse order.
func (t *byteTable) mirror(dst []float32, src []byte, channels int) {
	dst = dst[:len(src)]
	if channels == 3 {
		for len(src) >= 3 && len(dst) >= 3 {
			p := src[len(src)-3:]
			dst[0], dst[1], dst[2] = t[0][p[0]], t[1][p[1]], t[2][p[2]]
			dst, src = dst[3:], src[:len(src)-3]
		}
		return
	}
	pixels := len(src) / channels
	for i := range pixels {
		for c := range channels {
			dst[i*channels+c] = t[c][src[(pixels-1-i)*channels+c]]
		}
	}
}

// blacken writes pixels of value 0, normalised.
func (t *byteTable) blacken(dst []float32, channels int) {
	for i := 0; i+channels <= len(dst); i += channels {
		for c := range channels {
			dst[i+c] = t[c][0]
		}
	}
}
