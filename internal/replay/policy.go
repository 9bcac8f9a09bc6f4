package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// policy is what recordings are played under: the policy of each conversation,
// and how long the results of single tools live.
//
// What is said of a tool goes with each result as its own expiration, not as an
// action policy: a sidecar that runs already keeps its catalogue as it is, also
// if the replay is killed, and replays with different files do not meet in it.
type policy struct {
	conversation *pb.Policy
	tools        map[string]*pb.Expiration
}

// bare is the policy that others are compared with: nothing expires, whatever
// the sidecar's defaults say.
func bare() *policy {
	off := true
	return &policy{conversation: &pb.Policy{Expiration: &pb.ExpirationPolicy{Off: &off}}}
}

func loadPolicy(file string) (*policy, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("replay: %s: %w", file, err)
	}
	if len(document.Content) == 0 {
		return nil, fmt.Errorf("replay: %s: says nothing", file)
	}
	r := &yamlReader{file: file}
	p := &policy{conversation: &pb.Policy{}, tools: map[string]*pb.Expiration{}}
	r.pairs(document.Content[0], func(key, value *yaml.Node) {
		switch key.Value {
		case "conversation":
			r.message(value, p.conversation, notHere)
		case "tools":
			p.readTools(r, value)
		default:
			r.fault(key, "unknown key %q", key.Value)
		}
	})
	if err := r.err(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return p, nil
}

// notHere says why a field has no place in a policy that is played under.
func notHere(field string) string {
	switch field {
	case "palimpsest.v1.FitPolicy.context_window_tokens":
		return "--window says it"
	case "palimpsest.v1.FitPolicy.reserved_output_tokens":
		return "--reserve says it"
	case "palimpsest.v1.Policy.ttl":
		return "the conversations are read back at the end"
	case "palimpsest.v1.Expiration.preserve_original_content":
		return "everything is read back at the end"
	case "palimpsest.v1.Expiration.source":
		return "the sidecar says it"
	default:
		return ""
	}
}

func (p *policy) readTools(r *yamlReader, n *yaml.Node) {
	r.pairs(n, func(key, value *yaml.Node) {
		e := &pb.Expiration{}
		r.message(value, e, notHere)
		p.tools[key.Value] = e
	})
}

// fit is what is said of how the view is fitted.
func (p *policy) fit() *pb.FitPolicy {
	if p == nil || p.conversation.GetFit() == nil {
		return &pb.FitPolicy{}
	}
	return p.conversation.GetFit()
}

// budget is B: what the window leaves, or less if the policy says so.
func (p *policy) budget(room int) int {
	if most := p.fit().MaxContextTokens; most != nil {
		return min(room, int(*most))
	}
	return room
}

// clipShare is how much of B a tool result may take when it enters a view, in
// percent.
func (p *policy) clipShare() int {
	if share := p.fit().MaxResultPercent; share != nil {
		return int(*share)
	}
	return defaultClipShare
}

// defaultClipShare is that of behaviour §4.
const defaultClipShare = 25

// apply returns a message as it is appended under the policy: results of named
// tools say how long they live. A result that does not name its tool has the
// name of its call.
func (p *policy) apply(m *pb.Message, calls map[string]string) *pb.Message {
	if p == nil || len(p.tools) == 0 || m.GetRole() != pb.Role_ROLE_TOOL {
		return m
	}
	m = proto.CloneOf(m)
	for _, part := range m.GetParts() {
		r := part.GetToolResult()
		if r == nil {
			continue
		}
		if e := p.tools[cmp.Or(r.GetName(), calls[r.GetCallId()])]; e != nil {
			r.Expiration = proto.CloneOf(e)
		}
	}
	return m
}

// tryOut has the sidecar look at a policy before anything is played, in a
// conversation that is deleted again: what it refuses is said once, in its
// words, and not counted as an error of each message.
func (s *session) tryOut(ctx context.Context, p *policy) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	id := "replay-" + s.run + "-policy"
	_, err := s.records.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: id, Policy: p.conversation}})
	if err != nil {
		return fmt.Errorf("replay: the sidecar refuses the policy: conversation: %s", status.Convert(err).Message())
	}
	for _, tool := range slices.Sorted(maps.Keys(p.tools)) {
		m := &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{textPart("x")}, Expiration: p.tools[tool]}
		if _, err := s.contexts.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: id, Message: m}); err != nil {
			return fmt.Errorf("replay: the sidecar refuses the policy: tools: %s: %s", tool, status.Convert(err).Message())
		}
	}
	_, err = s.records.DeleteConversation(ctx, &pb.DeleteConversationRequest{ConversationId: id})
	return err
}
