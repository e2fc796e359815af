package shard

import (
	"fmt"
	"math/bits"
)

// Node is the subtree that covers the shards [Lo, Hi).
type Node struct{ Lo, Hi int }

// Sum is one addition of a reduction: buffer Into += buffer From.
type Sum struct{ Into, From int }

// span returns the number of leaves of a complete block at n's level: the power of two that n
// fills, or would fill if the tree did not end at the last shard.
func (n Node) span() int { return 1 << bits.Len(uint(n.Hi-n.Lo-1)) }

// parent returns the smallest tree node that contains n and is larger, and whether n is its left
// half. The root is its own parent.
func (n Node) parent(shards int) (p Node, isLeft bool) {
	for span := n.span(); span < shards; span *= 2 {
		lo := n.Lo &^ (2*span - 1)
		p = Node{lo, min(lo+2*span, shards)}
		if p != n {
			return p, lo == n.Lo
		}
	}
	return n, true
}

// cover returns the maximal subtrees whose union is [lo, hi), left to right.
func cover(lo, hi, shards int) []Node {
	var nodes []Node
	for lo < hi {
		n := Node{lo, lo + 1}
		for {
			p, isLeft := n.parent(shards)
			if p == n || !isLeft || p.Hi > hi {
				break
			}
			n = p
		}
		nodes = append(nodes, n)
		lo = n.Hi
	}
	return nodes
}

// Reduce returns the additions that merge pieces, given left to right, as far as the tree over
// shards allows, and the indices of the pieces that then hold the remaining subtrees, left to
// right. Pieces may have gaps between them.
//
// The additions are in a valid order of execution. Each adds two siblings, left += right. If pieces
// cover all shards, rest is {0}. It panics if pieces overlap or are out of order.
func Reduce(pieces []Node, shards int) (sums []Sum, rest []int) {
	var stack []Node
	for i, n := range pieces {
		if i > 0 && pieces[i-1].Hi > n.Lo {
			panic(fmt.Sprintf("shard: reduce: piece %v does not follow %v", n, pieces[i-1]))
		}
		stack, rest = append(stack, n), append(rest, i)
		for top := len(stack) - 1; top > 0; top-- {
			p, isLeft := stack[top].parent(shards)
			isGap := stack[top-1].Hi != stack[top].Lo
			if isLeft || isGap || p != (Node{stack[top-1].Lo, stack[top].Hi}) {
				break
			}
			sums = append(sums, Sum{Into: rest[top-1], From: rest[top]})
			stack, rest = stack[:top], rest[:top]
			stack[top-1] = p
		}
	}
	return sums, rest
}
