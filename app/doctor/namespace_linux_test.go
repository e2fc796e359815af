package doctor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lockstep/app/doctor"
	"lockstep/app/record"
)

// answerer is the argument that makes the test binary answer questions, line by line.
const answerer = "answer"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == answerer {
		answerLines(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// line is a question, or its answer.
type line struct {
	Name  string
	Body  json.RawMessage
	Error string
}

func answerLines(in io.Reader, out io.Writer) {
	h := doctor.NewHost(time.Now)
	defer h.Close()
	questions, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q line
		if questions.Decode(&q) != nil {
			return
		}
		body, err := h.Answer(context.Background(), q.Name, q.Body)
		a := line{Body: body}
		if err != nil {
			a.Error = err.Error()
		}
		answers.Encode(a)
	}
}

// remote asks a process in a network namespace.
type remote struct {
	mu      sync.Mutex
	to      io.Writer
	answers *json.Decoder
}

func (r *remote) Ask(_ context.Context, name string, body json.RawMessage) (json.RawMessage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := json.NewEncoder(r.to).Encode(line{Name: name, Body: body}); err != nil {
		return nil, err
	}
	var a line
	if err := r.answers.Decode(&a); err != nil || a.Error != "" {
		return nil, errors.Join(err, errors.New(a.Error))
	}
	return a.Body, nil
}

// spaces are network namespaces: a switch, then hosts.
type spaces []string

// in runs a command in a namespace.
func (s spaces) in(t *testing.T, space int, words string) {
	t.Helper()
	argv := append([]string{"--net=/proc/" + s[space] + "/ns/net", "--"}, strings.Fields(words)...)
	if text, err := exec.Command("nsenter", argv...).CombinedOutput(); err != nil {
		t.Skipf("no hosts: %s: %v: %s", words, err, text)
	}
}

// network makes hosts a, b, c, ... with addresses 10.77.0.1, 10.77.0.2, ... on a common switch.
func network(t *testing.T, num int) (spaces, []doctor.Member) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("network namespaces need root")
	}
	var s spaces
	for range num + 1 {
		holder := exec.Command("sleep", "infinity")
		holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET,
			Pdeathsig: syscall.SIGKILL}
		if err := holder.Start(); err != nil {
			t.Skip("no network namespace: ", err)
		}
		t.Cleanup(func() {
			holder.Process.Kill()
			holder.Wait() // killed
		})
		s = append(s, strconv.Itoa(holder.Process.Pid))
		s.in(t, len(s)-1, "ip link set lo up")
	}
	s.in(t, 0, "ip link add switch type bridge")
	s.in(t, 0, "ip link set switch up")
	var members []doctor.Member
	for k := 1; k <= num; k++ {
		s.connect(t, k, "eth0", fmt.Sprintf("10.77.0.%d/24", k))
		members = append(members, doctor.Member{Label: string(rune('a' + k - 1)), Slots: 1,
			Asker: s.start(t, k)})
	}
	return s, members
}

// connect gives a host an interface on the switch.
func (s spaces) connect(t *testing.T, k int, name, address string) {
	t.Helper()
	port := fmt.Sprintf("p%d%s", k, name)
	s.in(t, 0, fmt.Sprintf("ip link add %s type veth peer name %s netns %s", port, name, s[k]))
	s.in(t, 0, fmt.Sprintf("ip link set %s master switch up", port))
	s.in(t, k, fmt.Sprintf("ip addr add %s dev %s", address, name))
	s.in(t, k, "ip link set "+name+" up")
}

// start starts a process that answers for a host.
func (s spaces) start(t *testing.T, k int) *remote {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("nsenter", "--net=/proc/"+s[k]+"/ns/net", "--", self, answerer)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	to, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip("no process in a namespace: ", err)
	}
	t.Cleanup(func() {
		to.Close()
		c.Wait() // it ends with its input
	})
	return &remote{to: to, answers: json.NewDecoder(bufio.NewReader(from))}
}

func examine(t *testing.T, members []doctor.Member) *record.Hosts {
	t.Helper()
	h, err := doctor.Preflight(t.Context(), members)
	if err != nil {
		t.Fatal(err)
	}
	if h.Seconds > 60 {
		t.Errorf("%.1f s, want a few", h.Seconds)
	}
	return h
}

