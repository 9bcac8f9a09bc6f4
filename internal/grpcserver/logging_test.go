package grpcserver

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestLogging_Line_HasTheseFieldsAlone(t *testing.T) {
	s := start(t, realEngine(t))
	if _, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.conversations.GetConversation(t.Context(), &pb.GetConversationRequest{ConversationId: "d"}); err == nil {
		t.Fatal("found")
	}
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	good := []string{"code", "duration_ms", "level", "method", "msg", "request_bytes", "request_id", "service", "ts"}
	for i, want := range [][]string{good, append(slices.Clone(good), "error", "reason")} {
		var line map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(line)); !slices.Equal(got, want) {
			t.Errorf("line %d has %q", i, got)
		}
	}
}

// TestLogging_WatcherThatLeaves_IsNoError: leaving is the only way to end a watch.
func TestLogging_WatcherThatLeaves_IsNoError(t *testing.T) {
	s := start(t, realEngine(t))
	if _, err := s.contexts.AppendMessage(t.Context(), &pb.AppendMessageRequest{ConversationId: "c", Message: userText("x")}); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	stream, err := s.conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := s.server.Shutdown(t.Context()); err != nil { // which waits for the stream, and so for its line
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	last := lines[len(lines)-1]
	if !strings.Contains(last, "WatchEvents") || !strings.Contains(last, `"level":"debug"`) || strings.Contains(last, `"error"`) {
		t.Error(last)
	}
}
