package agent

import (
	"fmt"
	"strings"
	"testing"
)

// show formats hosts as --hosts takes them.
func show(hosts []Host) string {
	var parts []string
	for _, h := range hosts {
		name := h.Name
		if strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
		parts = append(parts, fmt.Sprintf("%s:%d", name, h.Slots))
	}
	return strings.Join(parts, ",")
}

// Hosts are given by a flag or a file. What is none is an error of one short line: a file that is no
// hostfile may have one long line.
func TestHosts(t *testing.T) {
	const isFile = true
	long := strings.Repeat("a b:c", 40_000)
	for _, test := range []struct {
		isFile     bool
		text, want string // what it reads, or with ! how the error begins
	}{
		{!isFile, "a", "a:1"},
		{!isFile, " a:2 , me@b.example.org", "a:2,me@b.example.org:1"},
		{!isFile, "10.0.0.1:4,[fe80::1]:2,[::1]", "10.0.0.1:4,[fe80::1]:2,[::1]:1"},
		{!isFile, "a,b,a:2", "a:3,b:1"},
		{!isFile, "", `!--hosts: "" is no host; ` + wantHost},
		{!isFile, "a,,b", `!--hosts: "" is no host`},
		{!isFile, "a:0", `!--hosts: "0" slots: want a whole number from 1 to 1024`},
		{!isFile, "a:two", `!--hosts: "two" slots`},
		{!isFile, "a:", `!--hosts: "" slots`},
		{!isFile, "a:1000,a:25", "!--hosts: more than 1024 hosts, or than 1024 slots of a"},
		{!isFile, "fe80::1", "!--hosts: "},
		{!isFile, "[1-2]", "!--hosts: "},
		{!isFile, "[1:2]", `!--hosts: "1:2" is no IPv6 address`},
		{!isFile, "-oProxyCommand=touch x", "!--hosts: "},
		{!isFile, "me@-x", "!--hosts: "},
		{!isFile, "a b", "!--hosts: "},
		{!isFile, "a;b", "!--hosts: "},
		{!isFile, "a\nb", "!--hosts: "},
		{!isFile, "@a", "!--hosts: "},
		{!isFile, "a@b@c", "!--hosts: "},
		{isFile, "# mine\n\na slots=2 # two\r\nb:3\nc\n", "a:2,b:3,c:1"},
		{isFile, "a\nb\na\na\n", "a:3,b:1"}, // as PBS_NODEFILE
		{isFile, "# nobody\n", "!file: names no host; want a line such as node0 slots=2"},
		{isFile, "a\nb slots=0\n", `!file:2: "0" slots: want a whole number from 1 to 1024`},
		{isFile, "a slots", `!file:1: "a slots" is no host; ` + wantHost},
		{isFile, "a:2 slots=2", `!file:1: "2:2" slots`},
		{isFile, "a\x00", `!file:1: "a\x00" is no host`},
		{isFile, long, "!file:1: "},
		{isFile, strings.ReplaceAll(long, " ", ""), "!file:1: "},
		{isFile, "[" + strings.ReplaceAll(long, " ", "") + "]", "!file:1: "},
	} {
		hosts, err := ParseHosts(test.text)
		if test.isFile {
			hosts, err = parseHostfile("file", test.text)
		}
		if want, isError := strings.CutPrefix(test.want, "!"); isError {
			if err == nil || !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 500 ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%.80q: %.600v, want %s", test.text, err, want)
			}
		} else if err != nil || show(hosts) != want {
			t.Errorf("%.80q: %s, %v, want %s", test.text, show(hosts), err, want)
		}
	}
	if _, err := ReadHostfile("none"); err == nil || !strings.HasPrefix(err.Error(), "--hostfile: ") {
		t.Error(err)
	}
}

func FuzzHosts(f *testing.F) {
	for _, seed := range []string{"a:2,b:2", "[::1]:2", "a slots=2\n# x\nb:3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		check := func(hosts []Host, err error) {
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("an error of several lines: %q", err)
				}
				return
			}
			if len(hosts) == 0 || len(hosts) > maxHosts {
				t.Errorf("%d hosts", len(hosts))
			}
			seen := map[string]bool{}
			for _, h := range hosts {
				if h.Slots < 1 || h.Slots > maxSlots || seen[h.Name] || strings.HasPrefix(h.Name, "-") ||
					strings.ContainsAny(h.Name, " ,=\n\t'\"") {
					t.Errorf("host %+v", h)
				}
				seen[h.Name] = true
			}
			again, err := ParseHosts(show(hosts))
			if err != nil || show(again) != show(hosts) {
				t.Errorf("%q read again: %q, %v", show(hosts), show(again), err)
			}
		}
		check(ParseHosts(text))
		check(parseHostfile("file", text))
	})
}
