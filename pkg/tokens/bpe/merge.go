package bpe

// scanBelow is the length, in bytes, below which merging by scanning, which needs no memory of its own, beats the heap.
const scanBelow = 96

// count returns the tokens of one piece: its bytes, joined pair by pair, the
// lowest rank and among equals the leftmost first, until no pair is a token.
func (v *vocabulary) count(piece string) int {
	if len(piece) == 1 {
		return 1
	}
	if v.rank(piece) != noRank {
		return 1
	}
	if len(piece) < scanBelow {
		return v.countByScan(piece)
	}
	return v.countByHeap(piece)
}

// scanPart is a part's start, and the rank of its union with the next part.
type scanPart struct {
	start int
	rank  uint32
}

// countByScan is quadratic in the length, and faster for short pieces.
func (v *vocabulary) countByScan(piece string) int {
	var room [scanBelow + 1]scanPart
	parts := room[:len(piece)+1]
	for i := range parts {
		parts[i] = scanPart{i, noRank}
		if i+2 <= len(piece) {
			parts[i].rank = v.pairs[pairIndex(piece[i:])]
		}
	}
	for {
		i := lowest(parts)
		if parts[i].rank == noRank {
			return len(parts) - 1
		}
		parts = append(parts[:i+1], parts[i+2:]...)
		parts[i].rank = v.scanRank(piece, parts, i)
		if i > 0 {
			parts[i-1].rank = v.scanRank(piece, parts, i-1)
		}
	}
}

// lowest returns the leftmost part of lowest rank.
func lowest(parts []scanPart) int {
	best := 0
	for i := range parts {
		if parts[i].rank < parts[best].rank {
			best = i
		}
	}
	return best
}

func (v *vocabulary) scanRank(piece string, parts []scanPart, i int) uint32 {
	if i+2 >= len(parts) {
		return noRank
	}
	return v.rank(piece[parts[i].start:parts[i+2].start])
}

// link is a part in a list of parts, at the index of its first byte.
type link struct {
	previous, next int32
	rank           uint32
}

// countByHeap merges in O(n log n).
func (v *vocabulary) countByHeap(piece string) int {
	links, queue := v.link(piece)
	count := len(piece)
	for len(queue) > 0 {
		i, rank := queue.pop()
		if links[i].rank != rank {
			continue // the pair was merged, or changed, since it was queued
		}
		joined := links[i].next
		after := links[joined].next
		links[joined].rank = noRank
		links[i].next, links[after].previous = after, i
		count--
		for _, changed := range [2]int32{links[i].previous, i} {
			if changed >= 0 {
				v.requeue(piece, links, &queue, changed)
			}
		}
	}
	return count
}

// link makes each byte a part, closed by a link of no length, and queues all pairs that are tokens.
func (v *vocabulary) link(piece string) ([]link, mergeQueue) {
	size := int32(len(piece))
	links := make([]link, size+1)
	for i := range size + 1 {
		links[i] = link{previous: i - 1, next: i + 1, rank: noRank}
	}
	links[size].next = -1
	queue := make(mergeQueue, 0, size)
	for i := range size {
		v.requeue(piece, links, &queue, i)
	}
	return links, queue
}

// requeue gives the pair that starts at i its rank, and queues it if it has one.
func (v *vocabulary) requeue(piece string, links []link, queue *mergeQueue, i int32) {
	links[i].rank = noRank
	next := links[i].next
	if next < 0 || links[next].next < 0 {
		return
	}
	if rank := v.rank(piece[i:links[next].next]); rank != noRank {
		links[i].rank = rank
		queue.push(i, rank)
	}
}

// mergeQueue is a binary heap of pairs, rank above start in one number, so that comparing numbers orders by rank and then from the left.
type mergeQueue []uint64

func (q *mergeQueue) push(start int32, rank uint32) {
	*q = append(*q, uint64(rank)<<32|uint64(start))
	h := *q
	for i := len(h) - 1; i > 0 && h[i] < h[(i-1)/2]; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (q *mergeQueue) pop() (start int32, rank uint32) {
	h := *q
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	*q = h
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < last && h[child+1] < h[child] {
			child++
		}
		if child >= last || h[i] <= h[child] {
			return int32(uint32(top)), uint32(top >> 32)
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
