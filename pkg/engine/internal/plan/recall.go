package plan

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/settings"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/view"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

// recalling puts memories of other conversations before the words of a user's new message (behaviour §19).
type recalling struct{ *Attempt }

func (d *Attempt) recalling() recalling { return recalling{d} }

// RecallQuery is what a build asks the memory for.
type RecallQuery struct {
	Text  string // of the message
	Actor string
	Agent string
	// Incarnation is which conversation of its id asks.
	Incarnation conversation.ID
	Scopes      []conversation.MemoryScope
	Limit       int
	Floor       float64
	MaxWait     time.Duration
}

// Recall is what a build has asked the memory for, over all of its attempts.
type Recall struct {
	Wanted   *RecallQuery  // of the attempt at hand
	Index    int32         // the message that it is asked for
	Version  uint64        // the conversation's when it was asked: what is forgotten meanwhile moves it
	Left     time.Duration // of the time that it may take, once it was asked
	Done     bool
	Memories []conversation.RecalledMemory
	Skipped  conversation.Reason // why there are none; 0 where there are some
}

// Answer takes what the memory has answered, or why it has not.
func (r *Recall) Answer(memories []conversation.RecalledMemory, skipped conversation.Reason) {
	r.Wanted, r.Done, r.Memories, r.Skipped = nil, true, memories, skipped
}

// queryChars is how much of a message's beginning, and of its end, is asked for.
const queryChars = 1_000

// ask has memories recalled for a request that no build has shown yet, before anything is decided that depends on them.
func (d recalling) ask() error {
	p := d.Settings.Policy.Memory
	index := d.Loaded.Head.Request
	if !d.recalls || d.Waits == nil || !p.Recalls() || index < d.Loaded.Head.Seen || d.View.Recalled(index) != nil {
		return nil
	}
	r := &d.Waits.Recall
	if r.Done && r.Index == index && r.Version == d.Loaded.Head.Version {
		d.recallFor = index
		return nil
	}
	wait := conversation.ValueOr(p.Recall.Deadline, conversation.DefaultRecallDeadline)
	if r.Done && r.Index == index {
		wait = r.Left // something has happened to the conversation since: ask again, in what is left of the time
	}
	if r.Index, r.Version, r.Done = index, d.Loaded.Head.Version, false; d.DryRun {
		d.recallFor = index
		r.Answer(nil, conversation.ReasonMemoryDryRun)
		return nil
	}
	m, err := d.message(index)
	if err != nil {
		return err
	}
	words, err := d.fitting().userWords(m)
	if err != nil {
		return err
	}
	r.Wanted = &RecallQuery{
		Text: ends(words, queryChars), Actor: d.Loaded.Info.ActorID, Agent: d.Loaded.Info.AgentID, Incarnation: d.Loaded.Head.Incarnation, Scopes: p.RecallScopes(),
		Limit:   2 * int(conversation.ValueOr(p.Recall.MaxMemories, conversation.DefaultMaxMemories)), // some are in view already
		Floor:   conversation.ValueOr(p.Recall.Floor, conversation.DefaultRecallFloor),
		MaxWait: wait,
	}
	return ErrWait
}

// ends are the first and the last characters of a text that is longer than both.
func ends(text string, chars int) string {
	if utf8.RuneCountInString(text) <= 2*chars {
		return text
	}
	runes := []rune(text)
	return string(runes[:chars]) + "\n" + string(runes[len(runes)-chars:])
}

// apply puts what was recalled before the message's words, as far as there is room. It is done once: what was not recalled now never is.
func (d recalling) apply() error {
	if d.recallFor < 0 {
		return nil
	}
	found, skipped := d.Waits.Recall.Memories, d.Waits.Recall.Skipped
	switch {
	case skipped != 0:
	case !d.Composed.Whole(conversation.Range{First: d.recallFor, End: d.recallFor + 1}): // not even the message has the room it wants
		skipped = conversation.ReasonMemoryOverCap
	default:
		found, skipped = d.choose(found)
	}
	if skipped != 0 {
		d.failures = append(d.failures, conversation.Event{
			Type: conversation.EventMemorySkipped, Turn: d.Turn, Index: d.recallFor, Last: d.recallFor, Reason: skipped,
		})
		return nil
	}
	shown := d.block(found)
	d.addEdit(conversation.Edit{
		Kind: conversation.EditRecall, Range: conversation.Range{First: d.recallFor, End: d.recallFor + 1},
		Parts:  []conversation.PartEdit{{Part: conversation.RecalledPart, Shown: shown}},
		Reason: conversation.ReasonMemoriesAnswer, After: int64(shown.Tokens),
	})
	return d.recompose()
}

