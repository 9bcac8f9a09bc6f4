package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const (
	windowTokens = 32_768
	// betweenBuilds is how many messages an agent appends between two builds while its conversation grows.
	betweenBuilds = 100
)

// windowBuild compares builds over 100,000 messages with builds over 1,000, with every policy on: what is old expires, is pruned and
// summarized, and blocks have a retention. The conversations are lived through, build by build, before. The flags are those of the
// sidecar that is measured.
func windowBuild(flags ...string) func(context.Context, *rig) (float64, string, error) {
	return func(ctx context.Context, r *rig) (float64, string, error) {
		for name, n := range map[string]int{"long": 100_000, "short": 1_000} {
			if err := r.live(ctx, name, n); err != nil {
				return 0, "", err
			}
		}
		reply, err := r.sidecar.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: "long"})
		if err == nil && reply.GetCompaction().GetSummaryId() == "" {
			err = errors.New("the long conversation was never summarized: nothing is measured")
		}
		if err := cmp.Or(err, r.relaunch(ctx, flags...)); err != nil {
			return 0, "", err
		}
		return bestOf([]sample{
			func() (time.Duration, error) { return r.exchangeAndBuild(ctx, "long") },
			func() (time.Duration, error) { return r.exchangeAndBuild(ctx, "short") },
		}, func(took [][]time.Duration) string {
			long, short := took[0], took[1]
			return fmt.Sprintf("%v over 100,000, %v over 1,000 messages (p50); %v and %v (p95)", p50(long), p50(short), p95(long), p95(short))
		})
	}
}

// p95 is of durations that are sorted.
func p95(d []time.Duration) time.Duration { return d[len(d)*95/100] }

// live is the life of a conversation under all policies, up to so many messages.
func (r *rig) live(ctx context.Context, conversation string, n int) error {
	_, err := r.set.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: conversation, Policy: &pb.Policy{
		Expiration: &pb.ExpirationPolicy{Results: &pb.Expiration{
			Turns: proto.Int32(5), Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT, CompactMode: pb.CompactMode_COMPACT_MODE_FIRST_N_CHARS,
			CompactLength: proto.Int32(100),
		}},
		Retention:  &pb.RetentionPolicy{AllInputs: proto.Bool(true)},
		Pruning:    &pb.PruningPolicy{ProtectTokens: proto.Int32(4000), MinimumTokens: proto.Int32(1000)},
		Compaction: &pb.CompactionPolicy{Strategy: pb.CompactionStrategy_COMPACTION_STRATEGY_SUMMARIZE},
		Fit:        &pb.FitPolicy{MaxContextTokens: proto.Int32(windowTokens)},
	}}})
	for at := 0; at < n && err == nil; at += betweenBuilds {
		request := &pb.BatchAppendMessagesRequest{ConversationId: conversation}
		for i := at; i < at+betweenBuilds; i += 2 {
			request.Items = append(request.Items, exchange(i)...)
		}
		if _, err = r.sidecar.BatchAppendMessages(ctx, request); err == nil {
			_, err = r.buildWindow(ctx, conversation)
		}
	}
	return err
}

// exchange is a call and its result; now and then, a user's words and an answer, with what a plugin adds.
func exchange(i int) []*pb.BatchAppendItem {
	if i%20 == 0 {
		answer := message(80)
		answer.Role = pb.Role_ROLE_ASSISTANT
		return []*pb.BatchAppendItem{{Message: message(100), AdditionalContent: []*pb.AdditionalContent{{
			Plugin: "memory", Header: "## Memory", DisplayOnCurrentMessage: true, Parts: message(60).GetParts(),
			SaveToChatHistory: &pb.AdditionalContent_KeepLast{KeepLast: 3},
		}}}, {Message: answer}}
	}
	id := fmt.Sprint("call-", i)
	call := message(60)
	call.Role = pb.Role_ROLE_ASSISTANT
	call.Parts = append(call.Parts, &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{
		CallId: id, Name: "read", ArgumentsJson: fmt.Sprintf(`{"path":"/srv/data/part%d.csv"}`, i),
	}}})
	result := &pb.Message{Role: pb.Role_ROLE_TOOL, Parts: []*pb.Part{{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{
		CallId: id, Name: "read", State: pb.ToolResultState_TOOL_RESULT_STATE_COMPLETED, Output: &pb.ToolResult_Text{Text: message(400).GetParts()[0].GetText()},
	}}}}}
	return []*pb.BatchAppendItem{{Message: call}, {Message: result}}
}

func (r *rig) exchangeAndBuild(ctx context.Context, conversation string) (time.Duration, error) {
	if _, err := r.sidecar.BatchAppendMessages(ctx, &pb.BatchAppendMessagesRequest{ConversationId: conversation, Items: exchange(1)}); err != nil {
		return 0, err
	}
	return r.buildWindow(ctx, conversation)
}

func (r *rig) buildWindow(ctx context.Context, conversation string) (time.Duration, error) {
	return timed(func() error {
		_, err := r.sidecar.BuildContext(ctx, &pb.BuildContextRequest{
			ConversationId: conversation, Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT,
		})
		return err
	})
}
