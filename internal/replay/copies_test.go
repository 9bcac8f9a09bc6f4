package replay

import (
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

func resultOf(text string) *pb.Message {
	return &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{
		ToolResult: &pb.ToolResult{Output: &pb.ToolResult_Text{Text: text}},
	}}}}
}

// TestCheckCopies_BrokenSidecar_IsSeen: a line whose lines are not there, not these, or not those of the record.
func TestCheckCopies_BrokenSidecar_IsSeen(t *testing.T) {
	const first, second = "a\nb\nc\nd\ne", "x\nb\nc\nd\ny"
	for name, tt := range map[string]struct {
		context []string
		missing int
	}{
		"as it should be":       {[]string{first, "x\n[3 lines as in message 0, lines 2-4: b. Full text: expand_message(1)]\ny"}, 0},
		"beside named lines":    {[]string{"[1 lines]\nb\nc\nd\n[1 lines]", "x\n[3 lines as in message 0, lines 2-4: b. Full text: expand_message(1)]\ny"}, 0},
		"in full":               {[]string{first, second}, 0},
		"the copy is gone":      {[]string{"a", "x\n[3 lines as in message 0, lines 2-4: b. Full text: expand_message(1)]\ny"}, 1},
		"a line of it is gone":  {[]string{"a\nb\nc", "x\n[3 lines as in message 0, lines 2-4: b. Full text: expand_message(1)]\ny"}, 1},
		"in the middle of one":  {[]string{"ab\nc\nde", "x\n[3 lines as in message 0, lines 2-4: b. Full text: expand_message(1)]\ny"}, 1},
		"other lines":           {[]string{first, "x\n[3 lines as in message 0, lines 1-3: b. Full text: expand_message(1)]\ny"}, 1},
		"fewer than it says":    {[]string{first, "x\n[4 lines as in message 0, lines 2-4: b. Full text: expand_message(1)]\ny"}, 2},
		"a line is lost beside": {[]string{first, "x\n[3 lines as in message 0, lines 2-4: b. Full text: expand_message(1)]"}, 1},
		"no such message":       {[]string{first, "x\n[3 lines as in message 7, lines 2-4: b. Full text: expand_message(1)]\ny"}, 2},
	} {
		c := &conversation{session: &session{policy: &policy{}}, Tally: report.NewTally(nil), reference: reference(), appended: []*pb.Message{resultOf(first), resultOf(second)}}
		response := &pb.BuildContextResponse{Decisions: []*pb.Decision{{
			Kind: pb.DecisionKind_DECISION_KIND_DEDUPLICATED, StartIndex: 1, EndIndex: 2,
		}}}
		var blocks []validate.Block
		for _, text := range tt.context {
			blocks = append(blocks, validate.Block{Items: []validate.Item{{Kind: validate.Result, Texts: []string{text}}}})
		}
		whole := c.checkCopies(response, blocks)
		if c.CopiesMissing != tt.missing {
			t.Errorf("%s: %d, want %d: %+v", name, c.CopiesMissing, tt.missing, c.Examples)
		}
		if tt.missing == 0 && whole[1].Items[0].Texts[0] != second || strings.Join(blocks[1].Items[0].Texts, "") != tt.context[1] {
			t.Errorf("%s: %q", name, whole[1].Items[0].Texts)
		}
	}
}
