package agent

import (
	"errors"
	"fmt"
	"os"
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

func TestHosts(t *testing.T) {
	for text, want := range map[string]string{
		"a":                              "a:1",
		"a:2,b:2":                        "a:2,b:2",
		" a:2 , me@b.example.org":        "a:2,me@b.example.org:1",
		"node[01-03]:2":                  "node01:2,node02:2,node03:2",
		"r[1-2]n[3,5-6]":                 "r1n3:1,r1n5:1,r1n6:1,r2n3:1,r2n5:1,r2n6:1",
		"10.0.0.1:4,[fe80::1]:2,[1-2].x": "error",
		"10.0.0.1:4,[fe80::1]:2":         "10.0.0.1:4,[fe80::1]:2",
		"[::1]":                          "[::1]:1",
		"n[9-10]":                        "n9:1,n10:1",
		"":                               "error",
		"a,,b":                           "error",
		"a:0":                            "error",
		"a:-1":                           "error",
		"a:two":                          "error",
		"a:":                             "error",
		"a:2:2":                          "error",
		"fe80::1":                        "error",
		"a,b,a:2":                        "error",
		"n[1-3],n2":                      "error",
		"n[3-1]":                         "error",
		"n[1-":                           "error",
		"n[x]":                           "error",
		"n]":                             "error",
		"n[0-99999999]":                  "error",
		"n[1-40]m[1-40]":                 "error",
		"-oProxyCommand=touch x":         "error",
		"-x":                             "error",
		"me@-x":                          "error",
		"a b":                            "error",
		"a=b":                            "error",
		"a;b":                            "error",
		"a\nb":                           "error",
		"@a":                             "error",
		"a@b@c":                          "error",
	} {
		hosts, err := ParseHosts(text)
		got := show(hosts)
		if err != nil {
			got = "error"
			if list := (*HostsError)(nil); !errors.As(err, &list) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: error %q, want a *HostsError of one line", text, err)
			}
		}
		if got != want {
			t.Errorf("%q: %s (%v), want %s", text, got, err, want)
		}
	}
}

func TestHostfile(t *testing.T) {
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		"# mine\n\na slots=2 # two\nb:3\nc\n": "a:2,b:3,c:1",
		"node[01-02] slots=4 max_slots=8":     "node01:4,node02:4",
		"a max-slots=2 slots=2\r\nb\r\n":      "a:2,b:1",
		"":                                    "file: names no host; want a line such as node0 slots=2",
		"# nobody\n":                          "file: names no host; want a line such as node0 slots=2",
		"a\nb slots=0\n":                      `file:2: "0" slots: want a whole number from 1 to 1024`,
		"a slots":                             `file:1: "slots"; ` + wantHost,
		"a:2 slots=2":                         `file:1: "a:2": slots are there twice`,
		"a slots=2 slots=2":                   `file:1: "slots=2"; ` + wantHost,
		"a b":                                 `file:1: "b"; ` + wantHost,
		"a\nb\na\na\n":                        "a:3,b:1", // as PBS_NODEFILE
		"\ufeffa slots=2\nb\n":                "a:2,b:1",
		"a slots=1000\na slots=25":            `file:2: "1025" slots: want a whole number from 1 to 1024`,
		"a\nb:2 binding=user:0,1": `file:2: "binding=user:0,1": the system chooses the cores of a worker; ` +
			"leave it out",
		"a\x00": `file:1: "a\x00" is no host; ` + wantHost,
	} {
		if err := os.WriteFile("file", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		hosts, err := ReadHostfile("file")
		got := show(hosts)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for _, path := range []string{"none", ".", "/dev/null"} {
		if _, err := ReadHostfile(path); !errors.As(err, new(*HostsError)) {
			t.Errorf("%s: %v, want a *HostsError", path, err)
		}
	}
}

func FuzzHosts(f *testing.F) {
	for _, seed := range []string{"a:2,b:2", "node[01-03]", "[::1]:2", "a slots=2\n# x\nb:3",
		"n[1-2]m[3,4]:5"} {
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

// A line that is no host is quoted by its start: a file that is no hostfile may have one long line.
func TestHostfileErrorsAreShort(t *testing.T) {
	long := strings.Repeat("a b:c", 40_000)
	word := strings.ReplaceAll(long, " ", "")
	for _, text := range []string{long, word, "n " + word, "n slots=" + word, "n:" + word, "[" + word + "]",
		"n[" + word, "n[" + word + "]", strings.ReplaceAll(word, ":", "")} {
		_, err := parseHostfile("hosts", text)
		if err == nil || len(err.Error()) > 500 {
			t.Errorf("%.20q: %.600v, want an error of at most 500 bytes", text, err)
		}
	}
}
