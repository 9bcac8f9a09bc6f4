package admission

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/rules"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

const (
	// MaxReceiveBytes is what the wire carries: 16 MiB, and what stands around the largest field that may have them.
	MaxReceiveBytes = 16<<20 + 64<<10
	// Fields that are set and entries of lists, at any depth: some hundred a message would be many, and a batch has a thousand messages.
	maxElements    = 200_000
	maxReceiveTime = 30 * time.Second
	// maxProbeBytes is of a probe's message, the name of a service.
	maxProbeBytes = 4 << 10
)

// wire is gRPC's own stream, below what it gives to handlers. gRPC receives a message as a whole before anybody can ask for its size,
// and 64 of the largest are a gigabyte; so the header of each is read here, and its bytes once they are admitted.
type wire interface {
	ReadMessageHeader([]byte) error
	Read(n int) (mem.BufferSlice, error)
}

// Exchange is the messages of one call, both ways. It holds the memory of the last one received, and what the answer may take.
type Exchange struct {
	grpc.ServerStream
	ctx       context.Context //nolint:containedctx // of the call, with the exchange itself in it
	admission *Controller
	granted   *grant
	reply     *grant
	Unary     bool            // its answer is one message
	Bytes     int             // of the last message received
	Received  int64           // bytes of all messages received
	longest   uint32          // bytes of a message
	due       time.Time       // set while what it receives is admitted already: the next message must be here by then
	until     context.Context //nolint:containedctx // set where receiving ends before the call does
}

type exchangeKey struct{}

// NewExchange returns the exchange of a stream's call.
func NewExchange(stream grpc.ServerStream, a *Controller) *Exchange {
	e := &Exchange{ServerStream: stream, admission: a, longest: MaxReceiveBytes}
	e.ctx = context.WithValue(stream.Context(), exchangeKey{}, e)
	return e
}

// ForProbe makes it the exchange of a call that asks for no credential: its message is so short that it takes nobody's memory, and must be
// here soon.
func (e *Exchange) ForProbe() { e.longest, e.due = maxProbeBytes, time.Now().Add(maxReceiveTime) }

// ExchangeOf is the exchange of a handler's call.
func ExchangeOf(ctx context.Context) *Exchange {
	e, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return e
}

// Context implements grpc.ServerStream.
func (e *Exchange) Context() context.Context { return e.ctx }

// ReceiveUntil makes receiving end when ctx does, whatever the client sends: a handler that waits for it must hear.
func (e *Exchange) ReceiveUntil(ctx context.Context) { e.until = ctx }

// RecvMsg receives the next message, admits and counts it, and unmarshals it.
func (e *Exchange) RecvMsg(m any) error {
	e.Release()
	stream, ok := grpc.ServerTransportStreamFromContext(e.ctx).(wire)
	message, isProto := m.(proto.Message)
	if !ok || !isProto {
		return conversation.Errorf(conversation.Internal, "a stream of another kind")
	}
	size, err := e.announcedSize(stream)
	if err != nil {
		return err
	}
	e.Bytes, e.Received = size, e.Received+int64(size)
	if e.due.IsZero() {
		if e.granted, err = e.admission.announced(e.ctx, size); err != nil {
			e.granted = nil
			return err
		}
	}
	raw, err := e.read(stream, size)
	if err != nil {
		return err
	}
	defer raw.Free()
	return e.unmarshal(raw.ReadOnlyData(), message)
}

func (e *Exchange) unmarshal(raw []byte, message proto.Message) (err error) {
	elements := elementCounter{limit: maxElements}
	if !elements.walk(raw, message.ProtoReflect().Descriptor()) {
		return rules.Violation(elements.field, "makes the request larger than %s elements: fields that are set and entries of lists, at any depth, and values of a provider's JSON", rules.Grouped(maxElements))
	}
	if e.granted != nil {
		if e.granted, err = e.admission.counted(e.ctx, e.granted, len(raw), elements.count); err != nil {
			e.granted = nil
			return err
		}
	}
	if err := proto.Unmarshal(raw, message); err != nil {
		return status.Errorf(codes.Internal, "grpc: failed to unmarshal the received message: %v", err)
	}
	return nil
}

// Release gives back the memory of the last message received.
func (e *Exchange) Release() {
	if e.granted != nil {
		e.granted.release()
		e.granted = nil
	}
}

// End gives back everything.
func (e *Exchange) End() {
	e.Release()
	if e.reply == nil {
		return
	}
	if e.reply.fills() {
		freeMemory() // the next one, as large, has no room beside what this one leaves
	}
	e.reply.release()
}

// announcedSize reads the header of the next message. What is wrong with it is said as gRPC does.
func (e *Exchange) announcedSize(stream wire) (int, error) {
	header, err := within(e.until, e.due, func() (header [5]byte, err error) {
		err = stream.ReadMessageHeader(header[:])
		return header, err
	})
	if err != nil {
		return 0, received(err)
	}
	if header[0] != 0 {
		return 0, status.Error(codes.Unimplemented, "grpc: compressed messages are not supported")
	}
	size := binary.BigEndian.Uint32(header[1:])
	if size > e.longest {
		return 0, status.Errorf(codes.ResourceExhausted, "grpc: received message larger than max (%d vs. %d)", size, e.longest)
	}
	return int(size), nil
}

// read reads a message. A large one, which holds memory that others wait for, has limited time.
func (e *Exchange) read(stream wire, size int) (mem.Buffer, error) {
	due := e.due
	if due.IsZero() && size > SmallMessageBytes {
		due = time.Now().Add(maxReceiveTime)
	}
	return within(e.until, due, func() (mem.Buffer, error) { return readAll(stream, size) })
}

// within reads until a time or the end of a context; without both, however long it takes. The end of its call ends a reading that is given up.
func within[T any](until context.Context, due time.Time, read func() (T, error)) (T, error) {
	if due.IsZero() && until == nil {
		return read()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	timeout, stop := timeoutAt(due)
	defer stop()
	var none T
	select {
	case r := <-done:
		return r.value, r.err
	case <-timeout:
		return none, conversation.Errorf(conversation.Overloaded, "the request did not arrive within %s", maxReceiveTime)
	case <-ended(until):
		return none, until.Err()
	}
}

// timeoutAt tells when a time comes; never, if there is none.
func timeoutAt(due time.Time) (timeout <-chan time.Time, stop func() bool) {
	if due.IsZero() {
		return nil, func() bool { return true }
	}
	timer := time.NewTimer(time.Until(due))
	return timer.C, timer.Stop
}

// ended tells when a context ends; never, if there is none.
func ended(ctx context.Context) <-chan struct{} {
	if ctx == nil {
		return nil
	}
	return ctx.Done()
}

func readAll(stream wire, size int) (mem.Buffer, error) {
	frames, err := stream.Read(size)
	if err != nil {
		return nil, received(err)
	}
	defer frames.Free()
	return frames.MaterializeToBuffer(mem.DefaultBufferPool()), nil
}

// received keeps the end of a stream apart from its failures.
func received(err error) error {
	var domain *conversation.Error
	if errors.Is(err, io.EOF) || errors.As(err, &domain) || status.Code(err) != codes.Unknown {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return status.FromContextError(err).Err()
	}
	return status.Error(codes.Internal, err.Error())
}

// First receives the message of a call that has one.
func (e *Exchange) First(m any) error {
	err := e.RecvMsg(m)
	if errors.Is(err, io.EOF) {
		return conversation.Errorf(conversation.InvalidField, "the call has no request")
	}
	return err
}
