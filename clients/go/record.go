package palimpsest

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// unsettled is a request of which it is not known whether it was carried out. It is asked for again under its id before anything else goes
// on record, so that what was said goes there once.
type unsettled struct {
	appended *pb.BatchAppendMessagesRequest
	built    *pb.BuildContextRequest
	items    int // of those that wait, which it puts on record
}

func (u *unsettled) is() bool { return u.appended != nil || u.built != nil }

// append puts on record what waits, and more.
func (c *Conversation) append(ctx context.Context, more ...*pb.BatchAppendItem) (*pb.BatchAppendMessagesResponse, error) {
	compose := func() *pb.BatchAppendMessagesRequest {
		return &pb.BatchAppendMessagesRequest{ConversationId: c.id, Items: append(c.pending[:len(c.pending):len(c.pending)], more...)}
	}
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	request := compose()
	if again := c.unsettled.appended; again != nil {
		request.RequestId = again.GetRequestId()
	}
	if c.unsettled.is() && !proto.Equal(request, c.unsettled.appended) {
		if err := c.settle(ctx); err != nil {
			return nil, err
		}
		request = compose()
	}
	if !c.unsettled.is() {
		request.RequestId = newRequestID()
		c.unsettled = unsettled{appended: request, items: len(c.pending)}
	}
	return carryOut(ctx, c, c.p.Raw.Context.BatchAppendMessages, request)
}

// build makes a build, with what it puts on record. A dry run puts nothing there; a whole list comes beside what waits.
func (c *Conversation) build(ctx context.Context, compose func() *pb.BuildContextRequest, items func() int) error {
	if err := c.ready(ctx); err != nil {
		return err
	}
	request := compose()
	if again := c.unsettled.built; again != nil {
		request.RequestId = again.GetRequestId()
	}
	if c.unsettled.is() && !proto.Equal(request, c.unsettled.built) {
		if err := c.settle(ctx); err != nil {
			return err
		}
		request = compose()
	}
	if !c.unsettled.is() {
		request.RequestId = newRequestID()
		c.unsettled = unsettled{built: request, items: items()}
	}
	built, err := carryOut(ctx, c, c.p.Raw.Context.BuildContext, request)
	if err == nil {
		c.built = built
	}
	return err
}

// settle finds out what came of the request before. If it was refused, what it would have put on record still waits.
func (c *Conversation) settle(ctx context.Context) error {
	var err error
	if c.unsettled.built != nil {
		_, err = carryOut(ctx, c, c.p.Raw.Context.BuildContext, c.unsettled.built)
	} else {
		_, err = carryOut(ctx, c, c.p.Raw.Context.BatchAppendMessages, c.unsettled.appended)
	}
	if c.unsettled.is() {
		return err
	}
	return nil
}

// carryOut makes the unsettled request. It stays unsettled if nobody can say what came of it.
func carryOut[Q, R any](ctx context.Context, c *Conversation, method rpc[Q, R], request *Q) (*R, error) {
	reply, err := call(ctx, c.p, method, request)
	if failed := (*Error)(nil); errors.As(err, &failed) && failed.uncertain() {
		return nil, err
	}
	if err == nil {
		c.pending = c.pending[c.unsettled.items:]
	}
	c.unsettled = unsettled{}
	return reply, err
}

// ready creates the conversation, if it is to be created.
func (c *Conversation) ready(ctx context.Context) error {
	if c.create == nil {
		return nil
	}
	_, err := call(ctx, c.p, c.p.Raw.Conversations.CreateConversation, c.create)
	if err != nil && ReasonOf(err) != pb.ErrorReason_ERROR_REASON_CONVERSATION_EXISTS {
		return err
	}
	c.create = nil
	return nil
}
