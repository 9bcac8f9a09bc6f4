package appends

import (
	"context"
	"crypto/sha256"
	"maps"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/palimpsest-context/palimpsest/pkg/compaction"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/expiry"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// citationPlan holds what an append cites (behaviour §9), across its tries.
type citationPlan struct {
	service *Service
	counter placement.Scale
	release bool // originals are erased when their run ends
	parts   []citedPart
	slots   *contents.SlotChanges
	last    int64
	shares  map[blockAt]conversation.ContentRef  // contents whose bytes are already stored
	staged  map[blockAt]conversation.ContentRef  // shares at the time of the last staging
	fresh   map[[32]byte]conversation.ContentRef // staged by this append
	ids     map[blockAt]conversation.ID          // the ids in handles, kept for all tries: a summary written in between may mention a handle
}

// blockAt locates a part of a message of the request.
type blockAt struct{ message, part int }

// citedPart is a part that will be cited.
type citedPart struct {
	blockAt
	text   string
	words  string                // text without base64 bytes
	whole  *conversation.Content // the single content that holds the text; nil if several do
	sum    [32]byte
	tool   string
	source *conversation.ResultSource
	call   int32 // index of the message that holds the call; -1 if the call is in the request, or unknown
	args   string
	// ordinal is the call's number; 0 if there is no call.
	ordinal int32

	number int64
	record *contents.Record
	shown  conversation.Part // what the view shows; until the citation is worded, what stands for a text that holds base64 bytes
}

// findCited finds the parts of an append to be cited, and reads the slots of contents that this needs.
func (a *attempt) findCited(ctx context.Context, snap *store.Snapshot) error {
	p := snap.Info.Policy.Or(a.service.Defaults).Citations
	counter, err := a.service.Views.Counter(snap.Info.Counter)
	if err != nil {
		return err
	}
	c := &citationPlan{
		service: a.service, counter: placement.Scale{Counter: counter}, release: conversation.ValueOr(p.ReleaseOnEndRun, false),
		slots: contents.NewSlotChanges(map[string][]byte{}), staged: a.cited.stagedShares(), ids: a.handles,
	}
	calls, err := placement.AnswersOf(&snap.Head, a.request.Messages, a.request.field, a.found.isCut)
	if err != nil {
		return err
	}
	r, err := a.recognize(ctx, snap, calls)
	if err != nil {
		return err
	}
	if a.embedded, err = a.findEmbedded(ctx, r, snap.Head.Messages, c.counter); err != nil {
		return err
	}
	rule := citationRule{policy: p, policies: a.policies, tools: a.service.Tools}
	c.parts, a.cited = rule.findParts(a.request.Messages, r, a.embedded), c
	if err := a.noteRecalled(ctx, snap); err != nil || len(c.parts) == 0 {
		return err
	}
	if err := c.read(ctx, a.request.Key, snap, a.request.Messages); err != nil {
		return err
	}
	c.word(snap.Head.Messages, a.request.Messages)
	return c.findShares()
}

// citationRule decides which parts are cited.
type citationRule struct {
	policy   conversation.CitationsPolicy         // the conversation's
	policies expiry.Policies                      // the namespace's
	tools    map[string]conversation.ActionPolicy // the server's
}

// findParts finds the parts of messages that are cited. embedded is what the view shows for texts that hold base64 bytes.
func (c *citationRule) findParts(messages []conversation.Message, r *recallDetection, embedded map[blockAt]conversation.Part) (out []citedPart) {
	for i := range messages {
		for j := range messages[i].Parts {
			at := blockAt{i, j}
			if x, ok := c.citable(&messages[i], at, r, embedded[at]); ok {
				out = append(out, x)
			}
		}
	}
	return out
}

// citable reports whether a part is cited: a long tool result that was not recalled, or a long text of an action (behaviour §9). shown is what
// the view shows for it if it holds base64 bytes, and else the zero part.
func (c *citationRule) citable(m *conversation.Message, at blockAt, r *recallDetection, shown conversation.Part) (citedPart, bool) {
	p := &m.Parts[at.part]
	x := citedPart{blockAt: at, call: -1}
	if p.Kind == conversation.PartToolResult {
		x.tool = r.calls.Tool(p.Result)
	}
	threshold, on := c.threshold(m, p, x.tool)
	switch {
	case !on || m.Pinned || p.Plugin != "" || r.neverCites(at):
		return x, false
	case p.Kind == conversation.PartToolResult:
		x.text, x.source = p.Result.Words(), p.Result.Source
		if p.Result.Output != conversation.OutputParts {
			x.whole = &p.Result.Text
		}
	case p.Kind == conversation.PartText && m.Role == conversation.RoleUser &&
		(m.Type == conversation.TypeActionResult || m.Type == conversation.TypeSubAgentResult):
		x.text, x.whole = p.Text.Inline, &p.Text
	}
	x.words = x.text
	if shown.Kind == p.Kind {
		x.shown, x.words = shown, wordsOf(&shown)
	}
	if len(x.words) <= threshold || utf8.RuneCountInString(x.words) <= threshold {
		return x, false
	}
	x.sum = sha256.Sum256([]byte(x.text))
	if call, ok := r.calls[p.Result]; ok {
		x.call, x.args, x.ordinal = call.Message, call.Arguments, call.Ordinal
	}
	return x, true
}

// threshold returns the number of characters from which a part is cited, and whether it is cited at all. Action policies come before
// the conversation's policy.
func (c *citationRule) threshold(m *conversation.Message, p *conversation.Part, tool string) (int, bool) {
	o := expiry.Origin{Actions: m.Actions, Tool: tool, Server: c.tools[tool]}
	if p.Result != nil && len(p.Result.Actions) > 0 {
		o.Actions = p.Result.Actions
	}
	own := o.Citing(c.policies)
	chars := conversation.ValueOr(own.ThresholdChars, conversation.ValueOr(c.policy.ThresholdChars, conversation.DefaultThresholdChars))
	return int(chars), conversation.ValueOr(own.On, conversation.ValueOr(c.policy.On, false))
}

// read reads the slots and the calls needed for citing.
func (c *citationPlan) read(ctx context.Context, key store.Key, snap *store.Snapshot, messages []conversation.Message) error {
	q := store.Query{Incarnation: snap.Head.Incarnation, Slots: []string{contents.LastSourceSlot}}
	for i := range c.parts {
		x := &c.parts[i]
		if x.large() {
			q.Slots = append(q.Slots, contents.SharedSlot(x.sum))
		}
		if run := messages[x.message].RunID; c.release && run != "" {
			q.Slots = append(q.Slots, contents.RunSlot(run))
		}
		if x.call >= 0 {
			q.Ranges = append(q.Ranges, store.MessageRange{Range: conversation.Range{First: x.call, End: x.call + 1}})
		}
	}
	read := &store.Snapshot{}
	if snap.Head.Version > 0 { // nothing is stored yet of a conversation that the append creates
		var err error
		if read, err = c.service.Store.Read(ctx, key, q); err != nil {
			return err
		}
	}
	maps.Copy(c.slots.Read, read.Slots)
	var err error
	if c.last, err = contents.LastSource(c.slots.Read); err != nil {
		return err
	}
	for i := range c.parts {
		x := &c.parts[i]
		if x.call >= 0 {
			x.args = argumentsIn(read.Messages, x.call, x.ordinal)
		}
	}
	return nil
}

// word writes the citations. It drops parts whose citation would weigh as much as the part itself.
func (c *citationPlan) word(first int32, messages []conversation.Message) {
	lighter := c.parts[:0]
	for _, x := range c.parts {
		p := &messages[x.message].Parts[x.part]
		x.number = c.last + 1
		x.record = c.describe(first+int32(x.message), messages[x.message].RunID, &x)
		if x.shown = c.show(&x, p); x.shown.Tokens < p.Tokens {
			c.last++
			lighter = append(lighter, x)
		}
	}
	c.parts = lighter
}

func (x *citedPart) large() bool { return x.whole != nil && len(x.whole.Inline) >= contents.ChunkFrom }

func argumentsIn(messages []conversation.Message, index, ordinal int32) string {
	for i := range messages {
		if messages[i].Index != index {
			continue
		}
		for _, p := range messages[i].Parts {
			if p.Call != nil && p.Call.Ordinal == ordinal {
				return p.Call.Arguments.Inline
			}
		}
	}
	return ""
}

// cite adds the edits and the source records of the citations to an append's change.
func (a *attempt) cite(ctx context.Context, c *store.Change) error {
	now := c.Head.UpdateTime
	for i := range a.cited.parts {
		if err := a.citeOne(ctx, c, &a.cited.parts[i], now); err != nil {
			return err
		}
	}
	if len(a.cited.parts) > 0 {
		a.cited.slots.Changed[contents.LastSourceSlot] = strconv.AppendInt(nil, a.cited.last, 10)
	}
	a.cited.slots.Apply(c)
	return nil
}

func (a *attempt) citeOne(ctx context.Context, c *store.Change, x *citedPart, now time.Time) error {
	m, slots := &a.staging.messages[x.message], a.cited.slots
	x.record.Accessed = now.UnixMilli()
	if r := m.Parts[x.part].Result; r != nil { // the ordinal of the call it answers is known now that the message has its place
		x.shown.Result.Ordinal = r.Ordinal
	}
	if ref := contents.WholeOf(&m.Parts[x.part]).Ref; x.large() && ref != nil { // without Ref, nothing was staged: this is a dry run
		if err := slots.Share(x.sum, ref.ID); err != nil {
			return err
		}
	}
	if a.cited.release && m.RunID != "" {
		due, err := slots.Join(m.RunID, x.number, now)
		if err != nil {
			return err
		}
		x.record.OfRun = !due.IsZero() // if the run is over already, the message keeps its original
		c.Head.NextDue = txn.Earliest(c.Head.NextDue, due)
	}
	if err := slots.Set(contents.SourceSlot(x.number), x.record.Encode()); err != nil {
		return err
	}
	if _, embedded := a.embedded[x.blockAt]; embedded { // shown holds images that no message has
		var err error
		if x.shown, err = a.staging.stageShown(ctx, x.shown); err != nil {
			return err
		}
	}
	txn.AddEdit(c, conversation.Edit{
		Kind: conversation.EditParts, Range: conversation.Range{First: m.Index, End: m.Index + 1}, Reason: conversation.ReasonOverCitationThreshold,
		Parts:  []conversation.PartEdit{{Part: int32(x.part), Level: conversation.Cited, Shown: x.shown}},
		Before: int64(m.Parts[x.part].Tokens), After: int64(x.shown.Tokens),
	})
	return nil
}

// show returns what the view shows for a cited part.
func (c *citationPlan) show(x *citedPart, p *conversation.Part) conversation.Part {
	whole := p
	if x.shown.Kind == p.Kind { // with lines and images in place of the bytes it holds
		whole = &x.shown
	}
	text, cited := contents.MakeCitation(x.record, x.words, true, conversation.ExpandCall(x.record.Message), contents.CountWith(c.counter.Counter))
	var out conversation.Part
	if p.Kind == conversation.PartText {
		out = conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: text}}
	} else {
		out = compaction.WithText(p.Result, text)
		keepMedia(out.Result, whole.Result, text)
	}
	out.Citation = cited
	c.counter.Media = mediaWeight(whole, c.counter)
	c.counter.Part(&out)
	return out
}

