// Command figure draws the README's figure, docs/steps.svg, from results/pytorch/steps-xeon.jsonl. It runs in
// the repository's root: go run ./results/figure.
package main
