package palimpsest

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// fewMessages are read at a time where few are wanted.
const fewMessages = 32

// aborted is the tag of a reply that broke off: nobody waits for its calls.
const aborted = "aborted"

// Waiting returns the calls at the record's end that no result answers: what a
// process that ended between a reply and its results left behind. Answer them,
// and go on.
func (c *Conversation) Waiting(ctx context.Context) ([]Call, error) {
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	end, page := &tail{}, ""
	for {
		listed, err := call(ctx, c.p, c.p.Raw.Conversations.ListMessages, &pb.ListMessagesRequest{
			ConversationId: c.id, PageSize: fewMessages, PageToken: page, Order: pb.ListOrder_LIST_ORDER_DESCENDING,
			MaxReplyBytes: proto.Int32(largestReply),
		})
		if ReasonOf(err) == pb.ErrorReason_ERROR_REASON_CONVERSATION_NOT_FOUND {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if page = listed.GetNextPageToken(); !end.takeAll(listed.GetMessages()) || page == "" {
			return end.open, nil
		}
	}
}

// tail is what stands at a record's end, taken from the newest message on.
type tail struct {
	open     []Call
	answered []string
	called   bool
}

// takeAll takes messages, and says whether an earlier one may belong to the same calls.
func (t *tail) takeAll(messages []*pb.Message) bool {
	for _, m := range messages {
		if !t.take(m) {
			return false
		}
	}
	return true
}

func (t *tail) take(m *pb.Message) bool {
	switch {
	case m.GetView().GetHidden():
		return true
	case m.GetRole() == pb.Role_ROLE_TOOL && !t.called:
		for _, part := range m.GetParts() {
			t.answered = append(t.answered, part.GetToolResult().GetCallId())
		}
		return true
	case m.GetRole() != pb.Role_ROLE_ASSISTANT || slices.Contains(m.GetTags(), aborted):
		return false
	}
	for _, part := range slices.Backward(m.GetParts()) {
		if part.GetToolCall() != nil {
			t.called = true
			t.pair(part.GetToolCall())
		}
	}
	return true
}

func (t *tail) pair(asked *pb.ToolCall) {
	if i := slices.Index(t.answered, asked.GetCallId()); i >= 0 {
		t.answered = slices.Delete(t.answered, i, i+1)
		return
	}
	t.open = slices.Insert(t.open, 0, callOf(asked, recalls(asked.GetName())))
}
