package main

import (
	"errors"
	"slices"
	"testing"

	"go.uber.org/zap"
)

// TestStoreState_Follow_TellsWhatWasBefore: a store can fail before there is a server to say so.
func TestStoreState_Follow_TellsWhatWasBefore(t *testing.T) {
	s := &storeState{log: zap.NewNop()}
	s.set(errors.New("the disk is gone"))
	var told []bool
	s.follow(func(serving bool) { told = append(told, serving) })
	s.set(nil)
	s.set(errors.New("again"))
	if !slices.Equal(told, []bool{false, true, false}) {
		t.Errorf("told %v", told)
	}
}
