package doctor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"lockstep/app/doctor"
	"lockstep/app/record"
)

// A thousand strangers do not keep a probe out, and take no memory.
func TestAThousandStrangers(t *testing.T) {
	l, err := doctor.Listen("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := l.Addr().String()
	hello := []string{"", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00", "lsprobe3",
		"lsprobe3" + strings.Repeat("x", 4000), strings.Repeat("\xff", 100_000), "SSH-2.0-x\r\n"}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 1000 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		conn.SetDeadline(time.Now().Add(time.Second))
		conn.Write([]byte(hello[i%len(hello)])) // the listener may have hung up
		if i%250 == 249 {
			if fault := doctor.Ping(t.Context(), address, l.Key); fault != "" {
				t.Errorf("after %d strangers: %s", i+1, fault)
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
}

// Who does not have the key is told nothing but a code of what he sent.
func TestAProbeWithAnotherKey(t *testing.T) {
	l, err := doctor.Listen("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	other := append([]byte{1}, l.Key[1:]...)
	if fault := doctor.Ping(t.Context(), l.Addr().String(), other); fault != "something else answers there" {
		t.Errorf("another key: %q", fault)
	}
	echo, err := net.Listen("tcp", "127.0.0.1:0") // sends back what it gets
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		conn, err := echo.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		b := make([]byte, 100)
		for {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			conn.Write(append(b[:n], make([]byte, 64)...))
		}
	}()
	if fault := doctor.Ping(t.Context(), echo.Addr().String(), l.Key); fault != "something else answers "+
		"there" {
		t.Errorf("an echo: %q", fault)
	}
}

// Whatever answers a host gives, the preflight ends in time, with a result or an error that names it.
func TestAnswersOfAStrangeHost(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	texts := []string{``, `null`, `{}`, `[]`, `{"ports":[99999]}`, `{"ports":[-1]}`, `{"ports":[1,2,3]}`,
		`{"probes":[{}]}`,
		`{"probes":[{"latency":-1}]}`, `{"probes":[{"latency":1e300,"offset":1e300}]}`,
		`{"probes":[{"rate":1e300}]}`, `{"probes":[{"rate":-1}]}`, `{"isa":[]}`,
		`{"interfaces":[{"kind":"physical","addresses":["127.0.0.3"]}]}`}
	for range 12 {
		list := members(t, facts("127.0.0.2"), facts("127.0.0.3"))
		d := list[1].Asker.(direct)
		d.answer = func(_ string, _, answer json.RawMessage) (json.RawMessage, error) {
			if random.IntN(3) > 0 {
				return answer, nil
			}
			return json.RawMessage(texts[random.IntN(len(texts))]), nil
		}
		list[1].Asker = d
		h, err := doctor.LoopbackPreflight(t.Context(), list)
		if err != nil && !strings.HasPrefix(err.Error(), "host b: ") {
			t.Error(err)
		}
		if err == nil {
			if err := h.Validate(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A host that never answers is named when its time is over.
func TestAHostThatIsSilent(t *testing.T) {
	list := members(t, facts("127.0.0.2"), facts("127.0.0.3"))
	list[1].Asker = silent{}
	start := time.Now()
	_, err := doctor.LoopbackPreflight(t.Context(), list)
	if err == nil || err.Error() != "host b: facts: no answer within 3s" ||
		time.Since(start) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// silent never answers.
type silent struct{}

func (silent) Ask(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The GPUs of this machine are in a line.
func TestGPUsOfAHost(t *testing.T) {
	h200 := &record.GPU{Name: "NVIDIA H200", MemoryBytes: 140 << 30, Driver: 13000,
		Libraries: []string{"cuDNN 9.14"}}
	for _, test := range []struct {
		count     int
		gpu       *record.GPU
		why, want string
	}{
		{0, nil, "", ""},
		{1, h200, "", "gpu NVIDIA H200, 140 GiB, driver for CUDA 13.0, cuDNN 9.14 disk"},
		{8, h200, "", "gpu 8, the first is NVIDIA H200, 140 GiB, driver for CUDA 13.0, cuDNN 9.14 disk"},
		{0, nil, "no libcuda.so.1", "gpu none that this binary can use: no libcuda.so.1 disk"},
	} {
		f := facts("10.0.0.1")
		f.GPUs, f.GPU, f.NoGPU = test.count, test.gpu, test.why
		var text strings.Builder
		if err := doctor.Text(&text, &record.Hosts{Hosts: []record.HostFacts{f}}); err != nil {
			t.Fatal(err)
		}
		words := strings.Join(strings.Fields(text.String()), " ")
		if !strings.Contains(words, test.want) || strings.Contains(words, " gpu ") != (test.want != "") {
			t.Errorf("want %q in %s", test.want, text.String())
		}
	}
}

// The tables of two, eight and forty hosts fit a terminal; what is kept of them fits a variable.
func TestTextFitsATerminal(t *testing.T) {
	for _, n := range []int{1, 2, 8, 40} {
		h := &record.Hosts{}
		for i := range n {
			f := facts(fmt.Sprintf("10.100.200.%d", i))
			f.Label, f.Slots, f.Address = fmt.Sprintf("node-with-a-long-name-%d", i), 64, "10.100.200.100"
			f.Why, f.CPU, f.UsableCores, f.LogicalCores = "fastest of 12 that all reach: 99.9 Gbit/s",
				strings.Repeat("Processor ", 9), 128, 256
			f.ISA, f.ClockOffset, f.Load = []string{"plain", "avx512"}, -3600.5, 123.4
			h.Hosts = append(h.Hosts, f)
			for to := range n {
				if to != i {
					h.Routes = append(h.Routes, record.Route{From: i, To: to, Address: "10.100.200.100",
						IsChosen: true,
						Latency:  123.4e-6, Rate: 12.5e9}, record.Route{From: i, To: to, Address: "fd00::2",
						Fault: "no route"})
				}
			}
		}
		h.Findings = []record.Finding{{Level: "error", Host: "node", Text: strings.Repeat("word ", 60),
			Next: "do it"}}
		var text strings.Builder
		if err := doctor.Text(&text, h); err != nil {
			t.Fatal(err)
		}
		for one := range strings.Lines(text.String()) {
			if width := len([]rune(strings.TrimSuffix(one, "\n"))); width > 80 {
				t.Errorf("%d hosts: %d columns: %s", n, width, one)
			}
		}
		kept, err := record.ParseHosts(doctor.Encode(h))
		if err != nil || kept == nil || len(kept.Hosts) != n || len(doctor.Encode(h)) > 100<<10 {
			t.Errorf("%d hosts: %v, %d bytes", n, err, len(doctor.Encode(h)))
		}
	}
}
