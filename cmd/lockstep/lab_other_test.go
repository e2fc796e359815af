//go:build !linux

package main

// hasLab returns false: only Linux has network namespaces.
func hasLab() bool { return false }
