package replay

import (
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/recall"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

func said(role, text string) validate.Message {
	return validate.Message{Role: role, Items: []validate.Item{{Kind: validate.Text, Texts: []string{text}}}}
}

// TestConversation_ContentRecall_CountsWhatIsRepeated: eight words in a row that stood in the conversation are wanted; new words are not, and
// white space says nothing.
func TestConversation_ContentRecall_CountsWhatIsRepeated(t *testing.T) {
	c := &conversation{
		Tally: report.NewTally(nil), session: &session{policy: &policy{}}, said: recall.References{},
		shingler: recall.NewShingler(), agentSaid: recall.Shingles{}, othersSaid: recall.Shingles{}, blockShingles: map[string]recall.Shingles{},
	}
	c.remember(said("tool", "one two three four five six seven eight nine"))
	c.remember(said("assistant", "a b c d e f g h"))
	next := &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{{Content: &pb.Part_Text{
		Text: "one two three  four\nfive six seven eight nine and a b c d e f g h, which are quite new words to everybody here",
	}}}}
	for _, tt := range []struct {
		shown                 string
		wanted, held          int
		foreign, foreignFound int
	}{
		{"one two three four five six seven eight nine", 2, 2, 2, 2},
		{"two three four five six seven eight nine", 2, 1, 2, 1},
		{"a b c d e f g h", 2, 0, 2, 0}, // with a comma behind it, its last word is another one
		{"", 2, 0, 2, 0},
	} {
		c.Recall = report.Recall{}
		c.contentRecall(next, []validate.Block{{JSON: tt.shown, Items: said("tool", tt.shown).Items}})
		if c.Recall.Content != (report.Recalled{Wanted: tt.wanted, Held: tt.held}) || c.Recall.ForeignContent != (report.Recalled{Wanted: tt.foreign, Held: tt.foreignFound}) {
			t.Errorf("%q: %+v of all, %+v of what others said", tt.shown, c.Recall.Content, c.Recall.ForeignContent)
		}
	}
}

// TestConversation_ContentRecall_OwnWordsAreNotForeign: what the agent alone said counts for all, and not for what others said.
func TestConversation_ContentRecall_OwnWordsAreNotForeign(t *testing.T) {
	c := &conversation{
		Tally: report.NewTally(nil), session: &session{policy: &policy{}}, said: recall.References{},
		shingler: recall.NewShingler(), agentSaid: recall.Shingles{}, othersSaid: recall.Shingles{}, blockShingles: map[string]recall.Shingles{},
	}
	c.remember(said("assistant", "a b c d e f g h"))
	next := &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: "a b c d e f g h"}}}}
	c.contentRecall(next, []validate.Block{{JSON: "x", Items: said("assistant", "a b c d e f g h").Items}})
	if c.Recall.Content != (report.Recalled{Wanted: 1, Held: 1}) || c.Recall.ForeignContent != (report.Recalled{}) {
		t.Errorf("%+v of all, %+v of what others said", c.Recall.Content, c.Recall.ForeignContent)
	}
}
