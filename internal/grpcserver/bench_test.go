package grpcserver

import (
	"context"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/grpcserver/contextservice"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// instant is an engine that takes no time: what is left is the edge.
type instant struct {
	Engine
	built *engine.BuildResult
}

func (instant) Append(_ context.Context, r engine.AppendRequest) (*engine.AppendResult, error) {
	return &engine.AppendResult{Messages: r.Messages, Events: make([]conversation.Event, len(r.Messages))}, nil
}

func (i instant) Build(_ context.Context, r engine.BuildRequest) (*engine.BuildResult, error) {
	return i.built, r.Check(i.built)
}

func BenchmarkServer_AppendMessage(b *testing.B) {
	s := start(b, instant{})
	for name, req := range map[string]*pb.AppendMessageRequest{
		"1KB":       {ConversationId: "c", Message: userText(strings.Repeat("x", 1000))},
		"1KB/retry": {ConversationId: "c", Message: userText(strings.Repeat("x", 1000)), RequestId: "r"},
		"1MB":       {ConversationId: "c", Message: userText(strings.Repeat("x", 1_000_000))},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.contexts.AppendMessage(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkServer_BuildContext_600KB(b *testing.B) {
	s := start(b, instant{built: &engine.BuildResult{MessagesJSON: []byte(strings.Repeat("x", 600_000))}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.contexts.BuildContext(b.Context(), &pb.BuildContextRequest{ConversationId: "c"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkService_BuildContext_600KB is the edge without the transport: nothing in it may grow with the context.
func BenchmarkService_BuildContext_600KB(b *testing.B) {
	s := contextservice.New(instant{built: &engine.BuildResult{MessagesJSON: []byte(strings.Repeat("x", 600_000))}}, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.BuildContext(b.Context(), &pb.BuildContextRequest{ConversationId: "c"}); err != nil {
			b.Fatal(err)
		}
	}
}
