package storetest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// What keeps views small in the records of the suite: policies of pruning and compaction, summaries.

func drawWindowPolicy(rt *rapid.T, p *conversation.Policy) {
	number, none, wait := int32(rapid.IntRange(0, 2).Draw(rt, "number")), []string(nil), time.Hour
	switch rapid.IntRange(0, 2).Draw(rt, "window") {
	case 0:
		p.Pruning = conversation.PruningPolicy{ProtectTokens: &number, ProtectedTools: &none, ProtectedPrefixes: &[]string{"tool-"}, EraseAfter: &wait}
	case 1:
		p.Compaction = conversation.CompactionPolicy{Strategy: conversation.StrategyHierarchical, FanOut: &number, PromptID: new(string)}
	}
}

func drawSummary(rt *rapid.T) *conversation.Summary {
	return rapid.SampledFrom([]*conversation.Summary{
		nil,
		{ID: 1, Text: conversation.Content{Inline: "short"}, Erased: true},
		wholeSummary(drawID(rt, "text"), drawID(rt, "facts")),
	}).Draw(rt, "summary")
}

// wholeSummary is a summary with everything that one can have, its text and its facts stored beside it.
func wholeSummary(text, facts conversation.ID) *conversation.Summary {
	beside := func(id conversation.ID) conversation.Content {
		return conversation.Content{Ref: &conversation.ContentRef{ID: id, Bytes: 4, Chars: 4}}
	}
	return &conversation.Summary{
		ID: 7, Level: 1, Children: []int64{3, 5}, Text: beside(text), Tokens: 1, Except: []conversation.Range{{First: 1, End: 2}},
		Verbatim: []conversation.Range{{First: 1, End: 2}},
		Facts:    beside(facts), Model: "openai/m", Recorded: 9,
	}
}

// summariesComeBackWhole: a summary refers to contents that came with its commit, comes to whoever reads about any message, and
// is marked when something that it stands for was erased.
func summariesComeBackWhole(k *talk) {
	k.commit(say(k.change(), 1, 1, 1))
	text, facts := k.id(), k.id()
	k.stage(text, "text", start())
	k.stage(facts, "fact", start())
	c := edit(k.change(), conversation.EditSummarize, 0, 2)
	c.Edits[0].Summary, c.Uploads = wholeSummary(text, facts), []conversation.ID{text, facts}
	k.commit(c)
	about := func(message int32) []conversation.Edit {
		k.Helper()
		return k.read(k.key, store.Query{Edits: &store.EditRange{Of: []conversation.Range{span(message, message+1)}}}).Edits
	}
	k.equal(about(2), c.Edits)
	k.equal(string(k.content(text, 0, -1)), "text")
	k.equal(string(k.content(facts, 0, -1)), "fact")

	marked := c.Edits[0]
	marked.Summary = wholeSummary(text, facts)
	marked.Summary.Erased = true
	again := k.change()
	again.ReplaceEdits = []conversation.Edit{marked}
	k.commit(again)
	k.equal(about(2), again.ReplaceEdits)
	_, edits := k.since(c.Head.Version, 100)
	k.equal(edits, []int64(nil))
	if !k.reopen() {
		return
	}
	k.equal(about(0), again.ReplaceEdits)
	k.equal(string(k.content(facts, 0, -1)), "fact")
}
