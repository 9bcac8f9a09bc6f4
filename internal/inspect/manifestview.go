package inspect

import (
	"fmt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// manifestView prints an earlier build. What was decided in it is not on record; what was shown is.
type manifestView struct {
	*sheet.Sheet
	textWidth
	reply *pb.GetManifestResponse
}

func (v *manifestView) print(conversation string) error {
	m := v.reply.GetManifest()
	f := factor(m.GetFactor())
	for _, line := range []field{
		{"conversation", fmt.Sprintf("%s, turn %d, build %s at %s UTC", conversation, m.GetTurn(), m.GetId(), moment(m.GetCreateTime()))},
		{"asked for", together(", ", word(m.GetFormat()), m.GetModel())},
		{"context", share(v.Sheet, m.GetTotalTokens(), m.GetBudgetTokens())},
		{"counted by", f.counter(m.GetCounter())},
		{"on record", fmt.Sprintf("%s and %s then; the window started at message %d",
			sheet.Count(int(m.GetMessageCount()), "message"), sheet.Count(int(m.GetEditSeq()), "edit"), m.GetWindowStartIndex())},
		{"policy", m.GetPolicyHash()},
		{"SHA-256", fmt.Sprintf("%s, by renderer %d", m.GetContentSha256(), m.GetRendererVersion())},
	} {
		if err := v.Field(line.label, labelWidth, line.value); err != nil {
			return err
		}
	}
	if err := shown(v.Sheet, "In", v.textWidth, f, v.reply.GetMessages(), func(*pb.ContextMessage) string { return "" }); err != nil {
		return err
	}
	return v.missing()
}

// missing names the messages of then that were not shown themselves.
func (v *manifestView) missing() error {
	seen := map[int32]bool{}
	for _, m := range v.reply.GetMessages() {
		if index, ok := indexOf(m); ok {
			seen[index] = true
		}
	}
	var out []string
	first := int32(0)
	for i := int32(0); i <= v.reply.GetManifest().GetMessageCount(); i++ {
		if i < v.reply.GetManifest().GetMessageCount() && !seen[i] {
			continue
		}
		if first < i {
			out = append(out, span(first, i))
		}
		first = i + 1
	}
	if len(out) == 0 {
		return nil
	}
	if err := v.Title("Out"); err != nil {
		return err
	}
	return v.Say(together(", ", out...))
}
