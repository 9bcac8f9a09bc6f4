package palimpsest

import (
	"context"
	"encoding/json"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Request is what a call of a model takes beside the conversation.
type Request struct {
	Model string
	// System is the system prompt, which is never on record.
	System string
	// Tools are the program's, an array in the provider's form. Those by which
	// the model gets text back are added.
	Tools json.RawMessage
	// With are further members of the provider's request, such as max_tokens
	// and stream.
	With map[string]any
	// Build has further fields of the API's request, such as the budget.
	Build *pb.BuildContextRequest
	// WithoutRecall leaves out the tools by which the model gets text back.
	WithoutRecall bool
	// WithoutCacheMarks leaves out marks for the provider's prompt cache.
	WithoutCacheMarks bool
	// Differs says what happens where a whole list differs from the record:
	// DiffersRefuse by default for Sync, DiffersNew for View.
	Differs Differs
	// Cut says what becomes of messages that the list no longer holds: CutKeep
	// by default for Sync, CutHide for View.
	Cut Cut
}

// OpenAI puts on record what was said, and returns the body of a call of
// Chat Completions: what the model should see now.
func (c *Conversation) OpenAI(ctx context.Context, r Request) (json.RawMessage, error) {
	return c.request(ctx, OpenAI, r)
}

// Responses is OpenAI for the Responses API.
func (c *Conversation) Responses(ctx context.Context, r Request) (json.RawMessage, error) {
	return c.request(ctx, Responses, r)
}

// Anthropic is OpenAI for Anthropic's Messages API, which wants max_tokens.
func (c *Conversation) Anthropic(ctx context.Context, r Request) (json.RawMessage, error) {
	return c.request(ctx, Anthropic, r)
}

// Gemini is OpenAI for Gemini's generateContent, which has the model in its
// path.
func (c *Conversation) Gemini(ctx context.Context, r Request) (json.RawMessage, error) {
	return c.request(ctx, Gemini, r)
}

func (c *Conversation) request(ctx context.Context, format Format, r Request) (json.RawMessage, error) {
	if _, err := format.code(); err != nil {
		return nil, err
	}
	if !c.fits(len(r.System) + len(r.Tools)) {
		if _, err := c.append(ctx); err != nil {
			return nil, err
		}
	}
	compose := func() *pb.BuildContextRequest {
		built := r.build(c.id, format)
		built.RecallTools, built.PromptCache = !r.WithoutRecall, !r.WithoutCacheMarks
		if len(c.pending) > 0 {
			built.Append = &pb.BuildAppend{Items: c.pending}
		}
		return built
	}
	items := func() int {
		if r.Build.GetDryRun() {
			return 0
		}
		return len(c.pending)
	}
	if err := c.build(ctx, compose, items); err != nil {
		return nil, err
	}
	c.format = format
	return format.request(c.built.GetRendered().GetRequestJson(), r.Model, r.With)
}

// build is the sidecar's request, without what it puts on record.
func (r *Request) build(conversation string, format Format) *pb.BuildContextRequest {
	built := &pb.BuildContextRequest{MaxReplyBytes: proto.Int32(largestReply)}
	if r.Build != nil {
		proto.Merge(built, r.Build)
	}
	built.ConversationId, built.Model, built.Complete = conversation, r.Model, true
	built.Format, _ = format.code() // whoever builds has asked
	if r.System != "" || len(r.Tools) > 0 {
		built.FixedInput = &pb.FixedInput{SystemPrompt: r.System, ToolsJson: string(r.Tools)}
	}
	return built
}
