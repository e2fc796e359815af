package wordpiece

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"strings"
)

// Bounds of what Words counts: words, of which the rarest are forgotten when there are more, and characters.
const (
	maxWords    = 1 << 20
	maxAlphabet = 1000
)

// Words counts the words of texts, as an uncased tokenizer cuts them, to make a vocabulary of them. It is for
// one goroutine. Memory is bounded.
type Words struct {
	counts map[string]int
	reader Tokenizer
	ids    []int32
}

// NewWords returns one that has counted nothing.
func NewWords() *Words {
	w := &Words{counts: map[string]int{}}
	w.reader.counts = w.counts
	return w
}

// Add counts the words of a text.
func (w *Words) Add(text string) {
	w.ids, _ = w.reader.Encode(w.ids[:0], text, 0)
	for least := 2; len(w.counts) > maxWords; least *= 2 {
		maps.DeleteFunc(w.counts, func(_ string, n int) bool { return n < least })
	}
}

// Tokenizer returns the tokenizer of a vocabulary of at most size tokens: the special ones, the characters,
// and then, again and again, the pair of neighbours in a word that is most frequent, made one; of equally
// frequent pairs the first by their letters. Pairs that occur once make none. It depends on the counts alone.
// Cost: O(letters of all words) to begin with, and for each pair the letters of words that have it.
func (w *Words) Tokenizer(size int) (*Tokenizer, error) {
	m := merger{numbers: map[string]int32{}, counts: map[pair]int{}, at: map[pair][]int32{}}
	alphabet := w.alphabet()
	for _, word := range slices.Sorted(maps.Keys(w.counts)) {
		m.add(word, w.counts[word], alphabet)
	}
	tokens := append([]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"},
		slices.Sorted(slices.Values(m.names))...)
	m.begin()
	for len(tokens) < size {
		name, isNew := m.merge()
		if name == "" {
			break
		}
		if isNew {
			tokens = append(tokens, name)
		}
	}
	return New(tokens)
}

// alphabet returns the most frequent characters.
func (w *Words) alphabet() map[rune]bool {
	counts := map[rune]int{}
	for word, n := range w.counts {
		for _, c := range word {
			counts[c] += n
		}
	}
	all := slices.SortedFunc(maps.Keys(counts), func(a, b rune) int {
		return cmp.Or(counts[b]-counts[a], int(a-b))
	})
	known := map[rune]bool{}
	for _, c := range all[:min(len(all), maxAlphabet)] {
		known[c] = true
	}
	return known
}

// pair is two neighbours in a word, by their numbers.
type pair struct{ a, b int32 }

// candidate is a pair with its count when it was put into the heap.
type candidate struct {
	pair
	count int
}

// merger makes pairs of neighbours one.
type merger struct {
	names   []string // of parts of words, by number; all but the first of a word begin with ##
	numbers map[string]int32
	words   [][]int32 // of the numbers of their parts
	times   []int     // how often each word occurs
	counts  map[pair]int
	at      map[pair][]int32 // words that have a pair, or had it
	heap    []candidate      // the most frequent first; a pair whose count has changed is there again
}

// number returns the number of a part, and whether it is new.
func (m *merger) number(name string) (n int32, isNew bool) {
	if n, isThere := m.numbers[name]; isThere {
		return n, false
	}
	n = int32(len(m.names))
	m.names, m.numbers[name] = append(m.names, name), n
	return n, true
}

// add adds a word that occurs so often, unless it has a character that is not in the alphabet.
func (m *merger) add(word string, times int, alphabet map[rune]bool) {
	var parts []int32
	prefix := ""
	for _, c := range word {
		if !alphabet[c] {
			return
		}
		n, _ := m.number(prefix + string(c))
		parts, prefix = append(parts, n), "##"
	}
	m.words, m.times = append(m.words, parts), append(m.times, times)
}

// begin counts all pairs.
func (m *merger) begin() {
	for i := range m.words {
		m.count(int32(i), 1, nil)
	}
	for p, n := range m.counts {
		m.heap = append(m.heap, candidate{p, n})
	}
	heap.Init(m)
}

// count adds sign times the pairs of a word to the counts, and to changed.
func (m *merger) count(word int32, sign int, changed map[pair]bool) {
	parts := m.words[word]
	for k := range max(0, len(parts)-1) {
		p := pair{parts[k], parts[k+1]}
		m.counts[p] += sign * m.times[word]
		if at := m.at[p]; sign > 0 && (len(at) == 0 || at[len(at)-1] != word) {
			m.at[p] = append(at, word)
		}
		if changed != nil {
			changed[p] = true
		}
	}
}

// merge makes the most frequent pair one part. It returns the part, "" if no pair occurs twice, and whether
// it was none before.
func (m *merger) merge() (name string, isNew bool) {
	for len(m.heap) > 0 {
		c := heap.Pop(m).(candidate)
		switch {
		case m.counts[c.pair] != c.count:
			continue // it is there again with its count
		case c.count < 2:
			return "", false
		}
		name = m.names[c.a] + strings.TrimPrefix(m.names[c.b], "##")
		part, isNew := m.number(name)
		changed := map[pair]bool{}
		for _, word := range m.at[c.pair] {
			if parts := m.words[word]; has(parts, c.pair) {
				m.count(word, -1, changed)
				m.words[word] = replaced(parts, c.pair, part)
				m.count(word, 1, changed)
			}
		}
		delete(m.at, c.pair)
		for p := range changed {
			if n := m.counts[p]; n > 0 {
				heap.Push(m, candidate{p, n})
			} else {
				delete(m.counts, p)
			}
		}
		return name, isNew
	}
	return "", false
}

// has reports whether two neighbours are p.
func has(parts []int32, p pair) bool {
	for k := range len(parts) - 1 {
		if (pair{parts[k], parts[k+1]}) == p {
			return true
		}
	}
	return false
}

// replaced returns parts with one in place of each pair p. It overwrites them.
func replaced(parts []int32, p pair, one int32) []int32 {
	to := parts[:0]
	for k := 0; k < len(parts); k++ {
		if k+1 < len(parts) && parts[k] == p.a && parts[k+1] == p.b {
			to = append(to, one)
			k++
		} else {
			to = append(to, parts[k])
		}
	}
	return to
}

// Len implements heap.Interface.
func (m *merger) Len() int { return len(m.heap) }

// Less implements heap.Interface.
func (m *merger) Less(i, j int) bool {
	a, b := m.heap[i], m.heap[j]
	return cmp.Or(b.count-a.count, strings.Compare(m.names[a.a], m.names[b.a]),
		strings.Compare(m.names[a.b], m.names[b.b])) < 0
}

// Swap implements heap.Interface.
func (m *merger) Swap(i, j int) { m.heap[i], m.heap[j] = m.heap[j], m.heap[i] }

// Push implements heap.Interface.
func (m *merger) Push(x any) { m.heap = append(m.heap, x.(candidate)) }

// Pop implements heap.Interface.
func (m *merger) Pop() any {
	last := m.heap[len(m.heap)-1]
	m.heap = m.heap[:len(m.heap)-1]
	return last
}