// keepMedia keeps the media of a result next to the citation of its text.
func keepMedia(shown, whole *conversation.ToolResult, text string) {
	for _, p := range whole.Parts {
		if p.Media == nil {
			continue
		}
		if shown.Output != conversation.OutputParts {
			shown.Output, shown.Text = conversation.OutputParts, conversation.Content{}
			shown.Parts = []conversation.ResultPart{{Text: conversation.Content{Inline: text}}}
		}
		shown.Parts = append(shown.Parts, p)
	}
}

// mediaWeight is the weight that one medium of a result was counted with.
func mediaWeight(p *conversation.Part, s placement.Scale) int32 {
	if p.Result == nil {
		return 0
	}
	media, words := int32(0), int32(0)
	for i := range p.Result.Parts {
		if p.Result.Parts[i].Media != nil {
			media++
			continue
		}
		n, _ := s.Counter.Count(p.Result.Parts[i].Text.Inline)
		words += int32(n)
	}
	if media == 0 {
		return 0
	}
	return (p.Tokens - words) / media
}

// enteringEdits returns the edits that were committed together with the messages, by which they entered the view.
func (as *Service) enteringEdits(ctx context.Context, key store.Key, of *store.Snapshot) ([]conversation.Edit, error) {
	if len(of.Messages) == 0 || of.Head.EditSeq == 0 {
		return nil, nil
	}
	at := conversation.Range{First: of.Messages[0].Index, End: of.Messages[len(of.Messages)-1].Index + 1}
	snap, err := as.Store.Read(ctx, key, store.Query{
		Incarnation: of.Head.Incarnation, Edits: &store.EditRange{Upto: of.Head.EditSeq, Of: []conversation.Range{at}},
	})
	if err != nil {
		return nil, txn.Failure(err)
	}
	var out []conversation.Edit
	for i := range snap.Edits {
		if e := &snap.Edits[i]; e.Kind == conversation.EditParts &&
			(e.Reason == conversation.ReasonOverCitationThreshold || e.Reason == conversation.ReasonBytesReplaced) {
			out = append(out, *e)
		}
	}
	return out, nil
}

