package tcp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// Listener accepts the connections of one rank's peers.
type Listener struct{ tcp *net.TCPListener }

// Listen listens on one interface. The host of address, as in "127.0.0.1:0", must be an IP address
// or a name that resolves to one, never empty or unspecified ("0.0.0.0", "[::]"). Port 0 picks a
// free port.
func Listen(address string) (*Listener, error) {
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("tcp: listen: %w", err)
	}
	ip, ok := netip.AddrFromSlice(resolved.IP)
	if !ok || ip.Unmap().IsUnspecified() {
		return nil, fmt.Errorf("tcp: listen on %q: all interfaces, want the address of one", address)
	}
	config := net.ListenConfig{Control: Insist}
	config.SetMultipathTCP(false) // has not the options of Insist
	l, err := config.Listen(context.Background(), "tcp", resolved.String())
	if err != nil {
		return nil, fmt.Errorf("tcp: %w", err)
	}
	return &Listener{l.(*net.TCPListener)}, nil
}

// Addr returns the address that peers dial, with the actual port.
func (l *Listener) Addr() string { return l.tcp.Addr().String() }

// Close stops listening; established meshes are unaffected.
func (l *Listener) Close() error { return l.tcp.Close() }
