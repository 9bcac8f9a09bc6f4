package badinput

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// drawn fills requests with anything that their fields can hold.
type drawn struct {
	*rand.Rand
	texts []string            // that strings are made of
	apt   map[string][]string // those that a field of a name may mean
}

// played is the conversation that drawn requests are about.
const played = "played"

func newDrawn(seed uint64, h *handles) *drawn {
	there := []string{h.own, h.list, h.text, h.again, h.binary, h.empty, h.foreign}
	texts := append(slices.Clone(there), "", played, h.foreignOwn, h.gone, madeUp, keptRun, "over", "used", "harbour", "港口", "{}", "[", "text/html", secret, "\x00", "a\nb", "\u202e", "AAAA",
		strings.Repeat("x", 257), strings.Repeat("long ", 2000), strings.Repeat("a", 64))
	return &drawn{rand.New(rand.NewPCG(seed, 0)), texts, map[string][]string{
		"content_id": there, "run_id": {"", keptRun, keptRun, "new"}, "search_terms": {"harbour", "港口", "die Brücke", "\x00", foreign}, "query": {"harbour", "Read it", foreign},
		"page_token": {""}, "request_id": {"", "a", "b"}, "metadata_json": {"", "{}", `{"a":1}`}, "sha256": {"", strings.Repeat("a", 64)},
		"name": {"retrieve_content", "search_conversation", "expand_message"}, "call_id": {"a"},
		"arguments_json": {"", `{"query":"harbour"}`, `{"id":2}`, `{"content_id":"` + h.own + `","unit":"lines","start":1,"end":3}`, `{"search_terms":["` + foreign + `"]}`, `{"content_id":"` + h.foreign + `"}`},
	}}
}

// fill sets some of the fields of a message, and some of the fields of those.
func (d *drawn) fill(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if d.IntN(3) == 0 || depth > 4 && f.Message() != nil {
			continue
		}
		switch {
		case f.IsList():
			list := m.Mutable(f).List()
			for range d.IntN(4) {
				list.Append(d.value(f, list.NewElement, depth))
			}
		case !f.IsMap():
			m.Set(f, d.value(f, func() protoreflect.Value { return m.NewField(f) }, depth))
		}
	}
}

func (d *drawn) value(f protoreflect.FieldDescriptor, empty func() protoreflect.Value, depth int) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.MessageKind:
		v := empty()
		d.fill(v.Message(), depth+1)
		return v
	case protoreflect.StringKind:
		texts := d.texts
		if apt := d.apt[string(f.Name())]; apt != nil && d.IntN(8) > 0 {
			texts = apt
		}
		return protoreflect.ValueOfString(texts[d.IntN(len(texts))])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(d.texts[d.IntN(len(d.texts))]))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(d.IntN(3) > 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(d.number()))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(d.number()))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(d.number())
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64([]float64{0, -1, math.NaN(), math.Inf(1), 1e300}[d.IntN(5)])
	default:
		panic(fmt.Sprintf("no values are drawn of %s", f.Kind()))
	}
}

// number is mostly one that may be meant, and sometimes one at a limit.
func (d *drawn) number() int64 {
	if d.IntN(3) > 0 {
		return d.Int64N(12)
	}
	edges := []int64{-1, math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, 100, 101, 500, 501, 1000, 1001, farthest, farthest + 1, 100_000_000}
	return edges[d.IntN(len(edges))]
}

