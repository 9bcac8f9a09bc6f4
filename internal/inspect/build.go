package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dial"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// BuildCommand is `sidecar build`.
type BuildCommand struct {
	Sidecar
	Conversation   string `arg:"" help:"The conversation's id, or @latest for the one that changed last."`
	Format         string `help:"The shape of the answer: neutral, openai-chat, openai-responses, anthropic or gemini." enum:"neutral,openai-chat,openai-responses,anthropic,gemini" default:"neutral"`
	Model          string `help:"The model that will be called."`
	Window         *int32 `help:"The model's context window in tokens."`
	Reserve        *int32 `help:"Tokens of the window that are left for the answer."`
	Max            *int32 `help:"The most tokens that the context may weigh."`
	SameTurn       bool   `help:"Build the current turn again instead of beginning the next."`
	CloseOpenCalls bool   `help:"Show calls that wait with a fixed result, instead of refusing."`
	DryRun         bool   `help:"Commit nothing."`
}

// Help shows how it is used.
func (c *BuildCommand) Help() string {
	return `Prints the fields of the provider's request that hold the conversation, as one JSON object; what it weighs goes to standard error.

    sidecar build order-1881 --format anthropic --model claude-haiku-4-5 |
      jq '. + {model: "claude-haiku-4-5", max_tokens: 1000}' |
      curl https://api.anthropic.com/v1/messages -H "x-api-key: $KEY" -H "anthropic-version: 2023-06-01" --json @-`
}

// Run builds the context of a turn.
func (c *BuildCommand) Run(ctx context.Context, env *Env) error {
	return c.runIn(ctx, env, &c.Conversation, func(s *session) error {
		build, err := s.loop.BuildContext(ctx, &pb.BuildContextRequest{
			ConversationId: c.Conversation, Format: formats[c.Format], Model: c.Model,
			Budget:   &pb.Budget{ContextWindowTokens: c.Window, ReservedOutputTokens: c.Reserve, MaxContextTokens: c.Max},
			SameTurn: c.SameTurn, CloseOpenCalls: c.CloseOpenCalls, DryRun: c.DryRun, MaxReplyBytes: proto.Int32(dial.LargestReply),
		})
		if err != nil {
			return err
		}
		if s.out.JSON {
			return s.out.Object(build)
		}
		body, err := requestBody(formats[c.Format], build)
		if err != nil {
			return err
		}
		t := build.GetTokens()
		err = s.original(body)
		s.remark.Say(joinNonEmpty(": ", joinNonEmpty(", ", fmt.Sprintf("turn %d", build.GetTurn()), build.GetManifestId()),
			fmt.Sprintf("%s of %s tokens", terminal.Number(t.GetTotal()), terminal.Number(t.GetBudget()))))
		return err
	})
}

// original prints JSON byte for byte, but for what must not reach a terminal on one.
func (s *session) original(line []byte) error {
	if s.out.Terminal {
		return s.out.RawObject(line)
	}
	_, err := s.out.Out.Write(append(line, '\n'))
	return err
}

// bodyKeys are the fields of a provider's request that a build fills: system, if it stands apart, and messages.
var bodyKeys = map[pb.ContextFormat][2]string{
	pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL:          {"", "messages"},
	pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT:      {"", "messages"},
	pb.ContextFormat_CONTEXT_FORMAT_OPENAI_RESPONSES: {"", "input"},
	pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC:        {"system", "messages"},
	pb.ContextFormat_CONTEXT_FORMAT_GEMINI:           {"systemInstruction", "contents"},
}

// requestBody is the part of a provider's request that a build fills, with its bytes as they are.
func requestBody(format pb.ContextFormat, build *pb.BuildContextResponse) ([]byte, error) {
	keys, system, messages := bodyKeys[format], build.GetRendered().GetSystemJson(), build.GetRendered().GetMessagesJson()
	if format == pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL {
		lines, err := list(build.GetMessages())
		if err != nil {
			return nil, err
		}
		if messages, err = json.Marshal(lines); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	b.WriteByte('{')
	if len(system) > 0 {
		fmt.Fprintf(&b, "%q:%s,", keys[0], system)
	}
	fmt.Fprintf(&b, "%q:%s}", keys[1], messages)
	return b.Bytes(), nil
}
