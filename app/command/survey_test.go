package command

import (
	"io"
	"os"
	"strings"
	"testing"

	"lockstep/cluster"
)

// A command line says which data sets it will need, and is not run for that.
func TestDataThatACommandNeeds(t *testing.T) {
	t.Chdir(t.TempDir())
	config := "data: svhn\n"
	if err := os.WriteFile("run.yaml", []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line string
		want string // names, or an error
	}{
		{"train", "glyphs"},
		{"train --model vgg11 --data cifar10 --workers 4", "cifar10"},
		{"train --config run.yaml", "svhn"},
		{"train --config run.yaml --data mnist", "mnist"},
		{"bench --quick", "glyphs glyphs"},
		{"bench --data mnist --workers 1,2", "mnist"},
		{"bench --data mnist,svhn --models lenet,vgg11 --workers 1", "mnist svhn"},
		{"recipe run lenet-mnist --data mnist", "mnist"},
		{"commbench --link tcp", ""},
		{"train --data cifar11", "error: --data: "},
		{"train --epochs x", "error: --epochs: "},
	} {
		a := &app{stdout: io.Discard, stderr: io.Discard, environment: cluster.Environment{}}
		configs, err := a.configsOf(t.Context(), strings.Fields(test.line))
		var names []string
		for _, c := range configs {
			names = append(names, c.Data)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.line, got, test.want)
		}
	}
	if entries, _ := os.ReadDir("."); len(entries) != 1 {
		t.Errorf("%d files in the folder, want run.yaml alone", len(entries))
	}
}
