package record

import (
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// deduplicationSamples are records that use what came with deduplication.
func deduplicationSamples(at time.Time) map[string]sample {
	info := sampleInfo()
	info.Policy.Deduplication = conversation.DeduplicationPolicy{On: new(true), ExcludedTools: &[]string{"read"}, MinLines: new(int32(5))}
	edit := conversation.Edit{
		Seq: 5, Kind: conversation.EditParts, Range: conversation.Range{First: 9, End: 10}, Reason: conversation.ReasonDuplicateLines, Turn: 3, Time: at,
		Before: 400, After: 40, Commit: 11,
		Parts: []conversation.PartEdit{{
			Part: 1, Level: conversation.Shortened,
			Shown:  conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: "[20 lines as in message 4]"}, Tokens: 40},
			Copies: []conversation.Copy{{First: 0, End: 20, Message: 4, Part: 0, At: 7}, {First: 22, End: 25, Message: 9, Part: 1, At: 20}},
		}},
	}
	back := conversation.Edit{
		Seq: 6, Kind: conversation.EditReturn, Range: conversation.Range{First: 9, End: 10}, Reason: conversation.ReasonCopyNotShown, Turn: 4, Time: at,
		Before: 40, After: 400, Commit: 12,
	}
	return map[string]sample{
		"deduplication-info":   newSample(info, (*Codec).EncodeInfo, (*Codec).DecodeInfo),
		"deduplication-edit":   newSample(edit, (*Codec).EncodeEdit, (*Codec).DecodeEdit),
		"deduplication-return": newSample(back, (*Codec).EncodeEdit, (*Codec).DecodeEdit),
	}
}
