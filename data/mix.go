package data

import "math"

// Note: mixing
//
// Each sample of a shard is mixed with the next one, the last with the first, as both are without mixing.
// What a shard holds depends on the number of shards alone, so any number of workers mixes the same. The loss
// of a mixed sample is the mean of the losses for both classes, weighted by their shares; Labels has the
// class of the greater share, by which accuracy is counted. A shard of one sample, in the last step of an
// epoch, is left as it is.

// IsMixed reports whether samples are mixed with others.
func (a Augmentation) IsMixed() bool { return a.Mixup > 0 || a.Cutmix > 0 }

// blending is one draw of mixing: the share that is left to a sample, and with a rectangle what comes from
// the other, else all as a mean.
type blending struct {
	share float32
	hole  hole
	isCut bool
}

// drawMix returns how a sample is mixed in an epoch. The rectangle is that of torchvision's CutMix: of
// 1-share of the area, around a uniform pixel, clipped to the image, which adds to the share.
func (a Augmentation) drawMix(seed uint64, epoch, sample, height, width int) blending {
	s := a.stream(seed, epoch, sample)
	isCut := a.Mixup == 0 || a.Cutmix > 0 && s.Word(wordMix)>>63 == 1
	if !isCut {
		return blending{share: float32(s.Beta(wordMix+3, a.Mixup))}
	}
	reach := 0.5 * math.Sqrt(1-s.Beta(wordMix+3, a.Cutmix))
	y, x := s.Intn(wordMix+1, height), s.Intn(wordMix+2, width)
	dy, dx := int(float64(reach*float64(height))), int(float64(reach*float64(width)))
	h := hole{max(0, y-dy), min(height, y+dy), max(0, x-dx), min(width, x+dx)}
	area := (h.bottom - h.top) * (h.right - h.left)
	return blending{1 - float32(area)/float32(height*width), h, true}
}

// mix mixes the images of a shard in place, and says in Others and Shares with what.
func (l *Loader) mix(sh *Shard, epoch int) {
	set, n := l.config.Set, sh.Samples
	height, width, channels, elems := set.Shape[0], set.Shape[1], set.Shape[2], set.Shape.Elems()
	sh.Others, sh.Shares = sh.others[:n], sh.shares[:n]
	copy(l.kept, sh.Images[:elems])
	first := sh.Labels[0]
	for i, index := range sh.Indices {
		image, other, class := sh.Images[i*elems:(i+1)*elems], l.kept, first
		if i+1 < n {
			other, class = sh.Images[(i+1)*elems:(i+2)*elems], sh.Labels[i+1]
		}
		b := blending{share: 1}
		if n > 1 {
			b = l.config.Augment.drawMix(l.config.Seed, epoch, int(index), height, width)
		}
		if b.isCut {
			b.hole.take(image, other, width, channels)
		} else if b.share < 1 {
			average(image, other, b.share)
		}
		if sh.Others[i], sh.Shares[i] = class, b.share; b.share < 0.5 {
			sh.Labels[i], sh.Others[i], sh.Shares[i] = class, sh.Labels[i], 1-b.share
		}
	}
}

// take copies the hole from another image.
func (h hole) take(image, other []float32, width, channels int) {
	for y := h.top; y < h.bottom; y++ {
		lo, hi := (y*width+h.left)*channels, (y*width+h.right)*channels
		copy(image[lo:hi], other[lo:hi])
	}
}

// average makes image the mean of both, each product rounded to float32.
func average(image, other []float32, share float32) {
	rest := 1 - share
	other = other[:len(image)]
	for i, x := range image {
		image[i] = float32(share*x) + float32(rest*other[i])
	}
}
