package lab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockstep/cluster"
)

// open builds a lab, or skips the test where this machine cannot.
func open(t *testing.T, c Config) *lab {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	l, err := build(c)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// connect returns both ends of a TCP connection from a host to another.
func (l *lab) connect(t *testing.T, from, to int) (client, server net.Conn) {
	t.Helper()
	var listener net.Listener
	must(t, l.hosts[to].space.do(func() (err error) {
		listener, err = net.Listen("tcp", l.hosts[to].address.Addr().String()+":0")
		return err
	}))
	defer listener.Close()
	must(t, l.hosts[from].space.do(func() (err error) {
		client, err = net.DialTimeout("tcp", listener.Addr().String(), 5*time.Second)
		return err
	}))
	server, err := listener.Accept()
	must(t, err)
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// measure returns the bits per second that go from client to server, after a start, and all the bytes that
// came since the beginning. Where others take the processors, less goes than the link would carry: it looks
// at windows of time until one is near want, or enough that nothing disturbed were not, and skips the test if
// there are not so many. Nothing makes the link faster, so that all that has gone is held against what it
// may have carried since the beginning.
func measure(t *testing.T, client, server net.Conn, want float64) (got float64, sum int64) {
	t.Helper()
	begin := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buffer := make([]byte, 1<<16); ; {
			if _, err := client.Write(buffer); err != nil {
				return // closed below
			}
		}
	}()
	defer func() { client.Close(); <-done }()
	w := newWatch(t)
	read := func(d time.Duration) float64 {
		since := time.Now()
		must(t, server.SetReadDeadline(since.Add(d)))
		n, err := io.Copy(io.Discard, server)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		sum += n
		return 8 * float64(n) / time.Since(since).Seconds()
	}
	read(300 * time.Millisecond)
	const enough, most = 8, 60
	for calm, windows, before := 0, 0, w.latest(); calm < enough; windows++ {
		if windows == most {
			t.Skipf("threads of this machine wake up to %v late, %s went instead of %s", before,
				Link{Rate: got}, Link{Rate: want})
		}
		if got = read(400 * time.Millisecond); isNear(got, want) {
			break
		}
		late := w.latest()
		if max(late, before) < ahead/2 {
			calm++
		}
		before = late
	}
	const saved = 8 * 2 * largestSegment // what both buckets let pass at once, in bits
	if most := want*time.Since(begin).Seconds() + saved; 8*float64(sum) > most {
		t.Errorf("%d bits came, the link carries at most %.0f in that time", 8*sum, most)
	}
	return got, sum
}

func isNear(got, want float64) bool { return math.Abs(got/want-1) <= 0.15 }

// watch is a thread on each processor that sees how late the machine lets it wake.
type watch []*atomic.Int64

func newWatch(t *testing.T) (w watch) {
	var allowed unix.CPUSet
	must(t, unix.SchedGetaffinity(0, &allowed))
	stop := make(chan struct{})
	var running sync.WaitGroup
	for cpu := range 1024 { // what a CPUSet has room for
		if !allowed.IsSet(cpu) {
			continue
		}
		late := new(atomic.Int64)
		w = append(w, late)
		running.Go(func() {
			runtime.LockOSThread() // for good: its affinity is no other's
			var one unix.CPUSet
			one.Set(cpu)
			unix.SchedSetaffinity(0, &one) // refused: it watches where it runs
			for wait := (unix.Timespec{Nsec: 5e5}); ; {
				select {
				case <-stop:
					return
				default:
				}
				begin := time.Now()
				unix.Nanosleep(&wait, nil)
				late.Store(max(late.Load(), int64(time.Since(begin))-wait.Nsec))
			}
		})
	}
	t.Cleanup(func() { close(stop); running.Wait() })
	return w
}

// latest returns how late a thread has been since it was asked last.
func (w watch) latest() (late time.Duration) {
	for _, one := range w {
		late = max(late, time.Duration(one.Swap(0)))
	}
	return late
}

// The rates are such that a machine which others share carries them; that the kernel has been told any other
// rate is TestTheKernelKnowsTheRate, that the emulator keeps it in its own time TestLinksAreAsFastAsAsked.
func TestRatesHold(t *testing.T) {
	for _, c := range []struct {
		network string
		link    Link
	}{
		{"kernel", Link{Rate: 5e7}}, {"kernel", Link{Rate: 2e8}},
		{"emulator", Link{Rate: 2e7, Delay: time.Millisecond}},
		{"emulator", Link{Rate: 1e8, Delay: 100 * time.Microsecond}},
	} {
		t.Run(fmt.Sprint(c.network, " ", c.link), func(t *testing.T) {
			l := open(t, Config{Hosts: 2, Link: c.link})
			client, server := l.connect(t, 0, 1)
			got, came := measure(t, client, server, c.link.Rate)
			if !isNear(got, c.link.Rate) {
				t.Errorf("measured %v bit/s, asked for %v", got, c.link.Rate)
			}
			counts, err := l.links.finish()
			must(t, err)
			if sent := int64(counts[0].Sent); sent < came {
				t.Errorf("counted %d bytes sent, %d came", sent, came)
			}
		})
	}
}

func TestTheKernelKnowsTheRate(t *testing.T) {
	for _, want := range []float64{1e9, 100e9} { // 100 Gbit/s are more bytes per second than 32 bits hold
		l := open(t, Config{Hosts: 1, Link: Link{Rate: want}})
		k := l.links.(*kernelNetwork)
		for _, end := range []struct {
			name  string
			link  *netlink
			index int32
		}{{"host", k.hosts[0], hostIndex}, {"switch", k.hub, portIndex}} {
			got, err := end.link.rate(end.index)
			must(t, err)
			if float64(8*got) != want {
				t.Errorf("bucket of the %s: %d bytes/s, asked for %v bit/s", end.name, got, want)
			}
		}
	}
}

// rate returns the bytes per second of an interface's token bucket, 0 without one.
func (n *netlink) rate(index int32) (bytesPerSec uint64, err error) {
	const head = 20            // struct tcmsg
	const rateOfParameters = 8 // offset of rate.rate in struct tc_tbf_qopt
	err = n.ask(newRequest(unix.RTM_GETQDISC, unix.NLM_F_DUMP, disciplineHead{Index: index}),
		func(m syscall.NetlinkMessage) {
			if int32(binary.NativeEndian.Uint32(m.Data[4:])) != index {
				return
			}
			bucket := attributes(attributes(m.Data[head:])[unix.TCA_OPTIONS])
			if wide := bucket[tbfRate64]; wide != nil {
				bytesPerSec = binary.NativeEndian.Uint64(wide)
			} else if narrow := bucket[tbfParameters]; narrow != nil {
				bytesPerSec = uint64(binary.NativeEndian.Uint32(narrow[rateOfParameters:]))
			}
		})
	return bytesPerSec, err
}

// attributes returns the values of attributes by kind.
func attributes(body []byte) map[uint16][]byte {
	values := map[uint16][]byte{}
	for len(body) >= 4 {
		length := int(binary.NativeEndian.Uint16(body))
		if length < 4 || length > len(body) {
			break
		}
		values[binary.NativeEndian.Uint16(body[2:])&^unix.NLA_F_NESTED] = body[4:length]
		body = body[min((length+unix.NLMSG_ALIGNTO-1)&^(unix.NLMSG_ALIGNTO-1), len(body)):]
	}
	return values
}

func TestDelayHolds(t *testing.T) {
	const delay = 5 * time.Millisecond
	l := open(t, Config{Hosts: 2, Link: Link{Delay: delay}})
	client, server := l.connect(t, 0, 1)
	go io.Copy(server, server) // until both are closed
	fastest := time.Hour
	for range 100 {
		begin := time.Now()
		_, err := client.Write([]byte{1})
		must(t, err)
		_, err = io.ReadFull(client, make([]byte, 1))
		must(t, err)
		if fastest = min(fastest, time.Since(begin)); fastest <= 3*delay {
			break
		}
	}
	if fastest < 2*delay || fastest > 3*delay {
		t.Errorf("a round trip takes %v with a delay of %v", fastest, delay)
	}
}

// patience is how long datagrams are waited for, after the last that has come.
const patience = time.Second

// datagrams sends numbered datagrams from host 0 to host 1 and returns the numbers that arrive, once that is
// all of them or no more come.
func (l *lab) datagrams(t *testing.T, num int) (numbers []byte) {
	t.Helper()
	var server, client net.Conn
	to := &net.UDPAddr{IP: l.hosts[1].address.Addr().AsSlice(), Port: 4000}
	must(t, l.hosts[1].space.do(func() (err error) { server, err = net.ListenUDP("udp", to); return err }))
	defer server.Close()
	must(t, l.hosts[0].space.do(func() (err error) { client, err = net.DialUDP("udp", nil, to); return err }))
	defer client.Close()
	for i := range num {
		_, err := client.Write([]byte{byte(i)})
		must(t, err)
	}
	for buffer := make([]byte, 9); len(numbers) < num; {
		must(t, server.SetReadDeadline(time.Now().Add(patience)))
		if _, err := server.Read(buffer); err != nil {
			break
		}
		numbers = append(numbers, buffer[0])
	}
	return numbers
}

func TestLossIsReplayed(t *testing.T) {
	c := Config{Hosts: 2, Seed: 7, Link: Link{Loss: 0.2}}
	var want []byte
	model := newNetwork(c)
	for i := range 100 {
		if !model.links[0].isLost(uint64(i)) {
			want = append(want, byte(i))
		}
	}
	for range 2 {
		if got := open(t, c).datagrams(t, 100); !slices.Equal(got, want) {
			t.Errorf("datagrams %v arrived, want %v", got, want)
		}
	}
}

func TestACutEnds(t *testing.T) {
	const end = patience + 500*time.Millisecond
	l := open(t, Config{Hosts: 2, Cuts: []Cut{{Host: 1, To: end}}})
	if got := l.datagrams(t, 5); got != nil {
		t.Errorf("datagrams %v reached a host that is cut off", got)
	}
	time.Sleep(end - patience)
	if got := l.datagrams(t, 5); len(got) != 5 {
		t.Errorf("datagrams %v arrived after the cut, want 5", got)
	}
}

func TestNothingIsLeft(t *testing.T) {
	open(t, Config{Hosts: 1}) // or skip
	for _, link := range []Link{{Rate: 1e9}, {Delay: time.Millisecond}} {
		before := descriptors(t)
		l, err := build(Config{Hosts: 3, Link: link})
		must(t, err)
		space := l.hosts[1].space.path()
		inside, err := os.Readlink(space)
		must(t, err)
		must(t, l.close())
		if after := descriptors(t); after > before {
			t.Errorf("%v: %d descriptors, %d before", link, after, before)
		}
		if holder := holderOf(inside); holder != "" {
			t.Errorf("%v: %s still holds %s", link, holder, inside)
		}
	}
}

// descriptors counts those that are open, some of them by the runtime for its own use, which it closes later.
func descriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// holderOf returns a thread of this process that is in a namespace.
func holderOf(namespace string) string {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		holder := ""
		tasks, _ := os.ReadDir("/proc/self/task") // empty: nobody holds it
		for _, task := range tasks {
			if name, _ := os.Readlink("/proc/self/task/" + task.Name() + "/ns/net"); name == namespace {
				holder = "thread " + task.Name()
			}
		}
		if holder == "" || time.Now().After(deadline) {
			return holder
		}
	}
}

