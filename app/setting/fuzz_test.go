package setting_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/setting"
	"lockstep/checkpoint"
)

// wantUsage fails unless err says what is wrong with a configuration.
func wantUsage(t *testing.T, err error) {
	t.Helper()
	var usage *setting.UsageError
	if !errors.As(err, &usage) || strings.TrimSpace(err.Error()) == "" {
		t.Fatalf("got %T %v, want a *setting.UsageError", err, err)
	}
}

// A configuration file is taken or refused by name and line, whatever it holds.
func FuzzConfigFile(f *testing.F) {
	f.Add([]byte("batch: 32\nmodel: \"vgg11\" # comment\nlimit-train: all\n"))
	f.Add([]byte("a: &a [b, c]\nd: *a\n"))
	f.Add([]byte("? {[[{\n"))
	file := filepath.Join(f.TempDir(), "config.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := setting.Resolve(setting.Source{File: file}); err != nil {
			wantUsage(t, err)
		}
	})
}

// FuzzSetting gives a setting on the command line. What is taken is written into a file that gives the
// same configuration.
func FuzzSetting(f *testing.F) {
	for _, s := range setting.Settings(nil) {
		f.Add(s.Name, "1")
		f.Add(s.Name, "")
	}
	for name, value := range map[string]string{"groups": "*.bias=1,0", "until": "accuracy=0.9",
		"for": "1h30m", "bucket": "25MiB", "checkpoint-every": "5m", "wire": "powersgd-2",
		"data": "a: 'b\" #", "lr": "0x1p-2"} {
		f.Add(name, value)
	}
	for _, path := range []string{"a\nb: c", "~", "null", "?", "...", "=", "a\\x", "\x00\x7f", "\u2028\ufeff",
		"\U0001f600", "\u0085", "<<", "!a", " a "} {
		f.Add("data-dir", path)
	}
	file := filepath.Join(f.TempDir(), "config.yaml")
	f.Fuzz(func(t *testing.T, name, value string) {
		if name == "resume" || name == "config" {
			return // reads files
		}
		c, origins, err := setting.Resolve(setting.Source{Flags: map[string]string{name: value}})
		if err != nil {
			wantUsage(t, err)
			return
		}
		text := c.YAML(origins)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		again, origins, err := setting.Resolve(setting.Source{File: file})
		if err != nil {
			t.Fatalf("--%s=%q: %v in\n%s", name, value, err, text)
		}
		again.Out = c.Out
		for s := range origins {
			origins[s] = ""
		}
		if want := c.YAML(nil); !bytes.Equal(again.YAML(nil), want) {
			t.Fatalf("--%s=%q:\n%s\nread again:\n%s", name, value, want, again.YAML(nil))
		}
	})
}

// FuzzResume goes on from a checkpoint whose files are whole, with anything for the run's own part.
func FuzzResume(f *testing.F) {
	whole, err := json.Marshal(map[string]any{"config": setting.Default(), "train_samples": 100})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"config":{"model":"no","workers":-1},"progress":{"step":-1},"evaluations":[{}]}`))
	f.Add([]byte(`[]`))
	folder := f.TempDir()
	store := checkpoint.NewStore(filepath.Join(folder, "checkpoints"))
	f.Fuzz(func(t *testing.T, run []byte) {
		if !json.Valid(run) {
			return
		}
		if _, err := store.Commit(1, json.RawMessage(run), nil); err != nil {
			t.Fatal(err)
		}
		_, _, err := setting.Resolve(setting.Source{Flags: map[string]string{"resume": folder}})
		if format := (*checkpoint.FormatError)(nil); err != nil && !errors.As(err, &format) {
			wantUsage(t, err)
		}
	})
}
