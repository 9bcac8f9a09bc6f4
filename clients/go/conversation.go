package palimpsest

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// Conversation is a conversation on record. It is used by one goroutine at a
// time.
type Conversation struct {
	p         *Palimpsest
	opened    string // where lists are looked for: one of them may go on elsewhere
	id        string
	create    *pb.CreateConversationRequest // nil where nothing is to be created
	eachStep  bool
	built     *pb.BuildContextResponse
	format    Format                    // of the last build
	pending   []*pb.BatchAppendItem     // what is said, and not yet on record
	recalled  map[string]*pb.ToolResult // by call
	known     map[Format]prefix
	unsettled unsettled

	limits    limits
	cited     map[[sha256.Size]byte]*pb.Citation    // by the hash of what they stand for
	shortened map[[sha256.Size]byte]json.RawMessage // what is too large, as it is sent
	passes    bool                                  // lists pass while the sidecar is away
	lists     bool                                  // whole lists come, and not what is said piece by piece
	views     map[Format]lastView
	shaped    bool // a view may have shown a list otherwise than it came
	lost      bool // the record is gone, and a reply began it anew
}

// ConversationOption is a choice for a conversation.
type ConversationOption func(*Conversation)

// WithSettings has the first call create the conversation with a policy, an
// actor and whatever else the message has, unless it is there.
func WithSettings(settings *pb.Conversation) ConversationOption {
	return func(c *Conversation) {
		created, ok := proto.Clone(settings).(*pb.Conversation)
		if !ok || created == nil {
			return
		}
		created.Id = c.id
		c.create = &pb.CreateConversationRequest{Conversation: created, RequestId: newRequestID()}
	}
}

// WithPolicy is WithSettings of a policy alone.
func WithPolicy(policy *pb.Policy) ConversationOption {
	return WithSettings(&pb.Conversation{Policy: policy})
}

// WithDurableSteps keeps a reply until the next build, so that a step is one
// commit: what was not built yet is lost with the process.
func WithDurableSteps() ConversationOption { return func(c *Conversation) { c.eachStep = true } }

// Conversation returns the conversation with an id. It makes no call.
func (p *Palimpsest) Conversation(id string, choices ...ConversationOption) *Conversation {
	c := &Conversation{
		p: p, opened: id, id: id, recalled: map[string]*pb.ToolResult{}, known: map[Format]prefix{}, limits: defaultLimits(),
		cited: map[[sha256.Size]byte]*pb.Citation{}, shortened: map[[sha256.Size]byte]json.RawMessage{}, passes: p.passes, views: map[Format]lastView{},
	}
	for _, choose := range choices {
		choose(c)
	}
	return c
}

// ID returns the conversation's id; after a list that differs (DiffersNew), that of the one in
// which the list stands.
func (c *Conversation) ID() string { return c.id }

// Built returns the whole answer of the last build: tokens, decisions, events;
// nil before the first.
func (c *Conversation) Built() *pb.BuildContextResponse { return c.built }

// User says what the user said. It goes on record with the next build.
func (c *Conversation) User(text string) { c.say(pb.Role_ROLE_USER, text) }

// System says an instruction that belongs on record. It goes there with the
// next build.
func (c *Conversation) System(text string) { c.say(pb.Role_ROLE_SYSTEM, text) }

func (c *Conversation) say(role pb.Role, text string) {
	c.Message(&pb.Message{Role: role, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: text}}}})
}

// Message takes a message of the API. It goes on record with the next build.
func (c *Conversation) Message(message *pb.Message) {
	c.pending = append(c.pending, &pb.BatchAppendItem{Message: message})
}

// Input takes a message in a provider's JSON, such as one with an image. It
// goes on record with the next build.
func (c *Conversation) Input(format Format, message json.RawMessage) error {
	input, err := inputOf(format, message, pb.ProviderInputShape_PROVIDER_INPUT_SHAPE_MESSAGE)
	if err == nil {
		c.pending = append(c.pending, &pb.BatchAppendItem{ProviderInput: input})
	}
	return err
}

// Flush puts on record what waits for the next build.
func (c *Conversation) Flush(ctx context.Context) error {
	if len(c.pending) == 0 {
		return nil
	}
	_, err := c.append(ctx)
	return err
}

func inputOf(format Format, text json.RawMessage, shape pb.ProviderInputShape) (*pb.ProviderInput, error) {
	code, err := format.code()
	return &pb.ProviderInput{Format: code, Json: string(text), Shape: shape}, err
}
