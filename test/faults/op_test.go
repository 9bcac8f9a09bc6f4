package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

type kind int

const (
	single     kind = iota // one small message
	large                  // one message with content that is stored as chunks
	batch                  // several messages, large ones among them
	building               // a build
	mortal                 // a batch of what expires
	added                  // a message with what plugins add to it
	restoring              // an expansion that puts a unit back
	compacting             // a compaction that is asked for
	rewinding              // what takes messages back
	storing                // a content that the caller holds
	citing                 // a call and its result, which is cited where the policy says so
	ending                 // the end of a run
)

// op is one call under a request id. It is made from its seed each time, so that a retry is the same request and nothing that
// was sent needs to be kept.
type op struct {
	kind         kind
	conversation string
	request      string
	seed         uint64
	target       int32  // of restoring and rewinding
	tight        bool   // builds have little room, so that they summarize
	run          string // of storing, citing and ending

	acked bool
	// refused says that a retry was told that it cannot be answered any more: what it asks for is erased, or in view.
	refused bool
	// begun and done say in which order calls were made and answered, by the ledger's count.
	begun, done int64
	outcome
}

// outcome is what a call was answered.
type outcome struct {
	first     int32  // index of the first message
	manifest  string // of a build
	sum       string // SHA-256 of what was built
	revision  int64  // of a restoration, a compaction, a rewind
	handles   string // of contents, in order
	duplicate bool
}

// same says whether a retry was told what the call was told.
func (o outcome) same(other outcome) bool {
	return o.first == other.first && o.manifest == other.manifest && o.sum == other.sum && o.revision == other.revision && o.handles == other.handles
}

// messages are what the op appends, as they must come back.
func (o *op) messages() []*pb.Message {
	out := o.own()
	if o.kind == added {
		out[0] = laid(out[0], o.additions())
	}
	return out
}

// own are the messages as they are sent.
func (o *op) own() []*pb.Message {
	r := rand.New(rand.NewPCG(o.seed, 1))
	var out []*pb.Message
	switch o.kind {
	case single:
		out = []*pb.Message{said(pb.Role_ROLE_USER, r, 20+r.IntN(2000))}
	case added:
		out = []*pb.Message{said(pb.Role_ROLE_USER, r, 20+r.IntN(200))}
	case large:
		out = []*pb.Message{picture(r)}
	case mortal:
		out = passing(r, o.request)
	case citing:
		out = searched(r, o.request, o.run)
	case batch:
		out = append(out, said(pb.Role_ROLE_USER, r, 100))
		for i := range 1 + r.IntN(3) {
			length := 50 + r.IntN(500)
			if r.IntN(4) == 0 {
				length = 33_000 + r.IntN(70_000)
			}
			out = append(out, exchange(r, fmt.Sprintf("%s-%d", o.request, i), length)...)
		}
	}
	for i, m := range out {
		m.Id = fmt.Sprintf("%s-%d", o.request, i)
	}
	return out
}

// do makes the call and says how it was answered.
func (o *op) do(ctx context.Context, c *process.Client) (outcome, error) {
	switch o.kind {
	case single, large, added:
		return o.append(ctx, c)
	case batch, mortal, citing:
		return o.appendBatch(ctx, c)
	case storing:
		return o.store(ctx, c)
	case ending:
		return o.end(ctx, c)
	case restoring:
		return o.restore(ctx, c)
	case compacting:
		return o.compact(ctx, c)
	case rewinding:
		return o.rewind(ctx, c)
	default:
		return o.build(ctx, c)
	}
}

func (o *op) append(ctx context.Context, c *process.Client) (outcome, error) {
	reply, err := c.Context.AppendMessage(ctx, &pb.AppendMessageRequest{
		ConversationId: o.conversation, RequestId: o.request, Message: o.own()[0], AdditionalContent: o.additions(),
	})
	return outcome{first: reply.GetReceipt().GetIndex(), duplicate: reply.GetReceipt().GetDuplicate()}, err
}

func (o *op) appendBatch(ctx context.Context, c *process.Client) (outcome, error) {
	request := &pb.BatchAppendMessagesRequest{ConversationId: o.conversation, RequestId: o.request}
	for _, m := range o.messages() {
		request.Items = append(request.Items, &pb.BatchAppendItem{Message: m})
	}
	reply, err := c.Context.BatchAppendMessages(ctx, request)
	if err != nil {
		return outcome{}, err
	}
	return ofReceipts(reply.GetReceipts(), len(request.GetItems()))
}

// ofReceipts demands one receipt an item, with indices that follow each other.
func ofReceipts(receipts []*pb.Receipt, items int) (outcome, error) {
	if len(receipts) != items {
		return outcome{}, fmt.Errorf("%d receipts for %d items", len(receipts), items)
	}
	for i, r := range receipts {
		if r.GetIndex() != receipts[0].GetIndex()+int32(i) {
			return outcome{}, fmt.Errorf("a batch has index %d at item %d and began at %d", r.GetIndex(), i, receipts[0].GetIndex())
		}
	}
	return outcome{first: receipts[0].GetIndex(), handles: handlesOf(receipts), duplicate: receipts[0].GetDuplicate()}, nil
}

func handlesOf(receipts []*pb.Receipt) string {
	var out []string
	for _, r := range receipts {
		for _, c := range r.GetCitations() {
			out = append(out, c.GetContentId())
		}
	}
	return strings.Join(out, " ")
}

func (o *op) build(ctx context.Context, c *process.Client) (outcome, error) {
	r := rand.New(rand.NewPCG(o.seed, 2))
	reply, err := c.Context.BuildContext(ctx, &pb.BuildContextRequest{
		ConversationId: o.conversation, RequestId: o.request, SameTurn: r.IntN(3) == 0,
		Format: pb.ContextFormat(1 + r.IntN(5)),
		Budget: &pb.Budget{MaxContextTokens: new(o.budget(r))},
	})
	if err != nil {
		return outcome{}, err
	}
	sum, err := process.Sum(reply.GetRendered())
	return outcome{manifest: reply.GetManifestId(), sum: sum, duplicate: reply.GetDuplicate()}, err
}

func (o *op) appends() bool { return len(o.messages()) > 0 }

// tightBudget is what conversations have that summarize all the time.
const tightBudget = 10_000

func (o *op) budget(r *rand.Rand) int32 {
	n := []int32{40_000, 100_000}[r.IntN(2)]
	if o.tight {
		return tightBudget
	}
	return n
}
