package settings

import (
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

func TestSettings_Compaction_ListTokens(t *testing.T) {
	n := func(v int32) *int32 { return &v }
	for name, tt := range map[string]struct {
		limit  int64
		policy conversation.CompactionPolicy
		want   int64
	}{
		"by default":            {200_000, conversation.CompactionPolicy{}, 4_500},
		"a tenth of the budget": {42_000, conversation.CompactionPolicy{}, 4_200},
		"set":                   {200_000, conversation.CompactionPolicy{ListTokens: n(9_000)}, 9_000},
		"set, a tenth":          {42_000, conversation.CompactionPolicy{ListTokens: n(100_000)}, 4_200},
		"set, small":            {16_000, conversation.CompactionPolicy{ListTokens: n(100_000)}, 2_000},
		"nearly small":          {24_000, conversation.CompactionPolicy{}, 2_500},
		"set, less than that":   {16_000, conversation.CompactionPolicy{ListTokens: n(700)}, 700},
		"none":                  {200_000, conversation.CompactionPolicy{ListTokens: n(0)}, 0},
		"beside others":         {200_000, conversation.CompactionPolicy{Strategy: conversation.StrategyHierarchical, FanOut: n(3)}, 1_500},
		"a small target":        {48_000, conversation.CompactionPolicy{TargetPercent: n(10)}, 4_500},
	} {
		s := &Settings{Limit: tt.limit, Policy: conversation.Policy{Compaction: tt.policy}}
		if c := s.compaction(); c.Losses != tt.want {
			t.Errorf("%s: the list has %d tokens, want %d", name, c.Losses, tt.want)
		}
	}
}

// TestCompaction_Within_SharesARoom: what the list does not take is the summary's.
func TestCompaction_Within_SharesARoom(t *testing.T) {
	for _, tt := range []struct{ list, summary, room, wantList, wantSummary int64 }{
		{4_500, 4_000, 10_000, 4_500, 4_000}, {4_500, 4_000, 2_000, 1_000, 1_000}, {4_500, 4_000, 10, 250, 250}, {0, 4_000, 800, 0, 800}, {100, 4_000, 800, 100, 700},
	} {
		c := Compaction{Losses: tt.list, Summary: tt.summary}
		if c.Within(tt.room * summaryPart); c.Losses != tt.wantList || c.Summary != tt.wantSummary {
			t.Errorf("%+v: the list has %d, the summary %d", tt, c.Losses, c.Summary)
		}
	}
}
