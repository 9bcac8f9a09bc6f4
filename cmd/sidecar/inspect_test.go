package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// converse plays a conversation in which an agent looks an order up twice: what the tool says is shortened after one turn.
func converse(ts *testscript.TestScript, _ bool, args []string) {
	conn := dialSidecar(ts, args[0])
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	turns, length := int32(1), int32(40)
	_, err := pb.NewConversationServiceClient(conn).CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: args[1], Title: "返金 🧾 a refund", ActorId: "ann",
		Policy: &pb.Policy{
			Rewrite: &pb.RewritePolicy{Mode: pb.RewriteMode_REWRITE_MODE_EAGER},
			Expiration: &pb.ExpirationPolicy{Results: &pb.Expiration{
				Turns: &turns, Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT, CompactMode: pb.CompactMode_COMPACT_MODE_FIRST_N_CHARS, CompactLength: &length,
			}},
		},
	}})
	ts.Check(err)
	loop := pb.NewContextServiceClient(conn)
	for _, m := range []*pb.Message{
		{Role: pb.Role_ROLE_SYSTEM, Parts: []*pb.Part{words("You help customers. Never promise a refund.")}},
		{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{words("注文1881はどこですか。 Where is my order? 🧾")}, Tags: []string{"asked"}},
		nil,
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{asks("find_order", `{"order":1881}`)}},
		{Role: pb.Role_ROLE_TOOL, Id: "found", Parts: []*pb.Part{answers("find_order", "\x1b[31morder 1881\x1b[0m\n"+manyLines("shipped"))}},
		nil,
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{words("It was shipped."), asks("find_parcel", `{"order":1881}`)}},
		{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{answers("find_parcel", manyLines("on its way"))}},
		nil,
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{words("It is on its way.")}},
		{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{words("Thank you.")}},
		nil,
	} {
		if m == nil {
			_, err = loop.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: args[1], Format: pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC, Model: "model-1"})
		} else {
			_, err = loop.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: args[1], Message: m})
		}
		ts.Check(err)
	}
}

// cite plays a conversation whose one result is long, and cited.
func cite(ts *testscript.TestScript, _ bool, args []string) {
	conn := dialSidecar(ts, args[0])
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	on := true
	_, err := pb.NewConversationServiceClient(conn).CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id: args[1], Policy: &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: &on}},
	}})
	ts.Check(err)
	var log strings.Builder
	for day := range 365 {
		fmt.Fprintf(&log, "day %d: nothing to report\n", day+1)
	}
	log.WriteString("\x1b[31mday 366: the parcel was found in Zürich\x1b[0m\n")
	loop := pb.NewContextServiceClient(conn)
	for _, m := range []*pb.Message{
		{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{words("Where is the parcel?")}},
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{asks("read_log", `{"url":"https://example.org/log"}`)}},
		{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{answers("read_log", log.String())}},
	} {
		_, err := loop.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: args[1], Message: m})
		ts.Check(err)
	}
	_, err = loop.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: args[1], Format: pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC})
	ts.Check(err)
}

func words(text string) *pb.Part { return &pb.Part{Content: &pb.Part_Text{Text: text}} }

func asks(tool, arguments string) *pb.Part {
	return &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: "call-" + tool, Name: tool, ArgumentsJson: arguments}}}
}

func answers(tool, text string) *pb.Part {
	return &pb.Part{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: "call-" + tool, Name: tool, Output: &pb.ToolResult_Text{Text: text}}}}
}

func manyLines(state string) string {
	var b strings.Builder
	for day := range 30 {
		fmt.Fprintf(&b, "day %d: %s\n", day+1, state)
	}
	return b.String()
}
