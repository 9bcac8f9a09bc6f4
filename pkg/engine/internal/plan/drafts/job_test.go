package drafts

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// TestSummaryJob_Successors_CountWhatWasDropped: the list of each summary tells how many names are missing of all that was ever named, though no
// summary carries more than 20 KB of them on.
func TestSummaryJob_Successors_CountWhatWasDropped(t *testing.T) {
	const perSummary = 400
	w := &Job{Whole: make([][]conversation.Unit, 1), Counter: chars4.New(), Losses: 500}
	var earlier []Text
	for round := range 4 {
		var names strings.Builder
		for i := range perSummary {
			fmt.Fprintf(&names, "/part%c/%s/%04d.go\n", 'a'+round, strings.Repeat("x", 80), i)
		}
		m := &conversation.Message{Role: conversation.RoleAssistant, Parts: []conversation.Part{{Kind: conversation.PartText, Text: conversation.Content{Inline: names.String()}}}}
		w.Whole[0] = []conversation.Unit{{Items: []conversation.Item{{Message: m, Parts: m.Parts}}}}
		known, all := w.Facts(0, earlier), perSummary*(round+1)
		if known.Dropped == 0 || len(known.Facts)+known.Dropped != all {
			t.Fatalf("summary %d: %d facts and %d dropped of %d", round, len(known.Facts), known.Dropped, all)
		}
		text := w.Finish("Work was done.", "", known)
		listed := strings.Count(text.Text, "/part")
		if want := fmt.Sprintf("\n(and %d more)", all-listed); listed == 0 || !strings.HasSuffix(text.Text, want) {
			t.Errorf("summary %d lists %d, and ends in %q, want %q", round, listed, text.Text[len(text.Text)-30:], want)
		}
		earlier = []Text{text}
	}
	w.Losses = 0
	if text := w.Finish("Work was done.", "", earlier[0].SummaryFacts); text.Text != "Work was done." || text.Dropped != earlier[0].Dropped {
		t.Errorf("without a list: %q, %d dropped", text.Text, text.Dropped)
	}
}

// TestSummaryJob_Facts_CountOfAHostileImport_StaysWhatAnImportTakes: two summaries may each say that as many were dropped as can be said.
func TestSummaryJob_Facts_CountOfAHostileImport_StaysWhatAnImportTakes(t *testing.T) {
	most := Text{SummaryFacts: SummaryFacts{Dropped: math.MaxInt32}}
	w := &Job{Whole: make([][]conversation.Unit, 1)}
	if known := w.Facts(0, []Text{most, most}); known.Dropped != math.MaxInt32 {
		t.Errorf("%d were dropped", known.Dropped)
	}
}
