// Package kernel computes on raw slices.
package kernel
