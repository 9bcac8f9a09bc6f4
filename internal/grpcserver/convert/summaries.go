package convert

import (
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// ToSummary returns a summary as a view shows it.
func ToSummary(s engine.SummaryInView) *pb.Summary {
	return &pb.Summary{
		Id:             SummaryID(s.ID),
		StartIndex:     s.Range.First,
		EndIndex:       s.Range.End,
		Level:          s.Level,
		Children:       Each(s.Children, SummaryID),
		Text:           s.Text,
		Tokens:         s.Tokens,
		Model:          s.Model,
		EditId:         EditID(s.EditSeq),
		OriginalErased: s.Erased,
	}
}
