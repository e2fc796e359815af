// Package gradsync turns each worker's partial gradients into the global ones.
package gradsync
