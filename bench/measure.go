package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/store"
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

// ratio compares ours with a bare call plus a bare commit of so many bytes; before is run before each of ours and not measured.
func (r *rig) ratio(before, ours, bare func() error, what string) (float64, string, error) {
	if before == nil {
		before = func() error { return nil }
	}
	return bestOf([]sample{
		func() (time.Duration, error) {
			if err := before(); err != nil {
				return 0, err
			}
			return timed(ours)
		},
		func() (time.Duration, error) { return timed(bare) },
		func() (time.Duration, error) { return r.commit(300) },
	}, func(took [][]time.Duration) string {
		return fmt.Sprintf("%s: ours %v, bare call %v, bare commit %v (p50)", what, p50(took[0]), p50(took[1]), p50(took[2]))
	})
}

// sample does once what is measured, and says how long it took.
type sample func() (time.Duration, error)

// bestOf compares the p50 of the first with the sum of those of the others, all taken in turns: the least of the rounds, and what is
// to be said of it.
func bestOf(sides []sample, describe func(took [][]time.Duration) string) (best float64, detail string, err error) {
	for range rounds {
		took := make([][]time.Duration, len(sides))
		for range samples {
			for i, side := range sides {
				t, err := side()
				if err != nil {
					return 0, "", err
				}
				took[i] = append(took[i], t)
			}
		}
		others := time.Duration(0)
		for _, t := range took[1:] {
			others += p50(t)
		}
		if value := float64(p50(took[0])) / float64(others); best == 0 || value < best {
			best, detail = value, describe(took)
		}
	}
	return best, detail, nil
}

// p50s says what two sides took.
func p50s(format string) func(took [][]time.Duration) string {
	return func(took [][]time.Duration) string { return fmt.Sprintf(format, p50(took[0]), p50(took[1])) }
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
	start := time.Now()
	total, err := together(duration, func(caller int) error {
		_, err := client.AppendMessage(ctx, appendRequest(fmt.Sprint("many-", caller), 200))
		return err
	})
	return float64(total) / time.Since(start).Seconds(), err
}

// together has all callers do something again and again for so long, and counts how often they did.
func together(duration time.Duration, do func(caller int) error) (total int, err error) {
	var wg sync.WaitGroup
	counts, errs := make([]int, callers), make([]error, callers)
	start := time.Now()
	for i := range callers {
		wg.Go(func() {
			for time.Since(start) < duration && errs[i] == nil {
				errs[i] = do(i)
				counts[i]++
			}
		})
	}
	wg.Wait()
	for _, n := range counts {
		total += n
	}
	return total, cmp.Or(errs...)
}

// longBuild compares builds over a million messages with builds over a thousand, at the same budget.
func longBuild(ctx context.Context, r *rig) (float64, string, error) {
	for name, n := range map[string]int{"long": 1_000_000, "short": 1_000} {
		if err := r.fill(ctx, name, n, 100); err != nil {
			return 0, "", err
		}
	}
	return bestOf([]sample{
		func() (time.Duration, error) { return r.stepAndBuild(ctx, "long") },
		func() (time.Duration, error) { return r.stepAndBuild(ctx, "short") },
	}, p50s("%v over 1,000,000, %v over 1,000 messages (p50)"))
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
		busy, err := r.usage()
		if err := cmp.Or(err, store.Pause(ctx, pause)); err != nil {
			return 0, "", err
		}
		idle, err := r.usage()
		return idle.anonymous, fmt.Sprintf("%.0f MiB right after the last build, %.0f MiB after %v", busy.anonymous, idle.anonymous, pause), err
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