// Addresses that exist on several hosts lead each to itself, and are never chosen, even before any other.
func TestAnAddressOfTwoHosts(t *testing.T) {
	s, members := network(t, 3)
	for k := 1; k <= 3; k++ {
		s.in(t, k, "ip link add docker0 type bridge")
		s.in(t, k, "ip addr add 172.17.0.1/16 dev docker0")
		s.in(t, k, "ip link set docker0 up")
		if k < 3 {
			s.in(t, k, "ip link add aaa0 type veth peer name aaa1")
			s.in(t, k, "ip addr add 10.99.0.1/24 dev aaa0")
			s.in(t, k, "ip link set aaa1 up")
			s.in(t, k, "ip link set aaa0 up")
		}
	}
	h := examine(t, members)
	if err := doctor.Refuse(h.Findings); err != nil {
		t.Error(err)
	}
	for k, f := range h.Hosts {
		if f.Address != fmt.Sprintf("10.77.0.%d", k+1) || !strings.HasPrefix(f.Why, "the only one of ") {
			t.Errorf("%s: %s, %s", f.Label, f.Address, f.Why)
		}
	}
}

// A firewall between two of three hosts is named with its direction and kind, in time.
func TestABlockedPort(t *testing.T) {
	s, members := network(t, 3)
	s.in(t, 3, "nft add table inet wall")
	s.in(t, 3, "nft add chain inet wall in { type filter hook input priority 0 ; }")
	for _, test := range []struct{ verdict, want string }{
		{"drop", "a does not reach c, though c reaches a: 10.77.0.3 (eth0): no answer: packets are " +
			"dropped on the way → " +
			"let c accept TCP connections from a: its firewall"},
		{"reject with tcp reset", "a does not reach c, though c reaches a: 10.77.0.3 (eth0): refused → "},
		{"reject", "a does not reach c, though c reaches a: 10.77.0.3 (eth0): "},
	} {
		s.in(t, 3, "nft flush chain inet wall in")
		s.in(t, 3, "nft add rule inet wall in ip saddr 10.77.0.1 tcp dport 1024-65535 tcp flags & "+
			"(syn|ack) == syn "+
			test.verdict)
		h := examine(t, members)
		texts := found(h, record.LevelError, "route")
		if len(texts) != 1 || !strings.HasPrefix(texts[0], test.want) {
			t.Errorf("%s: %q, want %q", test.verdict, texts, test.want)
		}
		if h.Hosts[0].Address == "" || h.Hosts[1].Address == "" || h.Hosts[2].Address != "" {
			t.Errorf("%s: addresses %q, %q, %q", test.verdict, h.Hosts[0].Address, h.Hosts[1].Address,
				h.Hosts[2].Address)
		}
	}
}

// Of two networks between hosts the faster one is taken; its rate is measured within a factor.
func TestTheFasterOfTwoNetworks(t *testing.T) {
	s, members := network(t, 2)
	for k := 1; k <= 2; k++ {
		s.in(t, k, "tc qdisc add dev eth0 root tbf rate 20mbit burst 16kb latency 50ms")
		s.connect(t, k, "eth1", fmt.Sprintf("10.78.0.%d/24", k))
	}
	h := examine(t, members)
	for k, f := range h.Hosts {
		if f.Address != fmt.Sprintf("10.78.0.%d", k+1) || !strings.HasPrefix(f.Why,
			"fastest of 2 that all reach") {
			t.Errorf("%s: %s, %s", f.Label, f.Address, f.Why)
		}
	}
	for _, r := range h.Routes {
		if slow := strings.HasPrefix(r.Address, "10.77."); slow && (r.Rate < 1e6 || r.Rate > 5e6) {
			t.Errorf("%s: %.0f bytes/s over 20 Mbit/s", r.Address, r.Rate)
		}
	}
}

// Hosts in two networks, each of which one host has both of, have no address in common.
func TestHostsWithoutACommonNetwork(t *testing.T) {
	s, members := network(t, 3)
	s.in(t, 3, "ip addr flush dev eth0")
	s.in(t, 3, "ip addr add 10.79.0.3/24 dev eth0")
	s.in(t, 2, "ip addr add 10.79.0.2/24 dev eth0")
	h := examine(t, members)
	texts := strings.Join(found(h, record.LevelError, "route"), "\n")
	for _, want := range []string{"a does not reach c: 10.79.0.3 (eth0): no route → give a and c " +
		"interfaces in one network",
		"no address of b is reached by all other hosts"} {
		if !strings.Contains(texts, want) {
			t.Errorf("no %q in %s", want, texts)
		}
	}
}
