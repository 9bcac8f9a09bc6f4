package appends

import (
	"context"
	"maps"

	"github.com/palimpsest-context/palimpsest/pkg/citations"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/contents"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/placement"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/toolcalls"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/txn"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// recallDetection finds the parts of an append that were recalled, where the caller does not say so (behaviour §9). They must not be
// cited: an agent that gets a citation for what it has just recalled would recall it again without end.
type recallDetection struct {
	appending *attempt
	tools     conversation.RecallTools
	calls     placement.Answers
	sources   map[string]*contents.Record // by handle; nil for a handle that the conversation does not have

	candidates []recallCandidate
	citations  map[blockAt]bool // parts that are citations of this conversation
}

// recallCandidate is a part that may have been recalled.
type recallCandidate struct {
	at   blockAt
	call int32  // index of the recorded message that holds the call's arguments; -1 if the arguments are in the request
	args string // arguments of the call of a recall tool
	text string // a text that looks like a citation; empty if it does not
}

// recognize records for each result of an append which content it was recalled from.
func (a *attempt) recognize(ctx context.Context, snap *store.Snapshot, calls placement.Answers) (*recallDetection, error) {
	r := &recallDetection{
		appending: a, tools: snap.Info.Policy.Or(a.service.Defaults).RecallTools(), calls: calls,
		sources: map[string]*contents.Record{}, citations: map[blockAt]bool{},
	}
	for i := range a.request.Messages {
		for j := range a.request.Messages[i].Parts {
			r.consider(blockAt{i, j})
		}
	}
	if len(r.candidates) == 0 || snap.Head.Version == 0 {
		return r, nil
	}
	if err := r.read(ctx, snap.Head.Incarnation); err != nil {
		return nil, err
	}
	for i := range r.candidates {
		r.settle(&r.candidates[i], snap.Head.Messages)
	}
	return r, nil
}

func (r *recallDetection) part(at blockAt) *conversation.Part {
	return &r.appending.request.Messages[at.message].Parts[at.part]
}

// consider adds a part to the candidates if it may have been recalled.
func (r *recallDetection) consider(at blockAt) {
	p := r.part(at)
	c := recallCandidate{at: at, call: -1}
	switch {
	case p.Kind == conversation.PartText:
		c.text = citations.InForm(p.Text.Inline)
	case p.Kind != conversation.PartToolResult || p.Result.Recalled != nil:
		return
	default:
		c.text = citations.InForm(p.Result.Words())
		if call, ok := r.calls[p.Result]; ok && r.tools.Has(r.calls.Tool(p.Result)) {
			c.call, c.args = call.Message, call.Arguments
		}
	}
	if c.text != "" || c.call >= 0 || c.args != "" {
		r.candidates = append(r.candidates, c)
	}
}

// read reads the recorded calls, and the source records named by arguments and citations.
func (r *recallDetection) read(ctx context.Context, incarnation conversation.ID) error {
	key, as := r.appending.request.Key, r.appending.service
	q := store.Query{Incarnation: incarnation}
	for _, c := range r.candidates {
		if c.call >= 0 {
			q.Ranges = append(q.Ranges, store.MessageRange{Range: conversation.Range{First: c.call, End: c.call + 1}})
		}
	}
	if len(q.Ranges) > 0 {
		snap, err := as.Store.Read(ctx, key, q)
		if err != nil {
			return txn.Failure(err)
		}
		for i := range r.candidates {
			if c := &r.candidates[i]; c.call >= 0 {
				c.args = argumentsIn(snap.Messages, c.call, r.calls[r.part(c.at).Result].Ordinal)
			}
		}
	}
	for _, c := range r.candidates {
		for _, handle := range []string{citations.HandleOf(c.text), argumentsOf(c.args).ContentID} {
			r.sources[handle] = nil
		}
	}
	return r.readSources(ctx, incarnation)
}

func (r *recallDetection) readSources(ctx context.Context, incarnation conversation.ID) error {
	var names []string
	for handle := range maps.Keys(r.sources) {
		if n, ok := contents.NumberOf(handle); ok {
			names = append(names, contents.SourceSlot(n))
		}
	}
	if len(names) == 0 {
		return nil
	}
	snap, err := r.appending.service.Store.Read(ctx, r.appending.request.Key, store.Query{Incarnation: incarnation, Slots: names})
	if err != nil {
		return txn.Failure(err)
	}
	for _, name := range names {
		if snap.Slots[name] == nil {
			continue
		}
		s, err := contents.ParseRecord(snap.Slots[name])
		if err != nil {
			return err
		}
		if _, asked := r.sources[s.Handle]; asked {
			r.sources[s.Handle] = s
		}
	}
	return nil
}

// argumentsOf parses the arguments of any recall tool. They are empty if they cannot be parsed.
func argumentsOf(text string) *toolcalls.Arguments {
	if args, err := toolcalls.Parse("", text); err == nil {
		return args
	}
	return &toolcalls.Arguments{}
}

// settle records what a part was recalled from, if the conversation has that content.
func (r *recallDetection) settle(c *recallCandidate, messages int32) {
	p, args := r.part(c.at), argumentsOf(c.args)
	var from *conversation.Recalled
	switch s := r.sources[citations.HandleOf(c.text)]; {
	case p.Result != nil && r.tools.Meant(r.calls.Tool(p.Result)) == conversation.ToolSearchMemory:
		from = &conversation.Recalled{Memories: true}
	case s != nil && citations.Cites(c.text, s.CitationSource()):
		from, r.citations[c.at] = &conversation.Recalled{ContentID: s.Handle}, true
	case r.sources[args.ContentID] != nil:
		from = &conversation.Recalled{ContentID: args.ContentID}
	case args.Index != nil && *args.Index < messages:
		from = &conversation.Recalled{Index: *args.Index}
	}
	if p.Result != nil {
		p.Result.Recalled = from
	}
}

// neverCites reports whether a part is never cited: it is a citation itself, or the result of a recall tool.
func (r *recallDetection) neverCites(at blockAt) bool {
	p := r.part(at)
	return r.citations[at] || p.Result != nil && (p.Result.Recalled != nil || r.tools.Has(r.calls.Tool(p.Result)))
}
