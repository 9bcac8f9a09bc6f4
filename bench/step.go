package main

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// stepsBefore is how many exchanges an agent has had before its steps are measured: the window is full, or nearly so.
const stepsBefore = 200

// loneStep compares a step by one call with a bare call and a bare commit of the same bytes.
func loneStep(ctx context.Context, r *rig) (float64, string, error) {
	size, err := r.beginSteps(ctx, "one")
	if err != nil {
		return 0, "", err
	}
	n := 0
	appended := proto.Size(stepRequest("one", 0).GetAppend())
	return bestOf([]sample{
		func() (time.Duration, error) {
			n++
			return timed(func() (err error) { size, err = r.step(ctx, "one", n); return err })
		},
		func() (time.Duration, error) {
			bare := stepRequest("one", n)
			bare.Budget = &pb.Budget{MaxContextTokens: proto.Int32(int32(size))}
			return timed(func() error { _, err := r.bare.BuildContext(ctx, bare); return err })
		},
		func() (time.Duration, error) { return r.commit(appended) },
	}, func(took [][]time.Duration) string {
		return fmt.Sprintf("%d bytes in, %d KB out: ours %v, bare call %v, bare commit %v (p50)", appended, size>>10, p50(took[0]), p50(took[1]), p50(took[2]))
	})
}

// stepByCalls compares a step by one call with one by three: append, append, build.
func stepByCalls(ctx context.Context, r *rig) (float64, string, error) {
	for _, conversation := range []string{"one", "three"} {
		if _, err := r.beginSteps(ctx, conversation); err != nil {
			return 0, "", err
		}
	}
	n := 0
	return bestOf([]sample{
		func() (time.Duration, error) {
			n++
			return timed(func() error { _, err := r.step(ctx, "one", n); return err })
		},
		func() (time.Duration, error) { return timed(func() error { return r.stepInThree(ctx, n) }) },
	}, p50s("%v in one call, %v in three (p50)"))
}

// beginSteps fills a conversation, and says how many bytes its context has.
func (r *rig) beginSteps(ctx context.Context, conversation string) (int, error) {
	request := &pb.BatchAppendMessagesRequest{ConversationId: conversation, Items: []*pb.BatchAppendItem{{Message: message(400)}}}
	for i := range stepsBefore {
		request.Items = append(request.Items, exchange(2*i+1)...)
	}
	if _, err := r.sidecar.BatchAppendMessages(ctx, request); err != nil {
		return 0, err
	}
	return r.step(ctx, conversation, 0)
}

// stepRequest is what an agent asks after a step: the call and its result go on record, and it is told what the model should see.
func stepRequest(conversation string, n int) *pb.BuildContextRequest {
	return &pb.BuildContextRequest{
		ConversationId: conversation, Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT,
		Budget: &pb.Budget{ContextWindowTokens: proto.Int32(windowTokens), ReservedOutputTokens: proto.Int32(0)},
		Append: &pb.BuildAppend{Items: exchange(2*(stepsBefore+n) + 1)},
	}
}

func (r *rig) step(ctx context.Context, conversation string, n int) (int, error) {
	reply, err := r.sidecar.BuildContext(ctx, stepRequest(conversation, n))
	return len(reply.GetRendered().GetMessagesJson()), err
}

func (r *rig) stepInThree(ctx context.Context, n int) error {
	request := stepRequest("three", n)
	for _, item := range request.GetAppend().GetItems() {
		if _, err := r.sidecar.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: "three", Message: item.GetMessage()}); err != nil {
			return err
		}
	}
	request.Append = nil
	_, err := r.sidecar.BuildContext(ctx, request)
	return err
}
