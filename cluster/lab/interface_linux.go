package lab

import (
	"encoding/binary"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// The interfaces of a lab have fixed numbers: the loopback is 1 in every namespace, a host's interface
// is hostIndex, and the switch has a bridge and one interface for each host.
const (
	loopbackIndex = 1
	hostIndex     = 2
	bridgeIndex   = 2
	portIndex     = 3 // of host 0
	hostInterface = "eth0"
)

// raise switches an interface on and sets its MTU, if that is not 0.
func (n *netlink) raise(index int32, mtu int) error {
	r := newRequest(unix.RTM_NEWLINK, 0,
		unix.IfInfomsg{Index: index, Flags: unix.IFF_UP, Change: unix.IFF_UP})
	if mtu > 0 {
		r = r.attribute(unix.IFLA_MTU, uint32(mtu))
	}
	return n.ask(r, nil)
}

// address gives an interface its address.
func (n *netlink) address(index int32, p netip.Prefix) error {
	r := newRequest(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL, unix.IfAddrmsg{
		Family: unix.AF_INET, Prefixlen: uint8(p.Bits()), Index: uint32(index)})
	r = r.attribute(unix.IFA_LOCAL, p.Addr().As4()).attribute(unix.IFA_ADDRESS, p.Addr().As4())
	return n.ask(r, nil)
}

// addBridge creates a switch.
func (n *netlink) addBridge(index int32, name string) error {
	r := newRequest(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL, unix.IfInfomsg{Index: index})
	r = r.attribute(unix.IFLA_IFNAME, name)
	r = r.nest(unix.IFLA_LINKINFO, func(r request) request {
		return r.attribute(unix.IFLA_INFO_KIND, "bridge")
	})
	return n.ask(r, nil)
}

const vethPeer = 1 // VETH_INFO_PEER of linux/veth.h

// addPair creates a pair of virtual Ethernet interfaces: one here, as a port of the bridge, and the
// other in the namespace of a host.
func (n *netlink) addPair(index, bridge int32, name string, mtu int, host namespace) error {
	r := newRequest(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		unix.IfInfomsg{Index: index, Flags: unix.IFF_UP, Change: unix.IFF_UP})
	r = r.attribute(unix.IFLA_IFNAME, name).attribute(unix.IFLA_MTU, uint32(mtu))
	r = r.attribute(unix.IFLA_MASTER, uint32(bridge))
	r = r.nest(unix.IFLA_LINKINFO, func(r request) request {
		return r.attribute(unix.IFLA_INFO_KIND, "veth").nest(unix.IFLA_INFO_DATA, func(r request) request {
			return r.nest(vethPeer, func(r request) request {
				r = r.append(unix.IfInfomsg{Index: hostIndex})
				r = r.attribute(unix.IFLA_IFNAME, hostInterface).attribute(unix.IFLA_MTU, uint32(mtu))
				return r.attribute(unix.IFLA_NET_NS_FD, uint32(host.fd))
			})
		})
	})
	return n.ask(r, nil)
}

// Of linux/pkt_sched.h and linux/gen_stats.h, and places in rtnl_link_stats64.
const (
	tbfParameters    = 1 // TCA_TBF_PARMS
	tbfRate64        = 4 // TCA_TBF_RATE64
	tbfBurst         = 6 // TCA_TBF_BURST
	layerEthernet    = 1 // TC_LINKLAYER_ETHERNET
	rootParent       = 0xFFFFFFFF
	received, sentBy = 2, 3
)

// disciplineHead is struct tcmsg.
type disciplineHead struct {
	Family               uint8
	_                    uint8
	_                    uint16
	Index                int32
	Handle, Parent, Info uint32
}

// tbfRate is struct tc_ratespec.
type tbfRate struct {
	CellLog, LinkLayer uint8
	Overhead           uint16
	CellAlign          int16
	SmallestUnit       uint16
	Rate               uint32
}

// addBucket lets an interface send at most so many bytes per second, with room for a backlog that waits.
func (n *netlink) addBucket(index int32, bytesPerSec float64) error {
	burst := kernelBurst(bytesPerSec)
	queue := max(minQueue, int(bytesPerSec*backlog.Seconds()))
	r := newRequest(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_EXCL,
		disciplineHead{Index: index, Parent: rootParent})
	r = r.attribute(unix.TCA_KIND, "tbf")
	r = r.nest(unix.TCA_OPTIONS, func(r request) request {
		r = r.attribute(tbfParameters, struct {
			Rate, Peak          tbfRate
			Limit, Buffer, MTUs uint32
		}{Rate: tbfRate{LinkLayer: layerEthernet, Rate: uint32(min(bytesPerSec, 1<<32-1))},
			Limit: uint32(burst + queue)})
		return r.attribute(tbfRate64, uint64(bytesPerSec)).attribute(tbfBurst, uint32(burst))
	})
	return n.ask(r, nil)
}

// counters returns the bytes that an interface has received and sent.
func (n *netlink) counters(index int32) (receivedBytes, sentBytes uint64, err error) {
	err = n.ask(newRequest(unix.RTM_GETLINK, 0, unix.IfInfomsg{Index: index}),
		func(m syscall.NetlinkMessage) {
			attributes, _ := syscall.ParseNetlinkRouteAttr(&m) // none of another kind of message
			for _, a := range attributes {
				if a.Attr.Type == unix.IFLA_STATS64 && len(a.Value) >= 8*(sentBy+1) {
					receivedBytes = binary.NativeEndian.Uint64(a.Value[8*received:])
					sentBytes = binary.NativeEndian.Uint64(a.Value[8*sentBy:])
				}
			}
		})
	return receivedBytes, sentBytes, err
}
