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
	best, detail := 0.0, ""
	for range rounds {
		var o, b, c []time.Duration
		for range samples {
			n++
			bare := stepRequest("one", n)
			bare.Budget = &pb.Budget{MaxContextTokens: proto.Int32(int32(size))}
			ours, err := timed(func() (err error) { size, err = r.step(ctx, "one", n); return err })
			call, err2 := timed(func() error { _, err := r.bare.BuildContext(ctx, bare); return err })
			commit, err3 := r.commit(appended)
			if err := firstError(err, err2, err3); err != nil {
				return 0, "", err
			}
			o, b, c = append(o, ours), append(b, call), append(c, commit)
		}
		value := float64(p50(o)) / float64(p50(b)+p50(c))
		if best == 0 || value < best {
			best = value
			detail = fmt.Sprintf("%d bytes in, %d KB out: ours %v, bare call %v, bare commit %v (p50)", appended, size>>10, p50(o), p50(b), p50(c))
		}
	}
	return best, detail, nil
}

// stepByCalls compares a step by one call with one by three: append, append, build.
func stepByCalls(ctx context.Context, r *rig) (float64, string, error) {
	for _, conversation := range []string{"one", "three"} {
		if _, err := r.beginSteps(ctx, conversation); err != nil {
			return 0, "", err
		}
	}
	n := 0
	best, detail := 0.0, ""
	for range rounds {
		var one, three []time.Duration
		for range samples {
			n++
			a, err := timed(func() error { _, err := r.step(ctx, "one", n); return err })
			b, err2 := timed(func() error { return r.stepInThree(ctx, n) })
			if err := firstError(err, err2); err != nil {
				return 0, "", err
			}
			one, three = append(one, a), append(three, b)
		}
		if value := float64(p50(one)) / float64(p50(three)); best == 0 || value < best {
			best, detail = value, fmt.Sprintf("%v in one call, %v in three (p50)", p50(one), p50(three))
		}
	}
	return best, detail, nil
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
