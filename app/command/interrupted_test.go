//go:build unix

package command

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"lockstep/app/setting"
)

// A run that is resumed and interrupted before its next step says how to go on as it was asked to.
func TestAResumedRunInterruptedAtOnceSaysHowToGoOn(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	must(t, "train", "--quiet", "--workers", "2", "--steps", "4", "--checkpoint-every", "2",
		"--limit-test", "50", "--out", out)
	var stderr bytes.Buffer
	a := &app{stderr: &stderr}
	a.showUnfinished(setting.Config{Output: setting.Output{Resume: out}}, context.Canceled, false)
	want := "lockstep: lockstep train --resume " + out + " goes on after step 4\n"
	if stderr.String() != want {
		t.Errorf("told %q, want %q", stderr.String(), want)
	}
}
