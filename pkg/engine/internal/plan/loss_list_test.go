package plan

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

func TestSettings_Compacting_ListTokens(t *testing.T) {
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
		s := &settings{Limit: tt.limit}
		if c := s.compacting(tt.policy); c.losses != tt.want {
			t.Errorf("%s: the list has %d tokens, want %d", name, c.losses, tt.want)
		}
	}
}

// TestCompactionLimits_Within_SharesARoom: what the list does not take is the summary's.
func TestCompactionLimits_Within_SharesARoom(t *testing.T) {
	for _, tt := range []struct{ list, summary, room, wantList, wantSummary int64 }{
		{4_500, 4_000, 10_000, 4_500, 4_000}, {4_500, 4_000, 2_000, 1_000, 1_000}, {4_500, 4_000, 10, 250, 250}, {0, 4_000, 800, 0, 800}, {100, 4_000, 800, 100, 700},
	} {
		c := compactionLimits{losses: tt.list, summary: tt.summary}
		if c.within(tt.room); c.losses != tt.wantList || c.summary != tt.wantSummary {
			t.Errorf("%+v: the list has %d, the summary %d", tt, c.losses, c.summary)
		}
	}
}

// TestSummaryJob_Successors_CountWhatWasDropped: the list of each summary tells how many names are missing of all that was ever named, though no
// summary carries more than 20 KB of them on.
func TestSummaryJob_Successors_CountWhatWasDropped(t *testing.T) {
	const perSummary = 400
	w := &SummaryJob{whole: make([][]conversation.Unit, 1), counter: chars4.New(), losses: 500}
	var earlier []SummaryText
	for round := range 4 {
		var names strings.Builder
		for i := range perSummary {
			fmt.Fprintf(&names, "/part%c/%s/%04d.go\n", 'a'+round, strings.Repeat("x", 80), i)
		}
		m := &conversation.Message{Role: conversation.RoleAssistant, Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: names.String()}}}}
		w.whole[0] = []conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: m.Parts}}}}
		known, all := w.Facts(0, earlier), perSummary*(round+1)
		if known.Dropped == 0 || len(known.Facts)+known.Dropped != all {
			t.Fatalf("summary %d: %d facts and %d dropped of %d", round, len(known.Facts), known.Dropped, all)
		}
		text := w.Finish("Work was done.", "", known)
		listed := strings.Count(text.Text, "/part")
		if want := fmt.Sprintf("\n(and %d more)", all-listed); listed == 0 || !strings.HasSuffix(text.Text, want) {
			t.Errorf("summary %d lists %d, and ends in %q, want %q", round, listed, text.Text[len(text.Text)-30:], want)
		}
		earlier = []SummaryText{text}
	}
	w.losses = 0
	if text := w.Finish("Work was done.", "", earlier[0].SummaryFacts); text.Text != "Work was done." || text.Dropped != earlier[0].Dropped {
		t.Errorf("without a list: %q, %d dropped", text.Text, text.Dropped)
	}
}

// TestSummaryJob_Facts_CountOfAHostileImport_StaysWhatAnImportTakes: two summaries may each say that as many were dropped as can be said.
func TestSummaryJob_Facts_CountOfAHostileImport_StaysWhatAnImportTakes(t *testing.T) {
	most := SummaryText{SummaryFacts: SummaryFacts{Dropped: math.MaxInt32}}
	w := &SummaryJob{whole: make([][]conversation.Unit, 1)}
	if known := w.Facts(0, []SummaryText{most, most}); known.Dropped != math.MaxInt32 {
		t.Errorf("%d were dropped", known.Dropped)
	}
}
