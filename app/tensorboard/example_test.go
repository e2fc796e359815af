package tensorboard_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"lockstep/app/tensorboard"
)

func Example() {
	folder, err := os.MkdirTemp("", "events")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	w, err := tensorboard.Create(folder, time.Unix(1700000000, 0), 1)
	if err != nil {
		log.Fatal(err)
	}
	for step := range int64(3) {
		w.Add(time.Now(), step, tensorboard.Scalar{Tag: "loss/train", Value: 1 / float64(step+1)})
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "events.out.tfevents.*"))
	fmt.Println(len(files), "file", err)
	// Output: 1 file <nil>
}
