package transfer_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/transfer"
)

// FuzzEntry checks that no name leads out of a folder.
func FuzzEntry(f *testing.F) {
	hash := strings.Repeat("0", 64)
	for _, name := range []string{"a", "a/b", "../a", "/a", "a/../../b", "", ".", `a\\b`, "a//b", "CON",
		"a\\u0000"} {
		f.Add([]byte(fmt.Sprintf(`{"name":"%s","bytes":1,"sha256":"%s"}`+"\n", name, hash)))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		name, err := transfer.CheckEntry(line)
		if err != nil {
			return
		}
		at := filepath.Join("/folder", filepath.FromSlash(name))
		if !strings.HasPrefix(at, "/folder/") || strings.ContainsAny(name, "\x00\x1b\n\\") {
			t.Errorf("%q is taken for a name within a folder", name)
		}
	})
}

// What a sender says cannot write outside of the folder, nor to a special file, nor more than it announced.
func TestASenderIsHeldToItsFolder(t *testing.T) {
	hash := strings.Repeat("0", 64)
	head := func(files int) string {
		return fmt.Sprintf(`{"protocol":"lockstep files 3","files":%d}`+"\n",
			files)
	}
	entry := func(name string, bytes int64) string {
		return fmt.Sprintf(`{"name":"%s","bytes":%d,"sha256":"%s"}`+"\n", name, bytes, hash)
	}
	outside := t.TempDir()
	for name, said := range map[string]string{
		"no protocol":    "GET / HTTP/1.1\r\n\r\n",
		"other protocol": `{"protocol":"lockstep files 2","files":0}` + "\n",
		"too many files": head(1 << 30),
		"negative files": head(-1),
		"out of folder":  head(1) + entry("../x", 1),
		"absolute":       head(1) + entry(outside+"/x", 1),
		"through a link": head(1) + entry("link/x", 1),
		"twice":          head(2) + entry("x", 1) + entry("x", 1),
		"negative size":  head(1) + entry("x", -1),
		"huge size":      head(1) + entry("x", 1<<60),
		"no room":        head(1) + entry("x", 1<<49),
		"a long line":    strings.Repeat("{", 1<<20),
		"a cut list":     head(2) + entry("x", 1),
		"no bytes":       head(1) + entry("x", 1),
		"no zstandard":   head(1) + entry("x", 1) + strings.Repeat("random", 1000),
		"a folder":       head(1) + entry("folder", 1),
	} {
		folder := t.TempDir()
		if os.Symlink(outside, filepath.Join(folder, "link")) != nil || os.Mkdir(filepath.Join(folder,
			"folder"), 0o777) != nil {
			t.Fatal("cannot prepare the folder")
		}
		var told bytes.Buffer
		err := transfer.Receive(t.Context(), strings.NewReader(said), &told, folder)
		if err == nil || !strings.Contains(told.String(), `{"failed":"`) {
			t.Errorf("%s: %v; told %s", name, err, told.String())
		}
		if entries, _ := os.ReadDir(outside); len(entries) > 0 {
			t.Fatalf("%s: %s was written outside of the folder", name, entries[0].Name())
		}
		if _, err := os.Lstat(filepath.Join(folder, "x")); err == nil {
			t.Errorf("%s: x has its name", name)
		}
	}
}
