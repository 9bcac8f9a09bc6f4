package storetest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// The lifecycle in the model's records: what a plugin added, what expires, what was erased.

func drawExpiration(rt *rapid.T) *conversation.Expiration {
	turns, no := int32(rapid.IntRange(0, 2).Draw(rt, "turns")), false
	return rapid.SampledFrom([]*conversation.Expiration{
		nil,
		{},
		{Turns: &turns, Mode: conversation.ExpirationRemove, Source: conversation.SourceTool},
		{Turns: &turns, Mode: conversation.ExpirationCompact, CompactLength: &turns, PreserveOriginal: &no, CompactPromptID: "brief"},
	}).Draw(rt, "expiration")
}

func drawImportance(rt *rapid.T) conversation.Importance {
	return conversation.Importance(rapid.IntRange(0, 3).Draw(rt, "importance"))
}

func drawPolicy(rt *rapid.T) (p conversation.Policy) {
	on, wait := rapid.Bool().Draw(rt, "on"), 2*time.Second
	if e := drawExpiration(rt); e != nil {
		p.Expiration.Results, p.Expiration.Off, p.Retention.AllInputs = *e, &on, &on
	}
	if rapid.Bool().Draw(rt, "rewrite") {
		gain := int32(0)
		p.MaxWait = &wait
		p.Rewrite = conversation.RewritePolicy{
			Mode: conversation.RewriteEager, MinGainTokens: &gain, MaxDeferralTurns: &gain, ColdAfter: &wait, ExpectTurns: &gain, ColdCutPercent: &gain,
		}
	}
	drawWindowPolicy(rt, &p)
	drawCitationsPolicy(rt, &p)
	return p
}

func adornMessage(rt *rapid.T, m *conversation.Message) {
	m.Expiration, m.Importance = drawExpiration(rt), drawImportance(rt)
	switch rapid.IntRange(0, 3).Draw(rt, "adorned") {
	case 0:
		m.Place = conversation.Place{Carrying: 1, Inputs: m.Index + 1}
		m.Parts = append(m.Parts, conversation.Part{
			Kind: conversation.PartText, Text: conversation.Content{Inline: conversation.Spacing}, Plugin: "memory",
			Retention: conversation.Retention{Kind: conversation.RetentionKeepLast, Last: 2}, Variant: conversation.PersistentOnly,
		})
	case 1:
		m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
			CallID: "c", Text: conversation.Content{Inline: "output"}, Expiration: drawExpiration(rt), Recalled: drawRecalled(rt), Source: drawSource(rt),
			Importance: drawImportance(rt),
		}})
	case 2:
		m.Parts = append(m.Parts, conversation.Part{Kind: conversation.PartText, Text: gone(7), Residue: &conversation.Residue{Provider: "p", JSON: `{"a":1}`}})
	}
}

func adornEdit(rt *rapid.T, e *conversation.Edit) {
	switch e.Kind {
	case conversation.EditParts:
		e.Parts = rapid.SampledFrom([][]conversation.PartEdit{
			nil,
			{{Part: 1, Level: conversation.Cleared}},
			{{Level: conversation.Shortened, Shown: conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: "short"}}}},
			{cited()},
			{{Level: conversation.Shortened, Shown: conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: "named"}},
				Copies: []conversation.Copy{{End: 3}, {First: 4, End: 9, Message: 2, Part: 1, At: 7}}}},
		}).Draw(rt, "shown")
	case conversation.EditMask:
		e.Mask = rapid.SampledFrom([][]int32{nil, {0}, {0, 1}}).Draw(rt, "mask")
	case conversation.EditRestore:
		e.Said = rapid.SampledFrom([]string{"", "why"}).Draw(rt, "said")
		e.Brought = rapid.SampledFrom([][]int32{nil, {1}, {0, 2}}).Draw(rt, "brought")
	case conversation.EditSummarize:
		e.Summary = drawSummary(rt)
	case conversation.EditStoreContent, conversation.EditExpireContent:
		e.Content = rapid.SampledFrom([]string{"", "c1-aaaaaaaa", "c2-aaaaaaaa"}).Draw(rt, "handle")
	}
}

// erase rewrites a message and the edits of it, and releases a content, in one commit: on top of what is there, or stale.
func (m *machine) erase(rt *rapid.T) {
	key := drawKey(rt)
	snap, err := m.model.Read(m.ctx, key, everything())
	if err != nil || len(snap.Messages) == 0 {
		return
	}
	c := m.next(rt, key)
	c.Release = []conversation.ID{drawID(rt, "content id")}
	message := rapid.SampledFrom(snap.Messages).Draw(rt, "message")
	if message.Index >= c.Head.Messages {
		return // staged past the end, where no commit can reach it
	}
	message.Parts = conversation.CloneParts(message.Parts)
	for _, content := range conversation.Contents(message.Parts) {
		*content = gone(content.Bytes())
	}
	c.ReplaceMessages = []conversation.Message{message}
	for _, e := range snap.Edits {
		if e.Kind == conversation.EditParts && e.Range.First == message.Index && e.Seq <= c.Head.EditSeq {
			e.Parts = nil
			c.ReplaceEdits = append(c.ReplaceEdits, e)
		}
	}
	if rapid.Bool().Draw(rt, "removed") {
		edit(c, conversation.EditRemove, message.Index, message.Index+1)
	}
	m.commit(rt, key, c)
}
