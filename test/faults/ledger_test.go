package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// ledger is what the writers know of a conversation: every call that was made, answered or not.
type ledger struct {
	conversation string
	ops          []*op
	deleted      bool
	tight        bool  // it summarizes all the time
	cites        bool  // it cites
	releases     bool  // what it cites goes with its run
	state        state // as of the last check
	holdings     holdings
	gone         map[string]bool // contents that were gone once
	clock        atomic.Int64
}

// check compares the record with the ledger: everything acknowledged is there, in its place and byte for byte; of what was
// never answered there is all or nothing; and there is nothing else.
func (l *ledger) check(ctx context.Context, c *process.Client) error {
	record, err := c.Messages(ctx, l.conversation, pb.ListView_LIST_VIEW_ORIGINAL)
	if process.Reason(err) == "CONVERSATION_NOT_FOUND" {
		err = nil // nothing was appended yet: an acknowledged message fails below
	}
	if err != nil {
		return fmt.Errorf("%s: %w", l.conversation, err)
	}
	places := map[string]int{}
	for i, m := range record {
		if int(m.GetIndex()) != i {
			return fmt.Errorf("%s: index %d stands where %d should", l.conversation, m.GetIndex(), i)
		}
		if _, twice := places[m.GetId()]; twice {
			return fmt.Errorf("%s: message %s is on record twice", l.conversation, m.GetId())
		}
		places[m.GetId()] = i
	}
	for _, o := range l.ops {
		if err := o.check(record, places); err != nil {
			return fmt.Errorf("%s: request %s: %w", l.conversation, o.request, err)
		}
	}
	if len(places) > 0 {
		return fmt.Errorf("%s: %d messages are on record that nobody appended", l.conversation, len(places))
	}
	err = l.checkLives(ctx, c, record)
	if err == nil {
		err = l.checkContents(ctx, c, record)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", l.conversation, err)
	}
	return nil
}

// check finds the op's messages on record, and takes them out of places.
func (o *op) check(record []*pb.Message, places map[string]int) error {
	sent := o.messages()
	if len(sent) == 0 {
		return nil
	}
	at, found := places[sent[0].GetId()]
	switch {
	case !found && o.acked:
		return fmt.Errorf("acknowledged at index %d and lost", o.first)
	case found && o.acked && at != int(o.first):
		return fmt.Errorf("acknowledged at index %d and found at %d", o.first, at)
	}
	for i, m := range sent {
		where, there := places[m.GetId()]
		delete(places, m.GetId())
		switch {
		case there != found:
			return fmt.Errorf("a part of a batch: item 0 is there: %t, item %d: %t", found, i, there)
		case there && where != at+i:
			return fmt.Errorf("item %d of a batch at index %d, the first at %d", i, where, at)
		case there:
			if err := comesBack(m, record[where]); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		}
	}
	return nil
}

// asSent is a message that came back without what the server adds to it. Of expirations that is what was not sent: replies say all that is
// in force.
func asSent(got, sent *pb.Message) *pb.Message {
	out := proto.CloneOf(got)
	out.Index, out.CreateTime, out.TurnAdded, out.TokenCount, out.View, out.Estimated = 0, nil, 0, 0, nil, false
	out.Expiration = replay.AsSaid(out.Expiration, sent.GetExpiration())
	for i, p := range out.GetParts() {
		if r := p.GetToolResult(); r != nil && i < len(sent.GetParts()) {
			r.Expiration = replay.AsSaid(r.Expiration, sent.GetParts()[i].GetToolResult().GetExpiration())
		}
	}
	return out
}

// rebuild has every acknowledged build made again, and compares the hashes. Only where something that it may have shown was
// erased since, a build may not come back; it never comes back otherwise than it was.
func (l *ledger) rebuild(ctx context.Context, c *process.Client) (builds int, err error) {
	reply := int32(64 << 20)
	for _, o := range l.ops {
		if !o.acked || o.kind != building {
			continue
		}
		got, err := c.Conversations.GetManifest(ctx, &pb.GetManifestRequest{
			ConversationId: l.conversation, ManifestId: o.manifest, MaxReplyBytes: &reply,
		})
		if process.Reason(err) == "MANIFEST_NOT_REBUILDABLE" {
			err = l.excused(ctx, c, o.manifest)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return builds, fmt.Errorf("%s: manifest %s: %w", l.conversation, o.manifest, err)
		}
		sum, err := process.Sum(got.GetRendered())
		if err != nil || sum != o.sum || got.GetManifest().GetContentSha256() != o.sum {
			return builds, fmt.Errorf("%s: manifest %s is rebuilt as %s, and was %s (%w)", l.conversation, o.manifest, sum, o.sum, err)
		}
		builds++
	}
	return builds, nil
}

// retry sends everything again that was never answered, each twice at a time, and says how many there were.
func (l *ledger) retry(ctx context.Context, c *process.Client) (int, error) {
	retried := 0
	for _, o := range l.ops {
		if o.acked || o.refused {
			continue
		}
		retried++
		if err := o.retry(ctx, c); err != nil {
			return retried, fmt.Errorf("%s: retrying request %s: %w", l.conversation, o.request, err)
		}
		o.done = l.clock.Add(1)
	}
	return retried, nil
}

func (o *op) retry(ctx context.Context, c *process.Client) error {
	answers, faults := make([]outcome, 2), make([]error, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		answers[0], faults[0] = o.do(ctx, c)
	}()
	answers[1], faults[1] = o.do(ctx, c)
	<-done
	if o.declined(faults[0]) && o.declined(faults[1]) {
		o.refused = true
		return nil
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	if !answers[0].same(answers[1]) || !answers[0].duplicate && !answers[1].duplicate {
		return fmt.Errorf("two retries at a time were answered %+v and %+v", answers[0], answers[1])
	}
	o.outcome, o.acked = answers[0], true
	return nil
}

// again sends the newest answered call once more: it must be told what it was told.
func (l *ledger) again(ctx context.Context, c *process.Client) error {
	for _, o := range slices.Backward(l.ops) {
		if !o.acked {
			continue
		}
		got, err := o.do(ctx, c)
		if o.spent(err) && len(l.state.erasures) > 0 {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: request %s again: %w", l.conversation, o.request, err)
		}
		if !got.duplicate || !got.same(o.outcome) {
			return fmt.Errorf("%s: request %s was answered %+v, and again %+v", l.conversation, o.request, o.outcome, got)
		}
		return nil
	}
	return nil
}
