//go:build !linux

package tcp

import "syscall"

// Insist is the Control of a net.Dialer or net.ListenConfig. It changes nothing on this system.
func Insist(string, string, syscall.RawConn) error { return nil }
