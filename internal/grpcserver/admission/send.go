package admission

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	"github.com/palimpsest-context/palimpsest/internal/grpcserver/paging"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// MaxSendTime is how long a client may take to receive a large message.
const MaxSendTime = 30 * time.Second

// ServerOptions are what a server on a transport needs for its exchanges to send. It has no other credentials: gRPC takes the last ones alone.
func ServerOptions(transport credentials.TransportCredentials) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.Creds(connections{transport}),
		grpc.ForceServerCodecV2(sendingCodec{encoding.GetCodecV2(protocodec.Name)}),
	}
}

// AdmitReply admits the answer to a request before it is made, for the most bytes that it may have.
func (e *Exchange) AdmitReply(req any) (err error) {
	lane := e.admission.replies.small
	var limit int
	switch r := req.(type) {
	case interface{ GetMaxReplyBytes() int32 }:
		asked := r.GetMaxReplyBytes()
		limit = e.admission.ReplyLimit(&asked)
	case paging.Paged:
		limit = paging.DefaultReplyBytes
	default: // its answer is as small as what it does
		return nil
	}
	if limit > paging.DefaultReplyBytes {
		lane = e.admission.replies.large
	}
	e.reply, err = e.admission.take(e.ctx, lane, copiesOfReply*int64(limit))
	return err
}

// AdmitStream admits a stream of answers.
func (e *Exchange) AdmitStream(cost int64) (err error) {
	e.reply, err = e.admission.take(e.ctx, e.admission.replies.large, cost)
	return err
}

// WithoutReply gives the answer's memory to others while wait runs.
func (e *Exchange) WithoutReply(wait func()) error {
	lane, cost := e.reply.lane, e.reply.cost
	e.reply.release()
	wait()
	granted, err := e.admission.take(e.ctx, lane, cost)
	if err != nil {
		return err
	}
	e.reply = granted
	return nil
}

// SendMsg sends a message. A large one, which takes memory until the client has it, it sees on its way: gRPC would take any number of
// them from handlers that have ended.
func (e *Exchange) SendMsg(m any) error {
	message, ok := m.(proto.Message)
	if !ok {
		return conversation.Errorf(conversation.Internal, "a message of another kind")
	}
	size := proto.Size(message)
	if e.Unary && e.reply != nil {
		e.reply.shrink(copiesOfReply * int64(size))
	}
	if size <= SmallMessageBytes {
		return e.ServerStream.SendMsg(m)
	}
	large := &largeMessage{message: message, size: size, sent: make(chan struct{})}
	if err := e.ServerStream.SendMsg(large); err != nil {
		return err
	}
	timer := time.NewTimer(MaxSendTime)
	defer timer.Stop()
	select {
	case <-large.sent:
		return nil
	case <-e.ctx.Done():
		return e.ctx.Err()
	case <-timer.C:
		hangUp(e.ctx)
		return conversation.Errorf(conversation.Overloaded, "the client did not take the answer within %s", MaxSendTime)
	}
}

// largeMessage is a message that says when its bytes are written. It is the pool that they go back to.
type largeMessage struct {
	message proto.Message
	size    int
	sent    chan struct{}
}

// Get implements mem.BufferPool; nobody asks for one.
func (*largeMessage) Get(length int) *[]byte { b := make([]byte, length); return &b }

// Put implements mem.BufferPool.
func (l *largeMessage) Put(*[]byte) { close(l.sent) }

// sendingCodec is gRPC's own codec, but for large messages.
type sendingCodec struct{ encoding.CodecV2 }

// Marshal implements encoding.CodecV2.
func (c sendingCodec) Marshal(v any) (mem.BufferSlice, error) {
	large, ok := v.(*largeMessage)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	raw, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(make([]byte, 0, large.size), large.message)
	if err != nil {
		return nil, err
	}
	large.message = nil
	return mem.BufferSlice{mem.NewBuffer(&raw, large)}, nil
}

// connections are a transport's credentials that let a call's connection be found.
type connections struct {
	credentials.TransportCredentials
}

// ServerHandshake implements credentials.TransportCredentials.
func (c connections) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return nil, nil, err
	}
	return conn, Connection{info, raw}, nil
}

// Clone implements credentials.TransportCredentials.
func (c connections) Clone() credentials.TransportCredentials {
	return connections{c.TransportCredentials.Clone()}
}

// Connection is what a server with [ServerOptions] knows of a client: what the transport says of it, and the connection below the transport.
type Connection struct {
	credentials.AuthInfo
	raw net.Conn
}

// GetSecurityValue implements credentials.ChannelzSecurityInfo.
func (c Connection) GetSecurityValue() credentials.ChannelzSecurityValue {
	if info, ok := c.AuthInfo.(credentials.ChannelzSecurityInfo); ok {
		return info.GetSecurityValue()
	}
	return nil
}

// hangUp ends the connection of a call: nothing less takes back what was given to gRPC to send.
func hangUp(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		if c, ok := p.AuthInfo.(Connection); ok {
			_ = c.raw.Close()
		}
	}
}
