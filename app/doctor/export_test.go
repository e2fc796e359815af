package doctor

import (
	"context"
	"encoding/json"
	"net/netip"
	"time"

	"lockstep/app/record"
)

// NewTestHost returns a host with these facts and this clock.
func NewTestHost(facts record.HostFacts, now func() time.Time) *Host {
	return &Host{now: now, describe: func() record.HostFacts {
		facts.ClockNanos = now().UnixNano()
		return facts
	}}
}

// LoopbackPreflight is Preflight for hosts whose addresses are those of the loopback interface.
func LoopbackPreflight(ctx context.Context, members []Member) (*record.Hosts, error) {
	return (&preflight{members: members, takesLoopback: true}).hosts(ctx)
}

// ShiftPorts returns an answer to AskListen in which the first address has the port of another answer's
// first.
func ShiftPorts(answer, other json.RawMessage) json.RawMessage {
	var a, b listenAnswer
	if json.Unmarshal(answer, &a) != nil || json.Unmarshal(other, &b) != nil {
		return nil
	}
	if len(a.Ports) > 0 && len(b.Ports) > 0 { // else it is asked to end listening
		a.Ports[0] = b.Ports[0]
	}
	text, _ := json.Marshal(a) // of integers
	return text
}

// Listener answers probes on the loopback interface.
type Listener struct {
	*listener
	Key []byte
}

// Listen starts a listener with some key.
func Listen(address string) (*Listener, error) {
	key := make([]byte, keyBytes)
	l, err := listen(netip.MustParseAddr(address), key, time.Now)
	return &Listener{l, key}, err
}

// Ping probes an address and returns the fault.
func Ping(ctx context.Context, address string, key []byte) string {
	return ping(ctx, address, key, time.Now).Fault
}
