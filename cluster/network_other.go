//go:build !linux

package cluster

import "errors"

// enterNetwork returns an error: only Linux has network namespaces.
func enterNetwork(string) error {
	return errors.New("network namespaces are a feature of Linux")
}
