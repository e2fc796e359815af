// Command predict times calls of a Predictor for compare.py: predict WEIGHTS MODEL SIZE THREADS INPUTS. INPUTS has
// 32 images as float32 [H, W, C], or 32 texts of 128 tokens as int32. For each number N on the standard input it
// computes the first N of them together and prints the nanoseconds; for -N it prints their logits.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"lockstep"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	size, _ := strconv.Atoi(args[2])
	threads, _ := strconv.Atoi(args[3])
	p, err := lockstep.LoadAs(args[0], lockstep.LoadConfig{Model: args[1], Size: size, Threads: threads})
	if err != nil {
		return err
	}
	defer p.Close()
	inputs, err := read(args[4], p.Network().ReadsTexts())
	if err != nil {
		return err
	}
	var logits []float32
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		began := time.Now()
		if logits, err = p.Predict(context.Background(), inputs[:max(n, -n)], logits[:0]); err != nil {
			return err
		}
		if n > 0 {
			fmt.Println(time.Since(began).Nanoseconds())
		} else {
			fmt.Println(logits)
		}
	}
	return lines.Err()
}

// read returns the 32 inputs of a file.
func read(path string, areTexts bool) ([]lockstep.Input, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	inputs, each := make([]lockstep.Input, 32), len(raw)/4/32
	for i := range inputs {
		for j := range each {
			bits := binary.LittleEndian.Uint32(raw[4*(i*each+j):])
			if areTexts {
				inputs[i].Tokens = append(inputs[i].Tokens, int32(bits))
			} else {
				inputs[i].Values = append(inputs[i].Values, math.Float32frombits(bits))
			}
		}
	}
	return inputs, nil
}
