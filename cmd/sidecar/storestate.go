package main

import (
	"sync"

	"go.uber.org/zap"
)

// storeState is whether the store can write: it is logged, and passed on to the health service once there is one.
type storeState struct {
	log *zap.Logger

	mu     sync.Mutex
	reason error // nil while it can
	tell   func(serving bool)
}

// set is for the store to call when it changes.
func (s *storeState) set(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reason = reason
	if reason == nil {
		s.log.Info("the store takes writes again")
	} else {
		s.log.Error("the store takes no writes; it goes on trying", zap.String("cause", reason.Error()))
	}
	if s.tell != nil {
		s.tell(reason == nil)
	}
}

// follow has the state told from now on.
func (s *storeState) follow(tell func(serving bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell = tell
	tell(s.reason == nil)
}
