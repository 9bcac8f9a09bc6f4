// Package recall puts memories of other conversations before the words of a user's new message (behaviour §19).
package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// Answer is what was recalled for a message, or why nothing was.
type Answer struct {
	pass.Result
	For      int32 // the message that memories are put before; -1 for none
	Memories []conversation.RecalledMemory
	Skipped  conversation.Reason // why there are none; 0 where there are some
}

// queryChars is how much of a message's beginning, and of its end, is asked for.
const queryChars = 1_000

// Ask has memories recalled for a request that no build has shown yet, before anything is decided that depends on them.
func Ask(g *pass.Given, d pass.Draft) (Answer, error) {
	none, p, index := Answer{For: -1}, g.Settings.Policy.Memory, g.Loaded.Head.Request
	if !g.Recalls || !p.Recalls() || index < g.Loaded.Head.Seen || d.View.Recalled(index) != nil {
		return none, nil
	}
	wait := conversation.ValueOr(p.Recall.Deadline, conversation.DefaultRecallDeadline)
	if r := g.Allowance.Recalled; r != nil && r.Query.Index == index {
		if r.Query.Version == g.Loaded.Head.Version {
			return Answer{For: index, Memories: r.Memories, Skipped: r.Skipped}, nil
		}
		wait = r.Left // something has happened to the conversation since: ask again, in what is left of the time
	}
	if g.DryRun {
		return Answer{For: index, Skipped: conversation.ReasonMemoryDryRun}, nil
	}
	m, err := g.Message(index)
	if err != nil {
		return none, err
	}
	words, err := g.UserWords(d.View, m)
	if err != nil {
		return none, err
	}
	none.Wants = &pass.Wants{Recall: &pass.RecallQuery{
		Index: index, Version: g.Loaded.Head.Version,
		Text: ends(words, queryChars), Actor: g.Loaded.Info.ActorID, Agent: g.Loaded.Info.AgentID, Incarnation: g.Loaded.Head.Incarnation, Scopes: p.RecallScopes(),
		Limit:   2 * int(conversation.ValueOr(p.Recall.MaxMemories, conversation.DefaultMaxMemories)), // some are in view already
		Floor:   conversation.ValueOr(p.Recall.Floor, conversation.DefaultRecallFloor),
		MaxWait: wait,
	}}
	return none, nil
}

// ends are the first and the last characters of a text that is longer than both.
func ends(text string, chars int) string {
	if utf8.RuneCountInString(text) <= 2*chars {
		return text
	}
	runes := []rune(text)
	return string(runes[:chars]) + "\n" + string(runes[len(runes)-chars:])
}

// Put puts what was recalled before the message's words, as far as there is room. It is done once: what was not recalled now never is.
func Put(g *pass.Given, d pass.Draft, a Answer) (pass.Result, error) {
	if a.For < 0 {
		return pass.Result{}, nil
	}
	r := recalling{g: g, composed: d.Composed, index: a.For}
	found, skipped := a.Memories, a.Skipped
	switch {
	case skipped != 0:
	case !d.Composed.Whole(conversation.Range{First: a.For, End: a.For + 1}): // not even the message has the room it wants
		skipped = conversation.ReasonMemoryOverCap
	default:
		found, skipped = r.choose(found)
	}
	if skipped != 0 {
		return pass.Result{Notes: pass.Notes{Events: []conversation.Event{{
			Type: conversation.EventMemorySkipped, Turn: g.Turn, Index: a.For, Last: a.For, Reason: skipped,
		}}}}, nil
	}
	s, shown := g.Sketch(d), Block(found, g.Tokens)
	s.Add(conversation.Edit{
		Kind: conversation.EditRecall, Range: conversation.Range{First: a.For, End: a.For + 1},
		Parts:  []conversation.PartEdit{{Part: conversation.RecalledPart, Shown: shown}},
		Reason: conversation.ReasonMemoriesAnswer, After: int64(shown.Tokens),
	})
	err := s.Recompose()
	return s.Result(), err
}

// recalling chooses of what was recalled for a message.
type recalling struct {
	g        *pass.Given
	composed *view.Composition
	index    int32
}

// Block is the part that shows memories.
func Block(memories []conversation.RecalledMemory, count func(string) int) conversation.Part {
	part := view.TextPart(memory.Block(memories))
	part.Tokens, part.Recalled = int32(count(part.Text.Inline)), &conversation.RecalledMemories{Memories: memories}
	return part
}

