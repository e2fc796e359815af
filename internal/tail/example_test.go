package tail_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lockstep/internal/tail"
)

func ExampleFollow() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	f := tail.Follow(tail.Config{Folder: folder, Every: time.Second, Bytes: 1 << 10,
		Send: func(p tail.Part) { fmt.Printf("%s: %s", p.Name, p.Bytes) }})
	if err := os.WriteFile(filepath.Join(folder, "log"), []byte("step 1\n"), 0o666); err != nil {
		panic(err)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
	// Output: log: step 1
}
