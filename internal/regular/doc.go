// Package regular opens, hashes, creates, replaces or locks files that are neither pipes nor devices.
package regular
