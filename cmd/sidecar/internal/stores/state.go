package stores

import (
	"sync"

	"go.uber.org/zap"
)

// State is whether the store can write: it is logged, and passed on to the health service once there is one.
type State struct {
	log *zap.Logger

	mu     sync.Mutex
	reason error // nil while it can
	tell   func(serving bool)
}

// NewState returns the state of a store that can write.
func NewState(log *zap.Logger) *State { return &State{log: log} }

// Set is for the store to call when it changes.
func (s *State) Set(reason error) {
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

// Follow has the state told from now on.
func (s *State) Follow(tell func(serving bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell = tell
	tell(s.reason == nil)
}