// noteRecalled adds to source records which of the new messages hold text recalled from them.
func (a *attempt) noteRecalled(ctx context.Context, snap *store.Snapshot) error {
	recalled := recalledIn(a.request.Messages)
	if len(recalled) == 0 || snap.Head.Version == 0 {
		return nil
	}
	slots, names := a.cited.slots, make([]string, 0, len(recalled))
	for handle := range recalled {
		n, _ := contents.NumberOf(handle)
		names = append(names, contents.SourceSlot(n))
	}
	if err := a.service.Contents.ReadSlots(ctx, a.request.Key, snap.Head.Incarnation, slots, names...); err != nil {
		return err
	}
	for handle, i := range recalled {
		n, _ := contents.NumberOf(handle)
		value := slots.Get(contents.SourceSlot(n))
		if value == nil {
			continue
		}
		r, err := contents.ParseRecord(value)
		if err != nil {
			return err
		}
		if r.Handle != handle {
			continue
		}
		r.AddCitation(snap.Head.Messages + int32(i))
		if err := slots.Set(contents.SourceSlot(n), r.Encode()); err != nil {
			return err
		}
	}
	return nil
}

// recalledIn maps each content that results of messages were recalled from to the first such message.
func recalledIn(messages []conversation.Message) map[string]int {
	out := map[string]int{}
	for i := range messages {
		for j := range messages[i].Parts {
			r := messages[i].Parts[j].Result
			if r == nil || r.Recalled == nil {
				continue
			}
			if _, ok := contents.NumberOf(r.Recalled.ContentID); !ok {
				continue
			}
			if _, known := out[r.Recalled.ContentID]; !known {
				out[r.Recalled.ContentID] = i
			}
		}
	}
	return out
}
