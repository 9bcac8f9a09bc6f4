package inspect

import (
	"context"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
)

// ContextCommand is `sidecar context`.
type ContextCommand struct {
	Sidecar
	textWidth
	Conversation string `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
	Model        string `help:"The model to build for; by default that of the newest build."`
	Format       string `help:"The format to build for: neutral, openai-chat, openai-responses, anthropic or gemini; by default that of the newest build." enum:",neutral,openai-chat,openai-responses,anthropic,gemini" default:""`
	Window       *int32 `help:"The model's context window in tokens. Without --window, --reserve and --max the budget is the newest build's."`
	Reserve      *int32 `help:"Tokens of the window that are left for the answer; by default at most a quarter of --window."`
	Max          *int32 `help:"The most tokens that the context may weigh."`
	Fixed        int32  `help:"Tokens of the system prompt and tools that the agent sends beside the context."`
	Manifest     string `help:"Show an earlier build instead, such as b12." placeholder:"ID"`
}

// formats are the formats by their names in flags.
var formats = map[string]pb.ContextFormat{
	"neutral":          pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL,
	"openai-chat":      pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT,
	"openai-responses": pb.ContextFormat_CONTEXT_FORMAT_OPENAI_RESPONSES,
	"anthropic":        pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC,
	"gemini":           pb.ContextFormat_CONTEXT_FORMAT_GEMINI,
}

// Run shows the context of a build that commits nothing, or of an earlier one.
func (c *ContextCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		if c.Manifest != "" {
			return c.earlier(ctx, s)
		}
		return c.now(ctx, s)
	})
}

func (c *ContextCommand) now(ctx context.Context, s *session) error {
	newest, err := s.newestBuild(ctx, c.Conversation)
	if err != nil {
		return err
	}
	build, err := s.dryRun(ctx, c.request(newest))
	if err != nil {
		return err
	}
	if s.out.JSON {
		return s.out.Object(build)
	}
	reply, err := s.record.GetConversation(ctx, &pb.GetConversationRequest{ConversationId: c.Conversation})
	if err != nil {
		return err
	}
	v := &contextView{
		Sheet: s.out, textWidth: c.textWidth, conversation: reply.GetConversation(), build: build, factor: factor(build.GetTokens().GetFactor()),
	}
	v.print()
	return nil
}

// request asks what the newest build asked, but for what flags say.
func (c *ContextCommand) request(newest *pb.Manifest) *pb.BuildContextRequest {
	r := buildLike(c.Conversation, newest)
	if c.Model != "" {
		r.Model = c.Model
	}
	if c.Format != "" {
		r.Format = formats[c.Format]
	}
	if c.Window != nil || c.Reserve != nil || c.Max != nil {
		r.Budget = &pb.Budget{ContextWindowTokens: c.Window, ReservedOutputTokens: c.Reserve, MaxContextTokens: c.Max}
	}
	if c.Fixed > 0 {
		r.FixedInput = &pb.FixedInput{Tokens: &c.Fixed}
	}
	return r
}

// buildLike asks for the current turn as the newest build did, and for nothing to be committed. Another budget or model would
// show what no model is sent; calls that wait for their results are shown as what they are now, without one.
func buildLike(conversation string, newest *pb.Manifest) *pb.BuildContextRequest {
	r := &pb.BuildContextRequest{
		ConversationId: conversation, SameTurn: true, DryRun: true, CloseOpenCalls: true, MaxReplyBytes: proto.Int32(dial.LargestReply),
		Format: pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL,
	}
	if newest != nil {
		budget, none := int32(newest.GetBudgetTokens()), int32(0)
		r.Model, r.Format = newest.GetModel(), newest.GetFormat()
		r.Budget = &pb.Budget{ContextWindowTokens: &budget, ReservedOutputTokens: &none, MaxContextTokens: &budget}
	}
	return r
}

// newestBuild is nil for a conversation that nothing was built of.
func (s *session) newestBuild(ctx context.Context, conversation string) (*pb.Manifest, error) {
	reply, err := s.record.ListManifests(ctx, &pb.ListManifestsRequest{ConversationId: conversation, PageSize: 1})
	if err != nil || len(reply.GetManifests()) == 0 {
		return nil, err
	}
	return reply.GetManifests()[0], nil
}

// dryRun asks for a context in a provider's format, for the decisions that its rules lead to, and takes the messages from a
// neutral one, which alone says where they come from.
func (s *session) dryRun(ctx context.Context, r *pb.BuildContextRequest) (*pb.BuildContextResponse, error) {
	build, err := s.loop.BuildContext(ctx, r)
	if p := build.GetPrefix(); p != nil {
		p.FixedInputChanged = false // against the agent's own, which nobody here knows: it says nothing of what the agent sends
	}
	if err != nil || r.GetFormat() == pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL {
		return build, err
	}
	r.Format = pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL
	neutral, err := s.loop.BuildContext(ctx, r)
	build.Messages = neutral.GetMessages()
	if rendered := build.GetRendered(); rendered != nil {
		rendered.SystemJson, rendered.MessagesJson = nil, nil // the messages say it all
	}
	return build, err
}

func (c *ContextCommand) earlier(ctx context.Context, s *session) error {
	reply, err := s.record.GetManifest(ctx, &pb.GetManifestRequest{
		ConversationId: c.Conversation, ManifestId: c.Manifest, MaxReplyBytes: proto.Int32(dial.LargestReply), Format: pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL,
	})
	return s.answer(reply, err, func() error {
		(&manifestView{s.out, c.textWidth, reply}).print(c.Conversation)
		return nil
	})
}
