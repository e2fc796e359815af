// Package comm runs collectives over links between ranks.
package comm
