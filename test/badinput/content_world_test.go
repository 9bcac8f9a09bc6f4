package badinput

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const (
	// filed stands in contents on record, and must stand in no error and no log line.
	filed = "f1led-w0rd"
	// foreign stands in another conversation's contents and messages, and must stand in no answer about any other.
	foreign = "f0reign-phr4se"
	// madeUp is a handle as the sidecar makes them, of no content.
	madeUp = "c1-aaaaaaaa"
	// neighbor is the conversation that has the foreign contents, and spent one whose contents are gone.
	neighbor, spent = "neighbor", "spent"
	// keptRun is the run of a content of the cited conversation.
	keptRun = "kept-run"
)

// handles are those of the contents there are.
type handles struct {
	own, list                  string // of results that were cited: a text, and JSON
	text, again, binary, empty string // that were stored
	foreign, foreignOwn, gone  string // of the other conversations
}

func storing(h *pb.StoreContentHeader) *pb.StoreContentRequest {
	return &pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Header{Header: h}}
}

func storedBytes(b []byte) *pb.StoreContentRequest {
	return &pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Chunk{Chunk: b}}
}

func full() *pb.RetrieveContentRequest_Full {
	return &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}}
}

func looking(terms ...string) *pb.ExcerptQuery { return &pb.ExcerptQuery{SearchTerms: terms} }

func answering(id, tool, arguments string) *pb.AnswerToolCallRequest {
	return &pb.AnswerToolCallRequest{ConversationId: id, ToolCall: &pb.ToolCall{CallId: "a", Name: tool, ArgumentsJson: arguments}}
}

// page is a text of some length with a word in it.
func page(word string) string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "Line %d tells of the harbour, die Brücke, 港口 und %s.\n", i, word)
	}
	return b.String()
}

// fill makes the conversations that have contents.
func (w *world) fill(t *testing.T) {
	t.Helper()
	on := &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: new(true)}}
	for _, id := range []string{cited, neighbor} {
		must[*pb.CreateConversationResponse](t)(w.Conversations.CreateConversation(w.ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: id, Policy: on}}))
	}
	list := "[" + strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"id":1,"name":%q},`, filed), 80), ",") + "]"
	h := &w.handles
	h.own = w.asked(t, cited, &pb.ToolResult{CallId: "k1", Output: &pb.ToolResult_Text{Text: page(filed)}})
	h.list = w.asked(t, cited, &pb.ToolResult{CallId: "k2", Output: &pb.ToolResult_Json{Json: list}})
	h.foreignOwn = w.asked(t, neighbor, &pb.ToolResult{CallId: "k1", Output: &pb.ToolResult_Text{Text: page(foreign)}})
	for _, c := range []struct {
		into    *string
		header  *pb.StoreContentHeader
		content string
	}{
		{&h.text, &pb.StoreContentHeader{ConversationId: cited, RequestId: "used", SourceUrl: "https://example.org/a"}, page(filed) + "the stored one"},
		{&h.again, &pb.StoreContentHeader{ConversationId: cited, RunId: keptRun}, page(filed) + "the stored one"},
		{&h.binary, &pb.StoreContentHeader{ConversationId: cited}, "\xff\x00\xfe" + strings.Repeat("\x00\xff", 500)},
		{&h.empty, &pb.StoreContentHeader{ConversationId: cited}, ""},
		{&h.foreign, &pb.StoreContentHeader{ConversationId: neighbor, RunId: keptRun}, page(foreign)},
		{&h.gone, &pb.StoreContentHeader{ConversationId: spent, RunId: "over"}, page(filed)},
	} {
		*c.into = must[*pb.StoreContentResponse](t)(w.StorePieces(w.ctx, storing(c.header), storedBytes([]byte(c.content)))).GetCitation().GetContentId()
	}
	must[*pb.EndRunResponse](t)(w.Contents.EndRun(w.ctx, &pb.EndRunRequest{ConversationId: spent, RunId: "over", RequestId: "used", Grace: durationpb.New(0)}))
}

// asked appends a call and its result, which is cited, and returns the handle.
func (w *world) asked(t *testing.T, id string, r *pb.ToolResult) string {
	t.Helper()
	reply := must[*pb.BatchAppendMessagesResponse](t)(w.Context.BatchAppendMessages(w.ctx, &pb.BatchAppendMessagesRequest{ConversationId: id, Items: []*pb.BatchAppendItem{
		{Message: user("Read it.")},
		{Message: &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{call(r.GetCallId(), "read")}}},
		{Message: &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: r}}}}},
	}}))
	return reply.GetReceipts()[2].GetCitations()[0].GetContentId()
}

// sendContent makes the calls about contents.
func (w *world) sendContent(t *testing.T, request any) error {
	t.Helper()
	_, err := w.ask(t, request)
	return err
}

// ask makes the calls about contents, and returns what was answered.
func (w *world) ask(t *testing.T, request any) (reply proto.Message, err error) {
	t.Helper()
	switch r := request.(type) {
	case []*pb.StoreContentRequest:
		reply, err = w.StorePieces(w.ctx, r...)
	case *pb.RetrieveContentRequest:
		reply, err = w.Contents.RetrieveContent(w.ctx, r)
	case *pb.StreamContentRequest:
		var all []byte
		all, err = w.Stream(w.ctx, r)
		reply = &pb.StreamContentResponse{Chunk: all}
	case *pb.SearchContentRequest:
		reply, err = w.Contents.SearchContent(w.ctx, r)
	case *pb.SearchMessagesRequest:
		reply, err = w.Conversations.SearchMessages(w.ctx, r)
	case *pb.ListSourcesRequest:
		reply, err = w.Contents.ListSources(w.ctx, r)
	case *pb.EndRunRequest:
		reply, err = w.Contents.EndRun(w.ctx, r)
	case *pb.AnswerToolCallRequest:
		reply, err = w.Context.AnswerToolCall(w.ctx, r)
	default:
		t.Fatalf("no RPC takes %T", request)
	}
	return reply, err
}
