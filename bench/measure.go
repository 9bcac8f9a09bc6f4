package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

const samples = 300 // of each latency, in each round

// warmBuild compares building a 600 KB context, one short message after the other, with a bare reply and a bare commit.
func warmBuild(ctx context.Context, r *rig) (float64, string, error) {
	if err := r.fill(ctx, "large", 600, 1000); err != nil {
		return 0, "", err
	}
	request := &pb.BuildContextRequest{
		ConversationId: "large", Format: pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC,
		Budget: &pb.Budget{ContextWindowTokens: proto.Int32(2_000_000)},
	}
	first, err := r.sidecar.BuildContext(ctx, request)
	if err != nil {
		return 0, "", err
	}
	size := len(first.GetRendered().GetMessagesJson())
	bare := &pb.BuildContextRequest{Budget: &pb.Budget{MaxContextTokens: proto.Int32(int32(size))}}
	return r.ratio(
		func() error { return r.add(ctx, "large", 40) },
		func() error { _, err := r.sidecar.BuildContext(ctx, request); return err },
		func() error { _, err := r.bare.BuildContext(ctx, bare); return err },
		fmt.Sprintf("%d KB of context", size>>10),
	)
}

// loneAppend compares one append at a time with a bare call and a bare commit.
func loneAppend(ctx context.Context, r *rig) (float64, string, error) {
	request := appendRequest("lone", 200)
	return r.ratio(nil,
		func() error { _, err := r.sidecar.AppendMessage(ctx, request); return err },
		func() error { _, err := r.bare.AppendMessage(ctx, request); return err },
		"200 bytes",
	)
}

// ratio compares the p50 of ours with that of a bare call plus a bare commit, in turns; before is run before each of ours and
// not measured.
func (r *rig) ratio(before, ours, bare func() error, what string) (float64, string, error) {
	best, detail := 0.0, ""
	for range rounds {
		var o, b, c []time.Duration
		for range samples {
			if before != nil {
				if err := before(); err != nil {
					return 0, "", err
				}
			}
			t, err := timed(ours)
			u, err2 := timed(bare)
			d, err3 := r.commit(300)
			if err := firstError(err, err2, err3); err != nil {
				return 0, "", err
			}
			o, b, c = append(o, t), append(b, u), append(c, d)
		}
		value := float64(p50(o)) / float64(p50(b)+p50(c))
		if best == 0 || value < best {
			best, detail = value, fmt.Sprintf("%s: ours %v, bare call %v, bare commit %v (p50)", what, p50(o), p50(b), p50(c))
		}
	}
	return best, detail, nil
}

func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}

func p50(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// manyAppends compares 64 callers, each with a conversation of its own, with 64 callers of a bare echo.
func manyAppends(ctx context.Context, r *rig) (float64, string, error) {
	best, detail := 0.0, ""
	for range rounds {
		ours, err := rate(ctx, r.sidecar)
		if err != nil {
			return 0, "", err
		}
		bare, err := rate(ctx, r.bare)
		if err != nil {
			return 0, "", err
		}
		if value := ours / bare; value > best {
			best, detail = value, fmt.Sprintf("%.0f appends/s, %.0f bare calls/s", ours, bare)
		}
	}
	return best, detail, nil
}

const (
	callers  = 64
	duration = 4 * time.Second
)

// rate is how many calls per second the callers get through together.
func rate(ctx context.Context, client pb.ContextServiceClient) (float64, error) {
	var wg sync.WaitGroup
	counts, errs := make([]int, callers), make([]error, callers)
	start := time.Now()
	for i := range callers {
		wg.Go(func() {
			request := appendRequest(fmt.Sprint("many-", i), 200)
			for time.Since(start) < duration && errs[i] == nil {
				_, errs[i] = client.AppendMessage(ctx, request)
				counts[i]++
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / time.Since(start).Seconds(), firstError(errs...)
}

// longBuild compares builds over a million messages with builds over a thousand, at the same budget.
func longBuild(ctx context.Context, r *rig) (float64, string, error) {
	for name, n := range map[string]int{"long": 1_000_000, "short": 1_000} {
		if err := r.fill(ctx, name, n, 100); err != nil {
			return 0, "", err
		}
	}
	best, detail := 0.0, ""
	for range rounds {
		var long, short []time.Duration
		for range samples {
			l, err := r.stepAndBuild(ctx, "long")
			s, err2 := r.stepAndBuild(ctx, "short")
			if err := firstError(err, err2); err != nil {
				return 0, "", err
			}
			long, short = append(long, l), append(short, s)
		}
		if value := float64(p50(long)) / float64(p50(short)); best == 0 || value < best {
			best, detail = value, fmt.Sprintf("%v over 1,000,000, %v over 1,000 messages (p50)", p50(long), p50(short))
		}
	}
	return best, detail, nil
}

func (r *rig) stepAndBuild(ctx context.Context, conversation string) (time.Duration, error) {
	if err := r.add(ctx, conversation, 100); err != nil {
		return 0, err
	}
	return timed(func() error {
		_, err := r.sidecar.BuildContext(ctx, &pb.BuildContextRequest{
			ConversationId: conversation, Format: pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT,
			Budget: &pb.Budget{ContextWindowTokens: proto.Int32(32_768), ReservedOutputTokens: proto.Int32(0)},
		})
		return err
	})
}

// idleMemory reads the sidecar's memory after a pause, with a million messages on record and a build of each conversation.
func idleMemory(pause time.Duration) func(context.Context, *rig) (float64, string, error) {
	return func(ctx context.Context, r *rig) (float64, string, error) {
		for i := range 10_000 {
			conversation := fmt.Sprint("c", i)
			if err := r.fill(ctx, conversation, 100, 100); err != nil {
				return 0, "", err
			}
			if _, err := r.sidecar.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: conversation}); err != nil {
				return 0, "", err
			}
		}
		busy, err := r.rssAnon()
		if err != nil {
			return 0, "", err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return 0, "", ctx.Err()
		}
		idle, err := r.rssAnon()
		return idle, fmt.Sprintf("%.0f MiB right after the last build, %.0f MiB after %v", busy, idle, pause), err
	}
}

// fill appends so many user messages of so many bytes.
func (r *rig) fill(ctx context.Context, conversation string, n, bytes int) error {
	for n > 0 {
		request := &pb.BatchAppendMessagesRequest{ConversationId: conversation}
		for range min(n, 1000) {
			request.Items = append(request.Items, &pb.BatchAppendItem{Message: message(bytes)})
		}
		if _, err := r.sidecar.BatchAppendMessages(ctx, request); err != nil {
			return err
		}
		n -= len(request.GetItems())
	}
	return nil
}

func (r *rig) add(ctx context.Context, conversation string, bytes int) error {
	_, err := r.sidecar.AppendMessage(ctx, appendRequest(conversation, bytes))
	return err
}

func appendRequest(conversation string, bytes int) *pb.AppendMessageRequest {
	return &pb.AppendMessageRequest{ConversationId: conversation, Message: message(bytes)}
}

func message(bytes int) *pb.Message {
	const words = "The quick brown fox jumps over the lazy dog, and 42 times so. "
	text := strings.Repeat(words, bytes/len(words)+1)[:bytes]
	return &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: text}}}}
}
