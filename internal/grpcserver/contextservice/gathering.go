package contextservice

import (
	"slices"
	"strconv"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/convert"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/schema"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// gathering puts together what a request appends: its messages, and those that providers' JSON becomes. What a whole list adds to the record
// is known later.
type gathering struct {
	service *Service
	out     engine.AppendRequest
	leftOut int // calls of a reply that was cut off
}

// appendable is an item of what is appended, with what comes with it.
type appendable interface {
	schema.Appendable
	schema.Extended
}

// notInBatch says why an item is refused.
const notInBatch = "must not be a HISTORY, which stands alone; an array of messages has the shape MESSAGE"

func (g *gathering) addItems(within string, items []*pb.BatchAppendItem) error {
	for i, item := range items {
		at := within + "items[" + strconv.Itoa(i) + "]."
		if err := add(g, at, item); err != nil {
			return err
		}
		if g.out.History != nil {
			return rules.Violation(at+"provider_input.shape", notInBatch)
		}
	}
	return nil
}

// add takes one item, whose fields stand within a path.
func add[M appendable](g *gathering, within string, item M) error {
	if in := item.GetProviderInput(); in != nil {
		return g.read(within+"provider_input", in, fromOverride(item.GetExpirationOverride()))
	}
	g.put(convert.FromMessage(item.GetMessage()), fromExtra(item), within+"message")
	return nil
}

func (g *gathering) put(m conversation.Message, extra engine.AppendExtra, field string) {
	g.out.Messages = append(g.out.Messages, m)
	g.out.Extras = append(g.out.Extras, extra)
	g.out.Fields = append(g.out.Fields, field)
}

// read takes what a provider's JSON becomes.
func (g *gathering) read(field string, in *pb.ProviderInput, override *conversation.ExpirationOverride) error {
	read, err := g.service.engine.ReadInput(conversation.Format(in.GetFormat()), &engine.ReadRequest{
		JSON: in.GetJson(), Shape: engine.InputShape(in.GetShape()), Model: in.GetModel(), Aborted: in.GetAborted(),
		Tail: in.GetHistory().GetKnownCount() > 0,
	})
	if err != nil {
		return inJSON(field+".json", err)
	}
	g.leftOut += read.LeftOut
	label(read, in)
	if err := g.service.checkRead(field, read); err != nil {
		return err
	}
	if read.Shape == engine.ShapeHistory {
		g.out.History = toEngineHistory(read, in.GetHistory())
		g.out.History.Override = override
		return nil
	}
	for i := range read.Messages {
		g.put(read.Messages[i].Message, engine.AppendExtra{Override: override}, field+".messages["+strconv.Itoa(i)+"]")
	}
	if read.Usage != nil {
		g.out.Usage = read.Usage
	}
	return nil
}

// label gives all messages that were read what the request says of them. One of which nothing is left is none.
func label(read *engine.Input, in *pb.ProviderInput) {
	kept := read.Messages[:0]
	for i := range read.Messages {
		m := read.Messages[i]
		own := m.Tags // the reader says which reply was cut off or paused
		m.RunID, m.StepID, m.Tags = in.GetRunId(), in.GetStepId(), slices.Clone(in.GetTags())
		for _, tag := range own {
			if !slices.Contains(m.Tags, tag) {
				m.Tags = append(m.Tags, tag)
			}
		}
		if len(m.Parts) > 0 {
			kept = append(kept, m)
		}
	}
	read.Messages = kept
}

// checkRead holds messages that were read to the rules of those that are sent.
func (s *Service) checkRead(field string, read *engine.Input) error {
	if len(read.Messages) > schema.MaxReadMessages {
		return rules.Violation(field+".json", "must become at most %d messages", schema.MaxReadMessages)
	}
	c := &rules.Checker{}
	c.Enter(field + ".messages")
	for i := range read.Messages {
		c.Element(i)
		s.messages.Check(c, identified(convert.ToMessage(&read.Messages[i].Message)))
		c.Leave()
	}
	return c.Err()
}

// identified gives results that name their tool alone an id to check: they answer the first open call of the tool.
func identified(m *pb.Message) *pb.Message {
	for _, p := range m.GetParts() {
		if r := p.GetToolResult(); r.GetCallId() == "" && r.GetName() != "" {
			r.CallId = r.GetName()
		}
	}
	return m
}

// inJSON puts the violations of an error into a field that holds JSON.
func inJSON(field string, err error) error {
	domain, ok := err.(*conversation.Error) //nolint:errorlint // a reader's own error, which nobody has wrapped
	if !ok {
		return err
	}
	told := *domain
	told.Violations = slices.Clone(domain.Violations)
	for i := range told.Violations {
		told.Violations[i].Field = joinPath(field, told.Violations[i].Field)
	}
	return &told
}

func joinPath(field, below string) string {
	switch {
	case below == "", below == "json": // all of it
		return field
	case below[0] == '[':
		return field + below
	default:
		return field + "." + below
	}
}

func toEngineHistory(read *engine.Input, o *pb.HistoryOptions) *engine.History {
	return &engine.History{
		Input: read, KnownCount: o.GetKnownCount(), KnownSHA256: o.GetKnownSha256(), Divergence: engine.OnDivergence(o.GetOnDivergence()),
		Cut: engine.OnCut(o.GetOnCut()), ByPlace: o.GetByPlace(),
	}
}
