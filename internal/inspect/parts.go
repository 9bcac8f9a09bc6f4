package inspect

import (
	"fmt"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// subject says what a message is: who speaks, or which tools it calls or answers for.
func subject(role pb.Role, parts []*pb.Part) string {
	var calls, results []string
	for _, p := range parts {
		switch {
		case p.GetToolCall() != nil:
			calls = append(calls, p.GetToolCall().GetName())
		case p.GetToolResult() != nil:
			results = append(results, p.GetToolResult().GetName())
		}
	}
	switch {
	case len(calls) > 0:
		return strings.Join(append([]string{"call"}, calls...), " ")
	case len(results) > 0:
		return strings.Join(append([]string{"result"}, results...), " ")
	default:
		return sheet.EnumText(role)
	}
}

// contentIDs names the contents that parts cite.
func contentIDs(parts []*pb.Part) string {
	names := make([]string, 0, 2*len(parts))
	for _, p := range parts {
		names = append(names, p.GetCitation().GetContentId(), p.GetToolResult().GetCitation().GetContentId())
	}
	return joinNonEmpty(" ", names...)
}

// textOf is all that parts say, each from a new line on.
func textOf(parts []*pb.Part) string {
	lines := make([]string, 0, len(parts))
	for _, p := range parts {
		lines = append(lines, partText(p))
	}
	return strings.Join(lines, "\n")
}

func partText(p *pb.Part) string {
	if e := p.GetErasure(); e != nil {
		return fmt.Sprintf("[erased: %d characters]", e.GetOriginalLengthChars())
	}
	switch {
	case p.GetMedia() != nil:
		return mediaText(p.GetMedia())
	case p.GetToolCall() != nil:
		return p.GetToolCall().GetName() + " " + p.GetToolCall().GetArgumentsJson()
	case p.GetToolResult() != nil:
		return resultText(p.GetToolResult())
	case p.GetReasoning() != nil:
		return p.GetReasoning().GetText()
	case p.GetCitation() != nil:
		return p.GetCitation().GetText()
	case p.GetOpaque() != nil:
		return p.GetOpaque().GetJson()
	default:
		return p.GetText()
	}
}

func resultText(r *pb.ToolResult) string {
	switch output := r.GetOutput().(type) {
	case *pb.ToolResult_Json:
		return output.Json
	case *pb.ToolResult_Parts:
		var lines []string
		for _, p := range output.Parts.GetParts() {
			if p.GetMedia() != nil {
				lines = append(lines, mediaText(p.GetMedia()))
			} else {
				lines = append(lines, p.GetText())
			}
		}
		return strings.Join(lines, "\n")
	default:
		return r.GetText()
	}
}

func mediaText(m *pb.Media) string { return fmt.Sprintf("[%s]", m.GetMimeType()) }

// textWidth is the flag that says how much text tables show.
type textWidth struct {
	Text int `help:"The most columns of text of each message; 0 shows none." default:"60"`
}

// excerpt is the beginning of what parts say.
func (w textWidth) excerpt(s *sheet.Sheet, parts []*pb.Part) string {
	if w.Text <= 0 {
		return ""
	}
	return sheet.Cut(sheet.Plain(textOf(parts), sheet.MaxCluster*w.Text, s.ASCII), w.Text, "…")
}

// column is the last one of a table, if text is shown.
func (w textWidth) column(columns []sheet.Column) []sheet.Column {
	if w.Text <= 0 {
		return columns
	}
	return append(columns, sheet.Column{Title: "text"})
}
