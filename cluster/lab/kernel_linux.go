package lab

import (
	"errors"
	"fmt"
	"net/netip"
)

// kernelNetwork is a switch and links that the kernel runs by itself.
type kernelNetwork struct {
	space namespace  // of the switch
	hub   *netlink   // to the switch
	hosts []*netlink // to the hosts
}

// newKernelNetwork joins the hosts by pairs of virtual Ethernet interfaces and a bridge, with a token
// bucket at both ends of each pair whose link has a rate.
func newKernelNetwork(c Config, hosts []host) (_ *kernelNetwork, err error) {
	k := &kernelNetwork{}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.close())
		}
	}()
	if k.space, err = newNamespace(); err != nil {
		return nil, err
	}
	if k.hub, err = openNetlink(k.space); err != nil {
		return nil, err
	}
	if err := k.hub.addBridge(bridgeIndex, "bridge"); err != nil {
		return nil, fmt.Errorf("create a bridge: %w", err)
	}
	if err := k.hub.raise(bridgeIndex, c.mtu()); err != nil {
		return nil, fmt.Errorf("raise the bridge: %w", err)
	}
	for i, h := range hosts {
		n, err := openNetlink(h.space)
		if err != nil {
			return nil, err
		}
		k.hosts = append(k.hosts, n)
		if err := k.join(int32(i), h, n, c.Link, c.mtu()); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// join connects a host with the bridge.
func (k *kernelNetwork) join(i int32, h host, n *netlink, l Link, mtu int) error {
	if err := k.hub.addPair(portIndex+i, bridgeIndex, h.name, mtu, h.space); err != nil {
		return fmt.Errorf("create a pair of virtual Ethernet interfaces: %w", err)
	}
	if l.Rate > 0 {
		err := n.addBucket(hostIndex, l.Rate/8)
		if err == nil {
			err = k.hub.addBucket(portIndex+i, l.Rate/8)
		}
		if err != nil {
			return fmt.Errorf("add a token bucket (tbf): %w", err)
		}
	}
	return n.addressHost(h.address)
}

// addressHost gives the host its address and switches its interfaces on.
func (n *netlink) addressHost(address netip.Prefix) error {
	if err := n.address(hostIndex, address); err != nil {
		return fmt.Errorf("give a host the address %v: %w", address, err)
	}
	for _, index := range []int32{loopbackIndex, hostIndex} {
		if err := n.raise(index, 0); err != nil {
			return fmt.Errorf("raise interface %d: %w", index, err)
		}
	}
	return nil
}

// finish returns the counters of the links. Bytes that the switch receives at a port were sent by its host.
func (k *kernelNetwork) finish() ([]Counts, error) {
	counts := make([]Counts, len(k.hosts))
	for i := range counts {
		c := &counts[i]
		var err error
		if c.Sent, c.Received, err = k.hub.counters(portIndex + int32(i)); err != nil {
			return nil, fmt.Errorf("read the counters of host %d: %w", i, err)
		}
	}
	return counts, nil
}

func (k *kernelNetwork) close() error {
	var failed []error
	for _, n := range append(k.hosts, k.hub) {
		if n != nil {
			failed = append(failed, n.close())
		}
	}
	if k.space.fd > 0 {
		failed = append(failed, k.space.close())
	}
	return errors.Join(failed...)
}