// choose picks of what was found what is not in view, once each, as much as there is room for.
func (d *recalling) choose(found []conversation.RecalledMemory) ([]conversation.RecalledMemory, conversation.Reason) {
	shown, seen := d.isShown(), d.newSeenWords(found)
	skipped := conversation.ReasonMemoryBelowFloor
	p := &d.g.Settings.Policy.Memory.Recall
	most := int(conversation.ValueOr(p.MaxMemories, conversation.DefaultMaxMemories))
	var out []conversation.RecalledMemory
	for i := range found {
		m := found[i]
		if len(out) == most {
			break
		}
		if shown(&m) || seen.inView(i) || seen.twice(i) {
			skipped = conversation.ReasonMemoryInView
			continue
		}
		m.Text = d.cut(m.Text, int(conversation.ValueOr(p.MaxEachTokens, conversation.DefaultMaxEachTokens)))
		if with := append(slices.Clip(out), m); d.hasRoom(with) {
			out = with
		} else if len(out) == 0 {
			skipped = conversation.ReasonMemoryOverCap
		}
	}
	if len(out) > 0 {
		return out, 0
	}
	return nil, skipped
}

// hasRoom says whether a block of memories is within all of its limits: its own, what all blocks in view may take, and the budget.
func (d *recalling) hasRoom(memories []conversation.RecalledMemory) bool {
	p, n := &d.g.Settings.Policy.Memory.Recall, int64(Block(memories, d.g.Tokens).Tokens)
	inView := int64(0)
	for it := range conversation.Items(d.composed.Units) {
		inView += it.RecalledTokens()
	}
	share := d.g.Settings.Limit * settings.FirstSet(conversation.DefaultMaxViewPercent, p.MaxViewPercent) / 100
	return n <= int64(conversation.ValueOr(p.MaxTokens, conversation.DefaultMaxRecalledTokens)) && inView+n <= share &&
		d.g.OverLimit(d.composed)+n+d.g.UncountedTokens(d.composed) <= 0
}

// cut is a text of at most so many tokens.
func (d *recalling) cut(text string, limit int) string {
	if d.g.Tokens(text) <= limit {
		return text
	}
	runes := []rune(text)
	low, high := 0, len(runes)
	for low < high {
		middle := (low + high + 1) / 2
		if d.g.Tokens(string(runes[:middle])+"…") <= limit {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return strings.TrimSpace(string(runes[:low])) + "…"
}

// isShown returns what says of a memory whether all that it comes from is in view: messages of this conversation, or the sources of a
// memory that was recalled before.
func (d *recalling) isShown() func(*conversation.RecalledMemory) bool {
	own, ids := make(map[int32]bool), make(map[string]bool)
	for it := range conversation.Items(d.composed.Units) {
		own[it.Message.Index] = it.Level == conversation.Full
		if len(it.Parts) > 0 {
			for _, id := range it.Parts[0].Recalled.IDs() {
				ids[id] = true
			}
		}
	}
	return func(m *conversation.RecalledMemory) bool {
		return ids[m.ID] || len(m.Sources) > 0 && !slices.ContainsFunc(m.Sources, func(s conversation.RecalledSource) bool {
			return s.Conversation != d.g.Loaded.Key.Conversation || !own[s.First]
		})
	}
}

// sameWords is the share of a memory's words in one text that makes it known there.
const sameWords = 0.8

// seenWords compares memories with the texts in view, and with each other, by their words.
type seenWords struct {
	words [][]string
	known []bool // in a text of the view
	all   []map[string]bool
}

func (d *recalling) newSeenWords(found []conversation.RecalledMemory) *seenWords {
	s := &seenWords{known: make([]bool, len(found))}
	wanted := make(map[string]bool)
	for i := range found {
		words := wordsOf(found[i].Text, nil)
		s.words, s.all = append(s.words, words), append(s.all, setOf(words))
		for _, w := range words {
			wanted[w] = true
		}
	}
	for it := range conversation.Items(d.composed.Units) {
		share := sameWords
		if it.Message.Index == d.index { // a question has the words of its answer, but for the answer
			share = 1
		}
		for p := range it.Parts {
			if part := &it.Parts[p]; part.Kind == conversation.PartText {
				s.compare(setOf(wordsOf(part.Text.Inline, wanted)), share)
			}
		}
	}
	return s
}

func (s *seenWords) compare(text map[string]bool, share float64) {
	if len(text) == 0 {
		return
	}
	for i := range s.words {
		s.known[i] = s.known[i] || covers(text, s.words[i], share)
	}
}

func (s *seenWords) inView(i int) bool { return s.known[i] }

// twice says whether a memory before it says the same.
func (s *seenWords) twice(i int) bool {
	return slices.ContainsFunc(s.all[:i], func(other map[string]bool) bool {
		return len(other) > 0 && covers(other, s.words[i], sameWords)
	})
}

func covers(text map[string]bool, words []string, share float64) bool {
	n := 0
	for _, w := range words {
		if text[w] {
			n++
		}
	}
	return len(words) > 0 && float64(n) >= share*float64(len(words))
}

// wordsOf are the words of a text, each once: those of a set, if there is one.
func wordsOf(text string, of map[string]bool) (out []string) {
	seen := make(map[string]bool)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if !seen[word] && (of == nil || of[word]) {
			seen[word] = true
			out = append(out, word)
		}
	}
	return out
}

func setOf(words []string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}
