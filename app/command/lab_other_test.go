//go:build !linux

package command

// hasLab returns false: only Linux has network namespaces.
func hasLab() bool { return false }
