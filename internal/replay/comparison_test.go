package replay

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
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
	want := OwnCalls{Calls: 3, InputTokens: 300, OutputTokens: 30, Cost: 3000}
	if err != nil || math.Abs(r.OwnCalls.Cost-want.Cost) > 1e-6 || r.OwnCalls.Calls != want.Calls || r.OwnCalls.InputTokens != 300 || r.OwnCalls.OutputTokens != 30 {
		t.Errorf("%v, %+v", err, r.OwnCalls)
	}
	if got := r.CostWith - plain.CostWith; math.Abs(got-3000) > 1e-6 || math.Abs(r.Files[0].CostWith-r.CostWith) > 1e-6 {
		t.Errorf("own calls add %v to the cost, want 3000", got)
	}
	if !strings.Contains(r.text(), "3, 300 tokens in, 30 out, 3000 token prices") {
		t.Error(r.text())
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
		if r.PrunedEarly != early || r.ExpiredEarly != 0 || errors.Is(err, ErrJudged) != (early > 0) {
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

func TestReport_Comparison_FitsTheWidth(t *testing.T) {
	large := func(name string) *Report {
		return &Report{
			Policy: name, Builds: 1, TokensWith: 123_456_789_000, CostWith: 98_765_432_100, Rewrites: 123_456, ReferenceRecall: 0.987, MeanFill: 0.7,
			OwnCalls: OwnCalls{Calls: 1_234_567, Cost: 12_345_678}, Compactions: Compactions{Count: 12_345, Summaries: 23_456},
			BuildMS: Millis{P50: 12.3, P95: 123.4},
			Files:   []FileReport{{File: "/d/a_rather_long_name/conversations.jsonl", TokensWith: 1_234_567, CostWith: 9}, {File: "b"}},
		}
	}
	r := large("summarize")
	r.Against = []*Report{large("balanced"), large("none")}
	text := r.text()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"123G  1.000", "98.8G", "By file", "a_rather_long_name/conversations.jsonl", "1.23M", "123"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Must be 0") {
		t.Errorf("the whole report of one policy among several\n%s", text)
	}
}

func TestShort_ThreeDigits(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 7: "7", 1.5: "1.50", 12.34: "12.3", 999: "999", 999.6: "1.00k", 1234: "1.23k", 99_960: "100k", 12_345_678: "12.3M", 2.5e9: "2.50G", 5e11: "500G"} {
		if got := short(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}
