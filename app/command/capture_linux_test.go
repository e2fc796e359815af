package command

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	captureBytes = 256 << 20 // that may wait for the test
	frameBytes   = 128 << 10 // more than the longest frame has
	windowBytes  = 32        // of a vector that is looked for
)

// capture is every frame that comes and goes at a host, but those of ssh.
type capture struct {
	socket int
	stop   chan bool
	frames chan []byte // all of them, once it has ended
}

// capture takes down what a host's link carries from now on, until its end is called.
func (s *sshHosts) capture(t *testing.T, host int) *capture {
	t.Helper()
	c := &capture{stop: make(chan bool), frames: make(chan []byte)}
	s.inside(t, host, func() (err error) {
		const all = unix.ETH_P_ALL << 8 // in the order of the network
		if c.socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, all); err != nil {
			return fmt.Errorf("capture: %w", err)
		}
		second := unix.Timeval{Sec: 1}
		return errors.Join(
			unix.SetsockoptInt(c.socket, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, captureBytes),
			unix.SetsockoptTimeval(c.socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &second))
	})
	go c.take()
	return c
}

// take reads frames until those that came before the end are read.
func (c *capture) take() {
	var frames []byte
	frame, flags := make([]byte, frameBytes), 0
	for {
		n, _, err := unix.Recvfrom(c.socket, frame, flags)
		switch {
		case err == nil && !isSSH(frame[:n]):
			frames = append(frames, frame[:n]...)
		case err != nil && flags == unix.MSG_DONTWAIT:
			c.frames <- frames
			return
		}
		select {
		case <-c.stop:
			flags = unix.MSG_DONTWAIT
		default:
		}
	}
}

// isSSH reports whether a frame of Ethernet holds a segment from or to port 22.
func isSSH(frame []byte) bool {
	const ethernet, ipv4, tcp, ssh = 14, 4, 6, 22
	if len(frame) < ethernet+20 || frame[ethernet]>>4 != ipv4 || frame[ethernet+9] != tcp {
		return false
	}
	ports := frame[ethernet+4*int(frame[ethernet]&0xf):]
	of := binary.BigEndian.Uint16
	return len(ports) >= 4 && (of(ports) == ssh || of(ports[2:]) == ssh)
}

// end returns what was taken down, of which nothing may be missing.
func (c *capture) end(t *testing.T) []byte {
	t.Helper()
	close(c.stop)
	frames := <-c.frames
	stats, err := unix.GetsockoptTpacketStats(c.socket, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err = errors.Join(err, unix.Close(c.socket)); err != nil {
		t.Fatal(err)
	}
	if stats.Drops > 0 || stats.Packets == 0 {
		t.Fatalf("capture: %d frames were lost of %d", stats.Drops, stats.Packets)
	}
	return frames
}

// beginnings returns the first bytes of each one-dimensional tensor of a file, which has the same layout in
// memory.
func beginnings(t *testing.T, path string) (list [][]byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data := 8 + binary.LittleEndian.Uint64(text)
	var header map[string]struct {
		Shape   []int
		Offsets [2]uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(text[8:data], &header); err != nil {
		t.Fatal(err)
	}
	for _, tensor := range header {
		from, to := data+tensor.Offsets[0], data+tensor.Offsets[1]
		if len(tensor.Shape) == 1 && to-from >= windowBytes {
			list = append(list, text[from:from+windowBytes])
		}
	}
	return list
}

// The links of a job on several hosts carry no vector and no secret that can be read. With --insecure the
// same search finds the weights, which a sharded optimizer sends after every step, but no secret either.
func TestNothingCanBeReadOnTheWire(t *testing.T) {
	s := startHosts(t, 2)
	for _, c := range []struct {
		name      string
		flags     []string
		isVisible bool
	}{{"encrypted", nil, false}, {"insecure", []string{"--insecure"}, true}} {
		t.Run(c.name, func(t *testing.T) {
			taken := s.capture(t, 2)
			l := s.launch(t, append([]string{"--hosts", "h1:1,h2:1", "--", "train", "--steps", "4",
				"--shards", "2", "--shard-optimizer", "--quiet", "--out", "run"}, c.flags...)...)
			l.ends(t, 0)
			frames, found := taken.end(t), 0
			vectors := beginnings(t, filepath.Join(l.folder, "run", "model.safetensors"))
			for _, v := range vectors {
				if bytes.Contains(frames, v) {
					found++
				}
			}
			if isVisible := found > 0; isVisible != c.isVisible || len(vectors) == 0 {
				t.Errorf("%d of %d vectors were on the wire, in %d bytes", found, len(vectors), len(frames))
			}
			for _, secret := range []string{"ls1.20", `"secret":"`, "PRIVATE KEY"} { // a token has its date
				if at := bytes.Index(frames, []byte(secret)); at >= 0 {
					t.Errorf("a secret was on the wire: %q", frames[at:at+len(secret)])
				}
			}
		})
	}
}
