// Package regular opens, creates or replaces files that are neither pipes nor devices.
package regular
