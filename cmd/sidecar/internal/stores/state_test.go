package stores

import (
	"errors"
	"slices"
	"testing"

	"go.uber.org/zap"
)

// TestState_Follow_TellsWhatWasBefore: a store can fail before there is a server to say so.
func TestState_Follow_TellsWhatWasBefore(t *testing.T) {
	s := NewState(zap.NewNop())
	s.Set(errors.New("the disk is gone"))
	var told []bool
	s.Follow(func(serving bool) { told = append(told, serving) })
	s.Set(nil)
	s.Set(errors.New("again"))
	if !slices.Equal(told, []bool{false, true, false}) {
		t.Errorf("told %v", told)
	}
}
