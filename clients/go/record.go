package palimpsest

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
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

// append puts on record what waits, in order, in as many requests as it takes. What is refused is taken out, told at the end, and the rest goes
// on.
func (c *Conversation) append(ctx context.Context) (answer *pb.BatchAppendMessagesResponse, err error) {
	order, refused, failure := slices.Clone(c.pending), []Refused(nil), error(nil)
	for len(c.pending) > 0 {
		if err = c.shorten(ctx); err == nil {
			answer, err = c.appendSome(ctx)
		}
		failed := (*Error)(nil)
		switch {
		case err == nil:
			c.seeWhetherLost(answer)
		case errors.As(err, &failed):
			taken := failed.Refused
			for i := range taken {
				taken[i].Index = slices.Index(order, taken[i].Item)
			}
			refused = append(refused, taken...)
			failure, failed.Refused = err, refused
			if len(taken) == 0 {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	return answer, failure
}

// seeWhetherLost notes a conversation that begins with a reply to a list that it was built of: what came before it is gone.
func (c *Conversation) seeWhetherLost(answer *pb.BatchAppendMessagesResponse) {
	for _, receipt := range answer.GetReceipts() {
		c.lost = c.lost || c.lists && c.built != nil && receipt.GetIndex() == 0
	}
}

// appendSome puts on record as much as one request holds.
func (c *Conversation) appendSome(ctx context.Context) (*pb.BatchAppendMessagesResponse, error) {
	compose := func() *pb.BatchAppendMessagesRequest {
		n := c.limits.firstFitting(weights(c.pending, weightOfItem), c.limits.items)
		return &pb.BatchAppendMessagesRequest{ConversationId: c.id, Items: slices.Clone(c.pending[:n])}
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
		if len(c.pending) == 0 {
			return &pb.BatchAppendMessagesResponse{}, nil
		}
		request = compose()
	}
	if !c.unsettled.is() {
		request.RequestId = newRequestID()
		c.unsettled = unsettled{appended: request, items: len(request.GetItems())}
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

// settle finds out what came of the request before. If it was refused, what it would have put on record still waits, but for what it names.
func (c *Conversation) settle(ctx context.Context) error {
	var err error
	if c.unsettled.built != nil {
		_, err = carryOut(ctx, c, c.p.Raw.Context.BuildContext, c.unsettled.built)
	} else {
		_, err = carryOut(ctx, c, c.p.Raw.Context.BatchAppendMessages, c.unsettled.appended)
	}
	if failed := (*Error)(nil); c.unsettled.is() || errors.As(err, &failed) && len(failed.Refused) > 0 {
		return err
	}
	return nil
}

// patience is how long a request may take: a large one longer, and one that passes by itself not long.
func (c *Conversation) patience(request proto.Message) time.Duration {
	if c.passes && c.lists {
		return passing + more(proto.Size(request))
	}
	return c.p.timeout + more(proto.Size(request))
}

// carryOut makes the unsettled request. It stays unsettled if nobody can say what came of it.
func carryOut[Q, R any](ctx context.Context, c *Conversation, method rpc[Q, R], request *Q) (*R, error) {
	asked, _ := any(request).(proto.Message)
	reply, err := callWithin(ctx, c.p, c.patience(asked), method, request)
	failed := (*Error)(nil)
	if errors.As(err, &failed) && failed.uncertain() {
		return nil, err
	}
	switch {
	case err == nil:
		c.pending = c.pending[c.unsettled.items:]
	case failed != nil:
		failed.Refused = c.takeOut(failed)
	}
	c.unsettled = unsettled{}
	return reply, err
}

// itemField is the path of a violation within an item.
var itemField = regexp.MustCompile(`^(?:append\.)?items\[(\d+)\]`)

// takeOut takes out of what waits the items that a refusal names.
func (c *Conversation) takeOut(failed *Error) (refused []Refused) {
	items := len(c.unsettled.appended.GetItems()) + len(c.unsettled.built.GetAppend().GetItems())
	named := map[int]string{}
	for _, v := range slices.Backward(failed.Violations) {
		if found := itemField.FindStringSubmatch(v.Field); found != nil {
			if n, err := strconv.Atoi(found[1]); err == nil && n < items {
				named[n] = v.Field + ": " + v.Description
			}
		}
	}
	if len(named) == 0 && items == 1 && failed.Code == codes.ResourceExhausted && failed.Reason == 0 {
		named[0] = failed.Message // gRPC itself: it is too large
	}
	waiting := make([]*pb.BatchAppendItem, 0, len(c.pending))
	for i, item := range c.pending {
		if why, ok := named[i]; ok {
			refused = append(refused, Refused{Index: i, Item: item, Message: why})
		} else {
			waiting = append(waiting, item)
		}
	}
	c.pending = waiting
	return refused
}

// ready creates the conversation, if it is to be created.
func (c *Conversation) ready(ctx context.Context) error {
	if c.create == nil {
		return nil
	}
	_, err := callWithin(ctx, c.p, c.patience(c.create), c.p.Raw.Conversations.CreateConversation, c.create)
	if err != nil && ReasonOf(err) != pb.ErrorReason_ERROR_REASON_CONVERSATION_EXISTS {
		return err
	}
	c.create = nil
	return nil
}