// A command learns the hosts from its environment and runs on the first of them.
func TestRunIsOnTheFirstHost(t *testing.T) {
	open(t, Config{Hosts: 1}) // or skip
	var out bytes.Buffer
	o := Options{Program: "/bin/sh",
		Command:     []string{"sh", "-c", "echo $LOCKSTEP_LAB; readlink /proc/self/ns/net; exit 9"},
		Environment: cluster.ProcessEnvironment(), Stdout: &out, Stderr: &out}
	report, err := Run(Config{Hosts: 2}, o)
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Status != 9 {
		t.Fatalf("%v, want status 9", err)
	}
	if len(report.Hosts) != 2 || report.IsEmulated {
		t.Errorf("report %+v", report)
	}
	lines := strings.Split(out.String(), "\n")
	hosts, err := cluster.Environment{cluster.EnvLab: lines[0]}.LabHosts()
	if err != nil || len(hosts) != 2 || hosts[1].Name != "host1" || hosts[1].Address != "10.77.0.2" {
		t.Errorf("hosts %+v, %v", hosts, err)
	}
	if here, _ := os.Readlink("/proc/self/ns/net"); lines[1] == here || !strings.HasPrefix(lines[1], "net:") {
		t.Errorf("the command ran in %s, this test in %s", lines[1], here)
	}
	o.Command = []string{"sh", "-c", "kill -TERM $$"}
	if _, err := Run(Config{Hosts: 1}, o); !errors.As(err, &exit) || exit.Status != 128+int(unix.SIGTERM) {
		t.Errorf("%v, want status 143", err)
	}
	o.Program = "/no/such/program"
	if _, err := Run(Config{Hosts: 1}, o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want that there is no such program", err)
	}
}
