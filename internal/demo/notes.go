package demo

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/terminal"
)

// lifetimes say how long the results of a tool are shown in full, and what happens then. They go with each result, so that the
// catalog of a sidecar that runs already stays as it is.
var lifetimes = map[string]*pb.Expiration{
	"list":     {Turns: proto.Int32(1), Mode: pb.ExpirationMode_EXPIRATION_MODE_REMOVE},
	"search":   compactAfter(3, pb.CompactMode_COMPACT_MODE_FIRST_N_CHARS, 300),
	"read":     compactAfter(2, pb.CompactMode_COMPACT_MODE_AI_SUMMARY, 2_400),
	"go_doc":   compactAfter(4, pb.CompactMode_COMPACT_MODE_AI_SUMMARY, 2_400),
	expandTool: compactAfter(3, pb.CompactMode_COMPACT_MODE_FIRST_N_CHARS, 200),
}

func compactAfter(turns int32, how pb.CompactMode, length int32) *pb.Expiration {
	return &pb.Expiration{Turns: &turns, Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT, CompactMode: how, CompactLength: &length}
}

// withoutExpiration is a message that stays as it is.
func withoutExpiration(m *pb.Message) *pb.Message {
	m = proto.CloneOf(m)
	m.Expiration = nil
	for _, part := range m.Parts {
		if r := part.GetToolResult(); r != nil {
			r.Expiration = nil
		}
	}
	return m
}

// What plugins add, and for how long.
const (
	questionNoted = "manner: for this build alone; progress: for good"
	failureNoted  = "coach: until a plugin speaks again"
)

// questionNotes is what plugins add to a question: how to answer it, for the next build alone; and how far the work was, for
// good. A note that left an old question later would make the provider read everything behind it anew.
func (a *agent) questionNotes() []*pb.AdditionalContent {
	bytes := 0
	for i := range a.entries {
		if a.entries[i].role == pb.Role_ROLE_TOOL {
			bytes += a.entries[i].bytes
		}
	}
	manner := note("manner", "Answer in at most three sentences. Name what you did not read.")
	manner.SaveToChatHistory = &pb.AdditionalContent_Never{Never: &pb.Never{}}
	progress := note("progress", fmt.Sprintf("Until now: %d tool calls, %s of results.", a.calls, terminal.Bytes(bytes)))
	progress.Header, progress.SaveToChatHistory = "[progress]", &pb.AdditionalContent_Always{Always: &pb.Always{}}
	return []*pb.AdditionalContent{manner, progress}
}

// failureNotes is what a plugin adds to the result of a tool that failed, until the next message with notes.
func failureNotes() []*pb.AdditionalContent {
	coach := note("coach", "Look into the folder before you guess a file's name.")
	coach.SaveToChatHistory = &pb.AdditionalContent_KeepLast{KeepLast: 1}
	return []*pb.AdditionalContent{coach}
}

func note(plugin, words string) *pb.AdditionalContent {
	return &pb.AdditionalContent{Plugin: plugin, Parts: text(words), DisplayOnCurrentMessage: true}
}

func text(said string) []*pb.Part { return []*pb.Part{{Content: &pb.Part_Text{Text: said}}} }
