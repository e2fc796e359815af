package launch

import (
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/launch/agent"
	"lockstep/app/setting"
	"lockstep/app/transfer"
	"lockstep/cluster"
)

// named returns the configuration of a data set.
func named(data string) setting.Config {
	c := setting.Default()
	c.Data = data
	return c
}

// The files of a data set that is here are found in the folder that names it; one that is nowhere is an
// error.
func TestFilesThatACommandNeeds(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte",
		"mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte"} {
		path := filepath.Join(folder, name)
		if os.MkdirAll(filepath.Dir(path), 0o777) != nil || os.WriteFile(path, []byte(name), 0o666) != nil {
			t.Fatal("cannot prepare the folder")
		}
	}
	e := cluster.Environment{cluster.EnvData: folder}
	for name, want := range map[string]int{"glyphs": 0, "mnist": 4} {
		files, err := dataFiles(t.Context(), []setting.Config{named(name), named(name)}, e, nil)
		const one = "mnist/train-images-idx3-ubyte"
		if err != nil || len(files) != want || want > 0 && files[one] != filepath.Join(folder, one) {
			t.Errorf("%s: %+v, %v", name, files, err)
		}
	}
	missing := setting.Default()
	missing.Data, missing.DataDir = "mnist", filepath.Join(folder, "none")
	_, err := dataFiles(t.Context(), []setting.Config{missing}, e, nil)
	if job.ExitCode(err) != job.ExitData {
		t.Errorf("%v", err)
	}
}

// Of data in several files all are sent, with what lies beside them, under names that the command finds.
func TestDataInSeveralFilesIsSent(t *testing.T) {
	root := t.TempDir()
	if os.Mkdir(filepath.Join(root, "d"), 0o777) != nil || os.Mkdir(filepath.Join(root, "e"), 0o777) != nil {
		t.Fatal("cannot prepare the folders")
	}
	for name := range strings.FieldsSeq("t-00.tar t-01.tar t-02.tar classes.txt x.npy x-labels.npy") {
		if err := os.WriteFile(filepath.Join(root, "d", name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ in, where, want string }{
		{".", "d/t-{00..01}.tar", "d/classes.txt d/t-00.tar d/t-01.tar"},
		{".", "d/t-02.tar", "d/classes.txt d/t-02.tar"},
		{".", "d/x.npy", "d/classes.txt d/x-labels.npy d/x.npy"},
		{"e", "../d/t-{00..01}.tar", "files/data/classes.txt files/data/t-00.tar files/data/t-01.tar"},
	} {
		t.Chdir(filepath.Join(root, c.in))
		f, err := load(Survey{Configs: []setting.Config{named(c.where)}}, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(f.data)), " "); got != c.want {
			t.Errorf("%s: sent %s, want %s", c.where, got, c.want)
		}
	}
}

// A run that goes on on hosts may be in a folder that its own configuration names, and that is not empty. A
// folder for new results must be empty, and belongs to one command until it has them.
func TestFolderOfResults(t *testing.T) {
	t.Chdir(t.TempDir())
	if os.Mkdir("mine", 0o777) != nil || os.WriteFile("mine/config.yaml", nil, 0o666) != nil {
		t.Fatal("cannot prepare the folder")
	}
	reserve := func(given map[string]string) (*freight, func(), error) {
		f, err := load(Survey{Configs: []setting.Config{named("glyphs")}, Given: given}, true)
		if err != nil {
			t.Fatal(err)
		}
		f.directFree("lenet")
		release, err := f.reserve()
		return f, release, err
	}
	for line, name := range map[string]string{"resume=mine": "mine", "out=mine": "", "out=new/run": "new/run",
		"=": "runs/"} {
		flag, value, _ := strings.Cut(line, "=")
		given := map[string]string{flag: value}
		first, release, err := reserve(given)
		if (err != nil) != (name == "") {
			t.Errorf("%s: %v", line, err)
		}
		if err != nil {
			continue
		}
		if !strings.HasPrefix(first.directory, name) || first.local != first.directory {
			t.Errorf("%s: directory %q, here %q", line, first.directory, first.local)
		}
		second, releaseSecond, err := reserve(given)
		if isOwn := second.directory != first.directory; (err == nil) != isOwn {
			t.Errorf("%s: at the same time: %v", line, err)
		}
		if releaseSecond != nil {
			releaseSecond()
		}
		release()
	}
	for _, name := range []string{"new", "runs"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is left, without results", name)
		}
	}
}

