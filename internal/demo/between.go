package demo

import (
	"context"
	"fmt"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

// What people do between an answer and the next question. From then on the conversation is no longer the one that is kept beside it.

// between does what a script says.
func (a *agent) between(ctx context.Context, what string) {
	do, ok := map[string]func(context.Context){"prune": a.prune, "compact": a.compact, "rewind": a.rewind}[what]
	if !ok {
		a.fail("playing the script", fmt.Errorf("nobody can %s", what))
		return
	}
	do(ctx)
}

// prune has old results cleared earlier than the sidecar would by itself.
func (a *agent) prune(ctx context.Context) {
	protect := a.sidecar.budget.GetContextWindowTokens() / 16
	_, err := a.sidecar.records.UpdateConversation(ctx, &pb.UpdateConversationRequest{
		Conversation: &pb.Conversation{Id: a.sidecar.conversation, Policy: &pb.Policy{
			Pruning: &pb.PruningPolicy{ProtectTokens: &protect, MinimumTokens: &protect},
		}},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy.pruning"}},
	})
	a.fail("changing the conversation's policy", err)
	a.Wrapped("operator", sheet.Bold, "Results older than the newest %s tokens may be cleared.", number(protect))
}

// The demo's summary leaves the newest messages alone, if they have room in what is asked for.
const (
	keptRecent   = 4
	targetTokens = 7_000
)

// compact has a summary made of all but the newest messages. It is refused where the newest weigh nearly all; the demo goes on.
func (a *agent) compact(ctx context.Context) {
	a.Wrapped("operator", sheet.Bold, "Make the view smaller now, %s tokens at most. A build does so by itself once it outgrows its budget.", number(targetTokens))
	reply, err := a.sidecar.contexts.CompactConversation(ctx, &pb.CompactConversationRequest{
		ConversationId: a.sidecar.conversation,
		Options:        &pb.CompactionOptions{KeepRecent: proto.Int32(keptRecent), TargetTokens: proto.Int32(targetTokens)},
	})
	if err != nil {
		a.Wrapped("refused", sheet.Red, "%s", status.Convert(err).Message())
		a.fail("compacting", ctx.Err())
		return
	}
	a.count(reply.Events)
	a.showChange(changesOf(reply.Events)[0], reply.Result.Summaries[0].Text)
}

// rewind takes the user's last question back, and all that followed on it.
func (a *agent) rewind(ctx context.Context) {
	reply, err := a.sidecar.contexts.RewindConversation(ctx, &pb.RewindConversationRequest{
		ConversationId: a.sidecar.conversation, FromIndex: int32(a.asked),
	})
	a.fail("taking a question back", err)
	a.count(reply.GetEvents())
	a.Wrapped("rewound", sheet.Yellow, "#%d to #%d: the user takes the question back, to edit it; on record it stays", reply.GetStartIndex(), reply.GetEndIndex()-1)
}

// restore puts the result of a call back into the view in full. What is too large for that is refused, and so is what is in view in
// full already; the demo goes on.
func (a *agent) restore(ctx context.Context, of call) {
	index, ok := a.answerOf(of.String())
	if !ok {
		return
	}
	reply, err := a.sidecar.expand(ctx, &pb.ExpandMessageRequest{
		Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: index}, Mode: pb.ExpandMode_EXPAND_MODE_RESTORE,
	})
	if err != nil {
		a.Wrapped("restore", sheet.Red, "#%d %s: %s", index, of, status.Convert(err).Message())
		a.fail("restoring", ctx.Err())
		return
	}
	a.Wrapped("restored", sheet.Green, "#%d %s: back in full, and its turns begin again; about %s tokens are read anew for it",
		index, of, number(reply.GetRewriteTokens()))
	a.count(reply.Events)
}
