package soak

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// habits are how much of the lifecycle an agent uses.
type habits int

const (
	plain   habits = iota // nothing expires
	passing               // results and words expire, plugins add, what has left comes back
	erasing               // and some of it is erased
)

// kinds is how many habits there are.
const kinds = 3

// open creates a conversation whose results expire by its policy.
func (a *agent) open(ctx context.Context) error {
	if a.habits == plain {
		return nil // the first append creates it
	}
	policy := &pb.Policy{
		Fit:        &pb.FitPolicy{MaxContextTokens: new(int32(budget))},
		Pruning:    &pb.PruningPolicy{ProtectTokens: new(int32(2000)), MinimumTokens: new(int32(500))},
		Compaction: &pb.CompactionPolicy{Strategy: pb.CompactionStrategy(1 + a.random.IntN(3))},
		Expiration: &pb.ExpirationPolicy{Results: &pb.Expiration{
			Turns: new(1 + a.random.Int32N(4)), Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT, CompactMode: pb.CompactMode(1 + a.random.IntN(2)),
			CompactLength: new(int32(200)),
		}},
		Retention: &pb.RetentionPolicy{AllInputs: new(a.random.IntN(2) == 0)},
		Citations: &pb.CitationsPolicy{Enabled: new(a.random.IntN(2) == 0)},
		Rewrite:   &pb.RewritePolicy{Mode: pb.RewriteMode(1 + a.random.IntN(2)), MinGainTokens: new(int32(1000))},
	}
	a.results = policy.GetExpiration().GetResults()
	_, err := a.Conversations.CreateConversation(ctx, &pb.CreateConversationRequest{
		Conversation: &pb.Conversation{Id: a.conversation, Policy: policy},
	})
	return err
}

// mortal gives some messages and results a life of their own.
func (a *agent) mortal(m *pb.Message) {
	if a.habits == plain || a.random.IntN(4) > 0 {
		return
	}
	e := &pb.Expiration{
		Turns: new(a.random.Int32N(5)), Mode: pb.ExpirationMode(2 + a.random.IntN(2)), CompactMode: pb.CompactMode(1 + a.random.IntN(2)),
		CompactLength: new(1 + a.random.Int32N(300)), PreserveOriginalContent: new(a.habits == passing || a.random.IntN(2) == 0),
	}
	if r := m.GetParts()[0].GetToolResult(); r != nil {
		r.Expiration = e
	} else if m.GetRole() == pb.Role_ROLE_USER {
		m.Expiration = e
	}
}

// notes are what a plugin adds to a message of the user's or a tool's.
func (a *agent) notes(m *pb.Message) []*pb.AdditionalContent {
	if a.habits == plain || m.GetRole() == pb.Role_ROLE_ASSISTANT || a.random.IntN(3) > 0 {
		return nil
	}
	return []*pb.AdditionalContent{{
		Plugin: "memory", Header: "## Memory", DisplayOnCurrentMessage: true, SaveToChatHistory: &pb.AdditionalContent_KeepLast{KeepLast: 1 + a.random.Int32N(5)},
		Parts: []*pb.Part{{Content: &pb.Part_Text{Text: a.text(300)}}},
	}}
}

// expand brings back any message: for the agent's eyes alone, or into the view.
func (a *agent) expand(ctx context.Context) error {
	if a.habits == plain || len(a.record) == 0 {
		return nil
	}
	index := a.random.IntN(len(a.record))
	request := &pb.ExpandMessageRequest{
		ConversationId: a.conversation, Mode: pb.ExpandMode(1 + a.random.IntN(2)), Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: int32(index)},
	}
	got, err := a.Context.ExpandMessage(ctx, request)
	switch process.Reason(err) {
	case "ORIGINAL_ERASED":
		if a.habits == erasing {
			return nil
		}
	case "NOT_EDITED", "EXPANSION_TOO_LARGE":
		if request.GetMode() == pb.ExpandMode_EXPAND_MODE_RESTORE {
			return nil
		}
	}
	if err != nil {
		return err
	}
	a.done.expansions.Add(1)
	return a.same(index, got.GetMessage())
}

// same compares a message on record with what was appended.
func (a *agent) same(index int, m *pb.Message) error {
	own := m.GetParts()[:0]
	erased := false
	for _, p := range m.GetParts() {
		erased = erased || p.GetErasure() != nil
		if p.GetPlugin() == "" {
			p.Retention = nil
			own = append(own, p)
		}
	}
	m.Parts = own
	if erased {
		a.done.erased.Add(1)
		if !a.record[index].erasable {
			return fmt.Errorf("%s: message %d is erased, and nobody asked for it", a.conversation, index)
		}
		return nil
	}
	m.Index, m.CreateTime, m.TurnAdded, m.TokenCount, m.View, m.Estimated = 0, nil, 0, 0, nil, false
	if err := a.sameLives(index, livesOf(m)); err != nil {
		return err
	}
	if sum, err := sumOf(m); err != nil || sum != a.record[index].sum {
		return fmt.Errorf("%s: message %d is not what was appended (%w)", a.conversation, index, err)
	}
	return nil
}

// erasable says whether something of a message is to be erased when it is due.
func erasable(m *pb.Message) bool {
	e := m.GetExpiration()
	if r := m.GetParts()[0].GetToolResult(); r != nil {
		e = r.GetExpiration()
	}
	return e != nil && !e.GetPreserveOriginalContent()
}

// livesOf are the expirations of a message: its own, and one for each part.
func livesOf(m *pb.Message) []*pb.Expiration {
	out := []*pb.Expiration{m.GetExpiration()}
	for _, p := range m.GetParts() {
		out = append(out, p.GetToolResult().GetExpiration())
	}
	return out
}

// sameLives compares what is in force with what was said, or else with what the policy gives to results.
func (a *agent) sameLives(index int, got []*pb.Expiration) error {
	said := a.record[index].lives
	if len(got) != len(said) {
		return fmt.Errorf("%s: message %d has %d parts of %d", a.conversation, index, len(got)-1, len(said)-1)
	}
	for i := range said {
		want, source := said[i], pb.ExpirationSource_EXPIRATION_SOURCE_EXPLICIT
		if want == nil && i > 0 && a.record[index].result {
			want, source = a.results, pb.ExpirationSource_EXPIRATION_SOURCE_POLICY
		}
		if want != nil {
			want = proto.CloneOf(want)
			want.Source = source
			if want.PreserveOriginalContent == nil {
				want.PreserveOriginalContent = new(true)
			}
		}
		if !proto.Equal(got[i], want) {
			return fmt.Errorf("%s: message %d: in force is %v, not %v", a.conversation, index, got[i], want)
		}
	}
	return nil
}