// A host other than the first that is lost before an attempt has begun ends that attempt, not the job.
func TestHostsThatAreLostBeforeAnAttempt(t *testing.T) {
	l := &launching{}
	for _, name := range []string{"a", "b", "c"} {
		l.agents = append(l.agents, &agent.Connection{Host: agent.Host{Name: name}})
	}
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{&agent.HostError{Host: "a", IsLost: true}, 0},
		{&agent.HostError{Host: "c", IsLost: true}, 2},
		{fmt.Errorf("begin: %w", &agent.HostError{Host: "b", IsLost: true}), 1},
		{&agent.HostError{Host: "b"}, 0},
		{&agent.HostError{Host: "d", IsLost: true}, 0},
		{&agent.AskError{Host: "b"}, 0},
	} {
		if got := l.other(test.err); got != test.want {
			t.Errorf("%v: host %d, want %d", test.err, got, test.want)
		}
	}
}

// cutter ends a stream after some bytes.
type cutter struct {
	*io.PipeWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		c.Close() // a pipe's has no error
		return 0, io.ErrClosedPipe
	}
	return c.PipeWriter.Write(p)
}

// fetchFrom has the results in a folder sent over a stream of so many bytes, and puts them in their place.
func (f *freight) fetchFrom(t *testing.T, folder string, most int) error {
	t.Helper()
	scratch := t.TempDir()
	said, out := io.Pipe()
	in, answer := io.Pipe()
	go func() {
		out.CloseWithError(Send(t.Context(), in, &cutter{out, most},
			base64.RawURLEncoding.EncodeToString([]byte(folder))))
		in.Close() // as the end of its process does
	}()
	if err := transfer.Receive(t.Context(), said, answer, scratch); err != nil {
		return err
	}
	return f.place(filepath.Join(scratch, sentFolder))
}

// Results take the place of nothing but an empty folder, unless they are those of a run that has gone on, and
// what is cut off changes nothing.
func TestResultsAreFetched(t *testing.T) {
	job := t.TempDir()
	put := func(text string, path ...string) {
		t.Helper()
		name := filepath.Join(path...)
		if os.MkdirAll(filepath.Dir(name), 0o777) != nil || os.WriteFile(name, []byte(text), 0o666) != nil {
			t.Fatal("cannot prepare the folder")
		}
	}
	put("{}", job, "out", "summary.json")
	put("deep", job, "out", "deep", "x")
	put("not asked for", job, "secret")
	empty, used, resumed := t.TempDir(), t.TempDir(), t.TempDir()
	put("of another run", used, "out", "stale")
	put("of the run before", resumed, "out", "stale")
	if err := os.Mkdir(filepath.Join(empty, "out"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		to    string
		fetch string
		most  int
		want  string // what is there then
		isErr bool
	}{
		{empty, "absent", 1 << 20, "out", false},
		{empty, "out", 1 << 20, "out out/deep out/deep/x out/summary.json", false},
		{used, "out", 1 << 20, "out out/stale", true},
		{resumed, "out", 200, "out out/stale", true},
		{resumed, "out", 1 << 20, "out out/deep out/deep/x out/summary.json", false},
	} {
		f := &freight{local: filepath.Join(test.to, "out"), isResumed: test.to == resumed}
		err := f.fetchFrom(t, filepath.Join(job, test.fetch), test.most)
		if (err != nil) != test.isErr {
			t.Errorf("%+v: %v", test, err)
		}
		var found []string
		filepath.WalkDir(test.to, func(path string, _ fs.DirEntry, err error) error {
			if name, _ := filepath.Rel(test.to, path); name != "." {
				found = append(found, name)
			}
			return err
		})
		if got := strings.Join(found, " "); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
