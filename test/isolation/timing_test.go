package isolation

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
)

// TestIsolation_TimeOfARefusal_DoesNotTellWhatThereIs compares calls about what is another's with calls about what is absent, in turns.
func TestIsolation_TimeOfARefusal_DoesNotTellWhatThereIs(t *testing.T) {
	testlane.Speed(t)
	w := newWorld(t, openBolt(t))
	w.converse(t, stranger, "of-another-namespace", false)
	w.converse(t, bob, "of-another-actor", false)
	contexts := pb.NewContextServiceClient(w.conn)
	for foreign, caller := range map[string]string{"of-another-namespace": agent, "of-another-actor": alice} {
		ctx := as(t.Context(), caller)
		var there, absent []time.Duration
		for range 3000 {
			there = append(there, refused(ctx, t, contexts, foreign))
			absent = append(absent, refused(ctx, t, contexts, foreign+"-not"))
		}
		slices.Sort(there)
		slices.Sort(absent)
		a, b := there[len(there)/2], absent[len(absent)/2]
		t.Logf("%s: %v, absent %v (p50 of %d)", foreign, a, b, len(there))
		if ratio := float64(a) / float64(b); ratio > 1.15 || ratio < 0.85 {
			t.Errorf("a refusal takes %.2f times as long where there is something", ratio)
		}
	}
}

func refused(ctx context.Context, t testing.TB, contexts pb.ContextServiceClient, id string) time.Duration {
	t.Helper()
	begin := time.Now()
	_, err := contexts.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: id})
	took := time.Since(begin)
	if status.Code(err) != codes.NotFound {
		t.Fatal(err)
	}
	return took
}
