package grpcserver

import (
	"encoding/binary"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// wire is gRPC's own stream, below what it gives to handlers. gRPC receives a message as a whole before anybody can ask for its size,
// and 64 of the largest are a gigabyte; so the header of each is read here, and its bytes once they are admitted.
type wire interface {
	ReadMessageHeader([]byte) error
	Read(n int) (mem.BufferSlice, error)
}

// receiver receives the messages of one call. It holds the memory of the last one.
type receiver struct {
	grpc.ServerStream
	admission *admission
	granted   *grant
	bytes     int // of the last message
}

// RecvMsg receives the next message, admits and counts it, and unmarshals it.
func (r *receiver) RecvMsg(m any) error {
	r.release()
	ctx := r.Context()
	stream, ok := grpc.ServerTransportStreamFromContext(ctx).(wire)
	message, isProto := m.(proto.Message)
	if !ok || !isProto {
		return conversation.Errorf(conversation.Internal, "a stream of another kind")
	}
	size, err := announcedSize(stream)
	if err != nil {
		return err
	}
	granted, err := r.admission.announced(ctx, size)
	if err != nil {
		return err
	}
	r.granted, r.bytes = granted, size
	raw, err := read(stream, size)
	if err != nil {
		return err
	}
	defer raw.Free()
	elements := elementCounter{limit: maxElements}
	if !elements.walk(raw.ReadOnlyData(), message.ProtoReflect().Descriptor()) {
		return violation(elements.field, "makes the request larger than %s elements: fields that are set and entries of lists, at any depth", grouped(maxElements))
	}
	if r.granted, err = r.admission.counted(ctx, granted, size, elements.count); err != nil {
		r.granted = nil
		return err
	}
	if err := proto.Unmarshal(raw.ReadOnlyData(), message); err != nil {
		return status.Errorf(codes.Internal, "grpc: failed to unmarshal the received message: %v", err)
	}
	return nil
}

func (r *receiver) release() {
	if r.granted != nil {
		r.granted.release()
		r.granted = nil
	}
}

// announcedSize reads the header of the next message. What is wrong with it is said as gRPC does.
func announcedSize(stream wire) (int, error) {
	var header [5]byte
	if err := stream.ReadMessageHeader(header[:]); err != nil {
		return 0, received(err)
	}
	if header[0] != 0 {
		return 0, status.Error(codes.Unimplemented, "grpc: compressed messages are not supported")
	}
	size := binary.BigEndian.Uint32(header[1:])
	if size > maxReceiveBytes {
		return 0, status.Errorf(codes.ResourceExhausted, "grpc: received message larger than max (%d vs. %d)", size, maxReceiveBytes)
	}
	return int(size), nil
}

// read reads a message. A large one, which holds memory that others wait for, has limited time; the end of its call ends a reading that is
// given up.
func read(stream wire, size int) (mem.Buffer, error) {
	if size <= smallMessageBytes {
		return readAll(stream, size)
	}
	type result struct {
		raw mem.Buffer
		err error
	}
	done := make(chan result, 1)
	go func() {
		raw, err := readAll(stream, size)
		done <- result{raw, err}
	}()
	timer := time.NewTimer(maxReceiveTime)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.raw, r.err
	case <-timer.C:
		return nil, conversation.Errorf(conversation.Overloaded, "the request did not arrive within %s", maxReceiveTime)
	}
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
	if errors.Is(err, io.EOF) || status.Code(err) != codes.Unknown {
		return err
	}
	return status.Error(codes.Internal, err.Error())
}
