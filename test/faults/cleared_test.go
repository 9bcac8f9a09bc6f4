package faults

import (
	"fmt"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// clearing is a conversation that is deleted without a tombstone again and again.
type clearing struct {
	*fixture
	mu      sync.Mutex
	current map[string]int32 // indices of what was acknowledged since the last deletion, by request id
	former  []string         // request ids from before it
}

func (c *clearing) say(id string) error {
	reply, err := c.Context.AppendMessage(c.ctx, &pb.AppendMessageRequest{
		ConversationId: "again", RequestId: id, Message: &pb.Message{
			Id: id, Role: pb.Role_ROLE_USER, Parts: []*pb.Part{textPart(id)},
		},
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current[id] = reply.GetReceipt().GetIndex()
	return nil
}

// write lets writers append until the sidecar is killed, which is when so many appends are acknowledged.
func (c *clearing) write(round, enough int) {
	c.t.Helper()
	var all sync.WaitGroup
	var kill sync.Once
	for w := range 4 {
		all.Go(func() {
			for i := 0; ; i++ {
				if c.say(fmt.Sprintf("r%d-w%d-%d", round, w, i)) != nil {
					return
				}
				if c.acknowledged() >= enough {
					kill.Do(c.sidecar.Kill)
				}
			}
		})
	}
	all.Wait()
	c.start()
}

func (c *clearing) acknowledged() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.current)
}

func (c *clearing) clear(round int) {
	c.t.Helper()
	_, err := c.Conversations.DeleteConversation(c.ctx, &pb.DeleteConversationRequest{
		ConversationId: "again", RequestId: fmt.Sprint("gone", round), WithoutTombstone: true,
	})
	c.need(err)
}

// refused demands that no retry of an append from before the last deletion is taken.
func (c *clearing) refused() {
	c.t.Helper()
	for _, id := range c.former {
		if err := c.say(id); status.Code(err) != codes.NotFound {
			c.t.Fatalf("a retry of %s from before the deletion: %v", id, err)
		}
	}
}

// check demands that what was acknowledged since the last deletion is on record, and nothing from before.
func (c *clearing) check() {
	c.t.Helper()
	ids := map[int32]string{}
	request := &pb.ListMessagesRequest{ConversationId: "again", PageSize: 1000}
	for {
		page, err := c.Conversations.ListMessages(c.ctx, request)
		c.need(err)
		for _, m := range page.GetMessages() {
			ids[m.GetIndex()] = m.GetId()
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	for id, index := range c.current {
		if ids[index] != id {
			c.t.Errorf("message %d is %q, and %q was acknowledged", index, ids[index], id)
		}
	}
	for _, id := range c.former {
		for index, have := range ids {
			if have == id {
				c.t.Errorf("message %d is %s, from before the deletion", index, id)
			}
		}
	}
}

// TestKill_AroundADeletionWithoutTombstone kills the sidecar right after the deletion, and while writers begin the conversation anew: what
// was acknowledged since is on record, and no retry from before revives anything, nor deletes what is new.
func TestKill_AroundADeletionWithoutTombstone(t *testing.T) {
	t.Parallel()
	c := &clearing{fixture: newFixture(t), current: map[string]int32{}}
	for round := range 4 {
		c.write(round, 20+10*round)
		c.check()
		c.clear(round)
		c.sidecar.Kill()
		c.start()
		for id := range c.current {
			c.former = append(c.former, id)
		}
		clear(c.current)
		if round%2 == 0 { // also before the conversation has begun anew
			c.refused()
		}
		c.write(round+100, 5)
		c.refused()
		c.clear(round) // a retry
		c.check()
	}
}