// anyContent draws a request about contents. Half of them are of the conversation that is played with, and of a handle of it.
func (d *drawn) anyContent(id string) any {
	if d.IntN(7) == 0 {
		pieces := make([]*pb.StoreContentRequest, 1+d.IntN(4))
		for i := range pieces {
			pieces[i] = &pb.StoreContentRequest{}
			d.fill(pieces[i].ProtoReflect(), 0)
		}
		if d.IntN(2) == 0 {
			pieces[0] = storing(&pb.StoreContentHeader{})
			d.fill(pieces[0].GetHeader().ProtoReflect(), 0)
			pieces[0].GetHeader().ConversationId = id
		}
		return pieces
	}
	kinds := []proto.Message{
		&pb.RetrieveContentRequest{}, &pb.RetrieveContentRequest{}, &pb.StreamContentRequest{}, &pb.SearchContentRequest{}, &pb.SearchMessagesRequest{}, &pb.ListSourcesRequest{},
		&pb.EndRunRequest{}, &pb.AnswerToolCallRequest{},
	}
	request := kinds[d.IntN(len(kinds))]
	m := request.ProtoReflect()
	d.fill(m, 0)
	if d.IntN(4) > 0 {
		m.Set(m.Descriptor().Fields().ByName("conversation_id"), protoreflect.ValueOfString(id))
	}
	return request
}

// anyRequests is how many requests are drawn.
const anyRequests = 1500

// TestContents_AnyRequest_IsAnsweredOrRefused draws requests. Whatever comes of one, it is an answer that holds nothing of others, or
// a refusal with a reason that changes nothing.
func TestContents_AnyRequest_IsAnsweredOrRefused(t *testing.T) {
	w := newWorld(t)
	must[*pb.Conversation](t)(w.Import(w.ctx, played, w.before[citedExport], 1<<20))
	d := newDrawn(proptest.Seed(t), &w.handles)
	refusals, answers, before := map[string]int{}, 0, w.revision(t, played)
	for i := range anyRequests {
		request := d.anyContent(played)
		reply, err := w.ask(t, request)
		if err == nil {
			answers, before = answers+1, w.revision(t, played)
			w.ownWords(t, reply)
			continue
		}
		refusals[fmt.Sprintf("%T %s", request, process.Reason(err))]++
		refusedInOrder(t, err)
		if after := w.revision(t, played); after != before {
			t.Errorf("a refused request changed the conversation: revision %d became %d: %v", before, after, err)
		}
		if t.Failed() {
			t.Fatalf("request %d: %v", i, request)
		}
	}
	t.Logf("%d answered, refused %v", answers, refusals)
	if answers < anyRequests/20 || len(refusals) < 15 {
		t.Errorf("of %d requests %d were answered, and refused for %d reasons: they say little", anyRequests, answers, len(refusals))
	}
	w.undisturbed(t)
	w.quiet(t)
}

// ownWords demands that an answer holds nothing of another conversation. What was looked for, excerpts say again.
func (w *world) ownWords(t *testing.T, reply proto.Message) {
	t.Helper()
	wire, err := proto.Marshal(reply)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(wire, []byte(foreign)) {
		t.Errorf("the answer holds another conversation's text: %v", reply)
	}
}

// undisturbed compares what no request was about.
func (w *world) undisturbed(t *testing.T) {
	t.Helper()
	for _, what := range []string{citedExport, agedExport, "ExportConversation", "ListSources"} {
		if now := w.look(t)[what]; !bytes.Equal(now, w.before[what]) {
			t.Errorf("%s answers differently than before", what)
		}
	}
}

func (w *world) revision(t *testing.T, id string) int64 {
	t.Helper()
	return must[*pb.GetConversationResponse](t)(w.Conversations.GetConversation(w.ctx, &pb.GetConversationRequest{ConversationId: id})).GetConversation().GetRevision()
}

// refusedInOrder demands of an error what every refusal must have.
func refusedInOrder(t *testing.T, err error) {
	t.Helper()
	answer := status.Convert(err)
	switch answer.Code() {
	case codes.Internal, codes.Unknown, codes.DataLoss, codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		t.Errorf("answered %v", err)
	}
	reason, fields := process.Reason(err), violated(answer)
	if reason == "" || domain(answer) != "palimpsest.dev" || (reason == "INVALID_FIELD") != (len(fields) > 0) || slices.Contains(fields, "") {
		t.Errorf("answered %v, reason %q, fields %q", err, reason, fields)
	}
	silent(t, "the answer", answer)
	discreet(t, err)
}
