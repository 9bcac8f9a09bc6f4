package main

import (
	"maps"
	"slices"
	"sync"
)

// keptRefusals are enough to see what is wrong.
const keptRefusals = 100

// counts is what GET /stats answers.
type counts struct {
	Requests     int            `json:"requests"`
	Refused      int            `json:"refused"`
	Refusals     []string       `json:"refusals"`
	LargestBytes int            `json:"largest_bytes"`
	Calls        map[string]int `json:"calls"` // by the tool's name, without what stands before it
}

type stats struct {
	mu sync.Mutex
	counts
}

func newStats() *stats {
	s := &stats{}
	s.reset()
	return s
}

func (s *stats) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts = counts{Refusals: []string{}, Calls: map[string]int{}}
}

func (s *stats) count(size int, faults []string, calls []call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Requests++
	s.LargestBytes = max(s.LargestBytes, size)
	if len(faults) > 0 {
		s.Refused++
	}
	s.Refusals = append(s.Refusals, faults[:min(len(faults), keptRefusals-min(keptRefusals, len(s.Refusals)))]...)
	for _, c := range calls {
		s.Calls[toolOf(c.name)]++
	}
}

func (s *stats) snapshot() counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.counts
	out.Refusals, out.Calls = slices.Clone(out.Refusals), maps.Clone(out.Calls)
	return out
}
