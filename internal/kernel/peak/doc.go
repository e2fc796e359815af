// Package peak measures what the machine can reach.
package peak
