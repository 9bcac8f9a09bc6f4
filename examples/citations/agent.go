package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const prompt = "You are terse. Large results are shown as citations: look up the passage that you need, and read whole contents rarely."

// agent is a loop around a model.
type agent struct {
	loop         pb.ContextServiceClient
	content      pb.ContentServiceClient
	record       pb.ConversationServiceClient
	conversation string
	run          string       // what is stored and said belongs to it
	tools        string       // definitions, as the provider takes them
	cited        *pb.Citation // the newest one that an append made
}

func newAgent(connection *grpc.ClientConn, tools string) *agent {
	return &agent{
		loop:         pb.NewContextServiceClient(connection),
		content:      pb.NewContentServiceClient(connection),
		record:       pb.NewConversationServiceClient(connection),
		conversation: "citations-" + rand.Text(),
		run:          "run-1",
		tools:        tools,
	}
}

// [policy]
// begin creates the conversation. Citations are off until a policy asks for them.
func (a *agent) begin(ctx context.Context) {
	enabled := true
	_, err := a.record.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{
		Id:     a.conversation,
		Policy: &pb.Policy{Citations: &pb.CitationsPolicy{Enabled: &enabled}},
	}})
	must(err)
}

// [/policy]
// [loop]
// converse calls the model until it calls no tool any more.
func (a *agent) converse(ctx context.Context, model model) {
	for {
		reply := model(a.build(ctx)) // your provider's SDK: the messages, and the tools beside them
		a.append(ctx, reply)
		calls := 0
		for _, part := range reply.GetParts() {
			if call := part.GetToolCall(); call != nil {
				a.append(ctx, toolMessage(a.answer(ctx, call)))
				calls++
			}
		}
		if calls == 0 {
			return
		}
	}
}

// answer answers a call: what the tools that recall return is the sidecar's to say, and is appended as it is.
func (a *agent) answer(ctx context.Context, call *pb.ToolCall) *pb.ToolResult {
	switch call.GetName() {
	case "expand_message", "retrieve_content", "search_conversation":
		reply, err := a.loop.AnswerToolCall(ctx, &pb.AnswerToolCallRequest{ConversationId: a.conversation, ToolCall: call})
		must(err)
		return reply.GetToolResult()
	default:
		return ownTool(call)
	}
}

// [/loop]
// build returns what the model should see: messages as its provider takes them, the system prompt first. The tools are beside them,
// and count.
func (a *agent) build(ctx context.Context) []message {
	built, err := a.loop.BuildContext(ctx, &pb.BuildContextRequest{
		ConversationId: a.conversation,
		Format:         pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT,
		FixedInput:     &pb.FixedInput{SystemPrompt: prompt, ToolsJson: a.tools, RenderSystem: true},
	})
	must(err)
	var messages []message
	must(json.Unmarshal(built.GetRendered().GetMessagesJson(), &messages))
	return messages
}

// append puts a message on record.
func (a *agent) append(ctx context.Context, m *pb.Message) {
	m.RunId = a.run
	appended, err := a.loop.AppendMessage(ctx, &pb.AppendMessageRequest{
		ConversationId: a.conversation,
		Message:        m,
		RequestId:      rand.Text(),
	})
	must(err)
	for _, citation := range appended.GetReceipt().GetCitations() {
		a.cited = citation
	}
}

func (a *agent) say(ctx context.Context, words string) {
	a.append(ctx, textMessage(pb.Role_ROLE_USER, words))
}

// [store]
// store keeps what the agent holds itself for the length of its run. What stands for it is in the answer.
func (a *agent) store(ctx context.Context, url, page string) *pb.Citation {
	stream, err := a.content.StoreContent(ctx)
	must(err)
	must(stream.Send(&pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Header{Header: &pb.StoreContentHeader{
		ConversationId: a.conversation,
		RunId:          a.run,
		SourceType:     pb.SourceType_SOURCE_TYPE_WEB,
		SourceUrl:      url,
		ContentType:    "text/html",
		RequestId:      rand.Text(),
	}}}))
	must(stream.Send(&pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Chunk{Chunk: []byte(page)}})) // as many as it takes
	stored, err := stream.CloseAndRecv()
	must(err)
	return stored.GetCitation()
}

// [/store]
// sources lists what contents came from.
func (a *agent) sources(ctx context.Context) []*pb.SourceRecord {
	listed, err := a.content.ListSources(ctx, &pb.ListSourcesRequest{ConversationId: a.conversation})
	must(err)
	return listed.GetSources()
}

// isGone says whether the source record of a content says that it is gone.
func (a *agent) isGone(ctx context.Context, contentID string) bool {
	return slices.ContainsFunc(a.sources(ctx), func(s *pb.SourceRecord) bool {
		return s.GetContentId() == contentID && s.GetState() == pb.ContentState_CONTENT_STATE_EXPIRED
	})
}

// [end]
// end ends the run: what was stored for it can be deleted. Without a grace time it can still be had for an hour.
func (a *agent) end(ctx context.Context) {
	_, err := a.content.EndRun(ctx, &pb.EndRunRequest{
		ConversationId: a.conversation,
		RunId:          a.run,
		Grace:          durationpb.New(0),
	})
	must(err)
}

// [/end]
func textMessage(role pb.Role, words string) *pb.Message {
	return &pb.Message{Role: role, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: words}}}}
}

func toolMessage(result *pb.ToolResult) *pb.Message {
	return &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: result}}}}
}
