// Package raster draws shapes on a picture, as a browser draws those of an SVG file.
//
// A [Picture] is measured in user units, with y downwards; its pixels are finer by a scale. Edges are
// smoothed by exact coverage, colours are blended as in sRGB, strokes have the dashes, caps and joins of SVG.
// Text is set in the Go fonts, regular and bold, without hinting; they have Latin, Greek and Cyrillic
// letters, and a box for all others. Nothing is drawn outside of the picture. [New] refuses a picture of more
// than [MostPixels], so memory is bounded; no other function fails.
//
// A picture is a pure function of what was drawn: equal calls give equal pixels. It belongs to one goroutine.
package raster
