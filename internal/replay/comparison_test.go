package replay

import (
	"errors"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

func TestCommand_Run_SeveralPolicies_AreReportedInOrder(t *testing.T) {
	f := &fake{}
	r, err := played(t, f, recorded, func(c *Command) { c.Policy = []string{"sliding", "balanced"} })
	if err != nil || r.Policy != "sliding" || len(r.Against) != 2 || r.Against[0].Policy != "balanced" || r.Against[1].Policy != "none" {
		t.Fatalf("%v, %+v", err, r)
	}
	if r.Builds != 3 || r.Against[0].Builds != 3 || r.Against[1].Messages != 7 {
		t.Errorf("%d, %d builds", r.Builds, r.Against[0].Builds)
	}
	if len(f.policies) != 3 {
		t.Errorf("%d conversations", len(f.policies))
	}
}

func TestCommand_Run_OwnCalls_ArePartOfTheCost(t *testing.T) {
	builds := int64(0)
	f := &fake{report: func(r *pb.BuildContextResponse) {
		builds++
		r.Compaction = &pb.CompactionStatus{OwnCalls: &pb.ModelUsage{Calls: builds, InputTokens: 100 * builds, OutputTokens: 10 * builds, Cost: 0.001 * float64(builds)}}
	}}
	r, err := played(t, f, recorded)
	plain, _ := played(t, &fake{}, recorded)
	want := report.OwnCalls{Calls: 3, InputTokens: 300, OutputTokens: 30, Cost: 3000}
	if err != nil || math.Abs(r.OwnCalls.Cost-want.Cost) > 1e-6 || r.OwnCalls.Calls != want.Calls || r.OwnCalls.InputTokens != 300 || r.OwnCalls.OutputTokens != 30 {
		t.Errorf("%v, %+v", err, r.OwnCalls)
	}
	if got := r.CostWith - plain.CostWith; math.Abs(got-3000) > 1e-6 || math.Abs(r.Files[0].CostWith-r.CostWith) > 1e-6 {
		t.Errorf("own calls add %v to the cost, want 3000", got)
	}
	if !strings.Contains(textOf(t, r), "3, 300 tokens in, 30 out, 3000 token prices") {
		t.Error(textOf(t, r))
	}
}

func TestCommand_Run_Prices_AreThoseOfTheProfile(t *testing.T) {
	plain, _ := played(t, &fake{}, recorded)
	for name, c := range map[string]struct {
		profile *pb.ModelProfile
		times   float64
	}{
		"none":           {nil, 1},
		"another":        {&pb.ModelProfile{Model: "other", InputPrice: proto.Float64(3)}, 1},
		"input":          {&pb.ModelProfile{Model: "m", InputPrice: proto.Float64(3)}, 3},
		"read and write": {&pb.ModelProfile{Model: "m", CacheReadPrice: proto.Float64(0.2), CacheWritePrice: proto.Float64(2.5)}, 2},
	} {
		r, err := played(t, &fake{profile: c.profile}, recorded, func(c *Command) { c.Model = "m" })
		if err != nil || math.Abs(r.CostWith-c.times*plain.CostWith) > 1e-6 {
			t.Errorf("%s: %v, cost %v, want %v times %v", name, err, r.CostWith, c.times, plain.CostWith)
		}
	}
}

func TestCommand_Run_PrunedResults_AreJudgedByTheNewestTokens(t *testing.T) {
	// The result at 3 is cleared as soon as it is not in the newest unit: before
	// the last message, and behind it.
	f := &fake{messages: compacting(6), report: func(r *pb.BuildContextResponse) {
		for _, d := range r.GetDecisions() {
			d.Kind = pb.DecisionKind_DECISION_KIND_PRUNED
		}
		r.Tokens.SavedByPruning, r.Tokens.SavedByExpiry = r.GetTokens().GetSavedByExpiry(), 0
	}}
	for policy, early := range map[string]int{
		"{protect_tokens: 5, minimum_tokens: 0}":   0,
		"{protect_tokens: 200, minimum_tokens: 0}": 2,
		"{}":                                  2,
		"{enabled: false}":                    2,
		"{enabled: false, protect_tokens: 0}": 2,
		"{protect_tokens: 200, minimum_tokens: 0, max_part_tokens: 1}": 2,
	} {
		r, err := played(t, f, longer, under(t, "conversation: {pruning: "+policy+"}"))
		if r.PrunedEarly != early || r.ExpiredEarly != 0 || errors.Is(err, report.ErrJudged) != (early > 0) {
			t.Errorf("%s: pruned early %d, want %d: %v", policy, r.PrunedEarly, early, err)
		}
	}
}

// windowed shows the first two messages and what comes from message 4 on.
func windowed(m []*pb.Message) []*pb.Message {
	if len(m) < 6 {
		return m
	}
	return append([]*pb.Message{m[0], m[1]}, m[4:]...)
}

func TestCommand_Run_WhatTheWindowLeavesOut_IsNotExpiredEarly(t *testing.T) {
	f := &fake{messages: windowed, report: func(r *pb.BuildContextResponse) {
		r.Tokens.SavedByCompaction, r.Tokens.SavedByExpiry = r.GetTokens().GetSavedByExpiry(), 0
	}}
	r, err := played(t, f, recorded, under(t, "conversation: {pruning: {enabled: false}}"))
	if err != nil {
		t.Errorf("%v, %+v", err, r.Examples)
	}
	// What messages 4 and 5 weigh: the last context, of 6 messages, shows no others from the end on.
	want := 0
	for _, text := range []string{"It is v1.2.3", "and order_77?"} {
		n, _ := o200k().Count(text)
		want += n + 4
	}
	if r.NewestKept != want || r.Files[0].NewestKept != want {
		t.Errorf("the newest %d tokens are kept, want %d", r.NewestKept, want)
	}
	if whole, _ := played(t, &fake{}, recorded); whole.NewestKept != 0 {
		t.Errorf("all was shown, and the newest %d tokens are kept", whole.NewestKept)
	}
}