func (d recalling) block(memories []conversation.RecalledMemory) conversation.Part {
	return RecalledBlock(memories, d.tokens)
}

// RecalledBlock is the part that shows memories.
func RecalledBlock(memories []conversation.RecalledMemory, count func(string) int) conversation.Part {
	part := view.TextPart(memory.Block(memories))
	part.Tokens, part.Recalled = int32(count(part.Text.Inline)), &conversation.RecalledMemories{Memories: memories}
	return part
}

func (d recalling) tokens(text string) int {
	n, _ := d.Settings.Counter.Count(text)
	return n
}

// choose picks of what was found what is not in view, once each, as much as there is room for.
func (d recalling) choose(found []conversation.RecalledMemory) ([]conversation.RecalledMemory, conversation.Reason) {
	shown, seen := d.isShown(), d.newSeenWords(found)
	skipped := conversation.ReasonMemoryBelowFloor
	p := &d.Settings.Policy.Memory.Recall
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
func (d recalling) hasRoom(memories []conversation.RecalledMemory) bool {
	p, n := &d.Settings.Policy.Memory.Recall, int64(d.block(memories).Tokens)
	inView := int64(0)
	for it := range conversation.Items(d.Composed.Units) {
		inView += it.RecalledTokens()
	}
	share := d.Settings.Limit * settings.FirstSet(conversation.DefaultMaxViewPercent, p.MaxViewPercent) / 100
	return n <= int64(conversation.ValueOr(p.MaxTokens, conversation.DefaultMaxRecalledTokens)) && inView+n <= share &&
		d.OverLimit()+n+d.reporting().uncountedTokens() <= 0
}

// cut is a text of at most so many tokens.
func (d recalling) cut(text string, limit int) string {
	if d.tokens(text) <= limit {
		return text
	}
	runes := []rune(text)
	low, high := 0, len(runes)
	for low < high {
		middle := (low + high + 1) / 2
		if d.tokens(string(runes[:middle])+"…") <= limit {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return strings.TrimSpace(string(runes[:low])) + "…"
}

// isShown returns what says of a memory whether all that it comes from is in view: messages of this conversation, or the sources of a
// memory that was recalled before.
func (d recalling) isShown() func(*conversation.RecalledMemory) bool {
	own, ids := make(map[int32]bool), make(map[string]bool)
	for it := range conversation.Items(d.Composed.Units) {
		own[it.Message.Index] = it.Level == conversation.Full
		if len(it.Parts) > 0 {
			for _, id := range it.Parts[0].Recalled.IDs() {
				ids[id] = true
			}
		}
	}
	return func(m *conversation.RecalledMemory) bool {
		return ids[m.ID] || len(m.Sources) > 0 && !slices.ContainsFunc(m.Sources, func(s conversation.RecalledSource) bool {
			return s.Conversation != d.Loaded.Key.Conversation || !own[s.First]
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

func (d recalling) newSeenWords(found []conversation.RecalledMemory) *seenWords {
	s := &seenWords{known: make([]bool, len(found))}
	wanted := make(map[string]bool)
	for i := range found {
		words := wordsOf(found[i].Text, nil)
		s.words, s.all = append(s.words, words), append(s.all, setOf(words))
		for _, w := range words {
			wanted[w] = true
		}
	}
	for it := range conversation.Items(d.Composed.Units) {
		share := sameWords
		if it.Message.Index == d.recallFor { // a question has the words of its answer, but for the answer
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

// dropFromTail takes the blocks out of the tail: where nothing else can leave, they go.
func (d recalling) dropFromTail() error {
	made := len(d.Edits)
	for it := range conversation.Items(d.Composed.Units[d.Composed.Tail:]) {
		if n := it.RecalledTokens(); n > 0 {
			d.addEdit(conversation.Edit{
				Kind: conversation.EditRecall, Range: conversation.Range{First: it.Message.Index, End: it.Message.Index + 1},
				Reason: conversation.ReasonMemoryOverCap, Before: n,
			})
		}
	}
	if len(d.Edits) == made {
		return nil
	}
	return d.recompose()
}
