package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

const (
	// drainsVariable says how many times the sidecar is asked to end under load.
	drainsVariable = "PALIMPSEST_DRAIN_ROUNDS"
	defaultDrains  = 3
	drainCallers   = 200
	drainClients   = 8
	drainTalks     = 40 // conversations in a round
	// mustEndWithin is when an orchestrator kills.
	mustEndWithin = 10 * time.Second
	// delayOfDrain is the delay of every other round: long enough for a prober to see readiness fall.
	delayOfDrain = 150 * time.Millisecond
)

// drainRound is one sidecar that is asked to end while calls are in flight.
type drainRound struct {
	t         *testing.T
	number    int
	delay     time.Duration
	sidecar   *process.Sidecar
	prober    *http.Client
	inFlight  atomic.Int64
	warm      sync.WaitGroup // until each caller had an answer
	refused   atomic.Int64   // when the first call was refused, in Unix nanoseconds
	unready   atomic.Int64   // when readiness was first seen to have fallen
	once      sync.Once
	mu        sync.Mutex
	acked     []drained
	manifests map[string]string // the last acknowledged build of each conversation
	faults    []error
}

// drained is a message that was acknowledged.
type drained struct {
	conversation, id string
	index            int32
}

// TestDrain_CallsInFlight_NothingAcknowledgedIsLost asks the sidecar to end, again and again, with 200 calls in flight: it ends in time,
// says that it does before it refuses anything, and what it acknowledged is there when it comes back.
func TestDrain_CallsInFlight_NothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	rounds, seed, folder := drainsOf(t), proptest.Seed(t), t.TempDir()
	random := rand.New(rand.NewPCG(seed, 0))
	var last *drainRound
	acked, least, slowest := 0, int64(drainCallers), time.Duration(0)
	for i := range rounds {
		r := &drainRound{t: t, number: i, manifests: map[string]string{}}
		if i%2 == 1 {
			r.delay = delayOfDrain
		}
		r.start(folder)
		if last != nil {
			r.verify(last)
		}
		inFlight, took := r.run(time.Duration(random.IntN(20)) * time.Millisecond)
		last, acked, least, slowest = r, acked+len(r.acked), min(least, inFlight), max(slowest, took)
	}
	end := &drainRound{t: t, number: rounds}
	end.start(folder)
	end.verify(last)
	if err := end.sidecar.Stop(); err != nil {
		t.Error(err)
	}
	t.Logf("%d rounds, seed %d: at least %d calls in flight at the signal, %d appends acknowledged, 0 lost; the slowest end took %s",
		rounds, seed, least, acked, slowest.Round(time.Millisecond))
	if least < drainCallers*3/4 {
		t.Errorf("at a signal only %d calls were in flight", least)
	}
}

func drainsOf(t *testing.T) int {
	t.Helper()
	set := os.Getenv(drainsVariable)
	if set == "" {
		return defaultDrains
	}
	n, err := strconv.Atoi(set)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a number of rounds: %q", drainsVariable, set)
	}
	return n
}

func (r *drainRound) start(folder string) {
	r.t.Helper()
	sidecar, err := process.Start(binary, folder, "--ops", "127.0.0.1:0", "--drain-delay", r.delay.String(), "--log-level", "info")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(sidecar.Kill)
	r.sidecar = sidecar
}

// run lets the callers loose, asks the sidecar to end, and says how many calls were in flight then, and how long it took.
func (r *drainRound) run(pause time.Duration) (inFlight int64, took time.Duration) {
	r.t.Helper()
	r.prober = &http.Client{Timeout: 5 * time.Second}
	defer r.prober.CloseIdleConnections()
	if code, err := r.probe(); err != nil || code != http.StatusOK {
		r.t.Fatalf("round %d: a sidecar that serves is not ready: %d, %v", r.number, code, err)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	var callers sync.WaitGroup
	r.warm.Add(drainCallers)
	for c := range drainClients {
		client, err := r.sidecar.Dial()
		if err != nil {
			r.t.Fatal(err)
		}
		defer client.Close()
		for i := range drainCallers / drainClients {
			callers.Go(func() { r.call(ctx, client, c*drainCallers/drainClients+i) })
		}
	}
	r.warm.Wait()
	time.Sleep(pause)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		r.watch()
	}()
	inFlight = r.inFlight.Load()
	began := time.Now()
	if err := r.sidecar.Terminate(); err != nil {
		r.t.Fatal(err)
	}
	err := r.sidecar.Ended()
	took = time.Since(began)
	callers.Wait()
	<-watched
	r.judge(err, took)
	return inFlight, took
}

// judge looks at how a sidecar ended.
func (r *drainRound) judge(err error, took time.Duration) {
	r.t.Helper()
	refused, unready := r.refused.Load(), r.unready.Load()
	switch {
	case err != nil || len(r.faults) > 0:
		r.t.Fatalf("round %d: the sidecar ended with %v; calls failed: %v; it wrote:\n%s", r.number, err, errors.Join(r.faults...), r.sidecar.Log())
	case took > mustEndWithin:
		r.t.Fatalf("round %d: the sidecar took %s to end", r.number, took)
	case refused == 0:
		r.t.Fatalf("round %d: no call was refused", r.number)
	case r.delay > 0 && (unready == 0 || unready > refused):
		r.t.Fatalf("round %d: a call was refused at %d, readiness fell at %d", r.number, refused, unready)
	}
}

// probe asks for readiness.
func (r *drainRound) probe() (int, error) {
	answer, err := r.prober.Get("http://" + r.sidecar.Operations() + "/readyz")
	if err != nil {
		return 0, err
	}
	_ = answer.Body.Close()
	return answer.StatusCode, nil
}

// watch notes when readiness falls.
func (r *drainRound) watch() {
	for {
		code, err := r.probe()
		if err != nil { // the process is gone
			return
		}
		if code != http.StatusOK {
			r.unready.CompareAndSwap(0, time.Now().UnixNano())
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// call is a caller: it appends and builds until it is refused.
func (r *drainRound) call(ctx context.Context, c *process.Client, caller int) {
	conversation := fmt.Sprintf("drain-%d-%d", r.number, caller%drainTalks)
	for n := 0; ; n++ {
		r.inFlight.Add(1)
		err := r.step(ctx, c, conversation, fmt.Sprintf("m-%d-%d", caller, n), n)
		r.inFlight.Add(-1)
		if n == 0 {
			r.warm.Done()
		}
		if err != nil {
			r.refuse(err)
			return
		}
	}
}

// step makes one call, and notes what is acknowledged.
func (r *drainRound) step(ctx context.Context, c *process.Client, conversation, id string, n int) error {
	if n%8 == 7 {
		built, err := c.Context.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: conversation})
		if err == nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.manifests[conversation] = built.GetManifestId()
		}
		return err
	}
	receipt, err := c.Context.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: conversation, Message: &pb.Message{
		Id: id, Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: "what " + id + " says"}}},
	}})
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.acked = append(r.acked, drained{conversation, id, receipt.GetReceipt().GetIndex()})
	}
	return err
}

// refuse notes that a call was refused, as it may be, and that readiness had fallen by then.
func (r *drainRound) refuse(err error) {
	at := time.Now().UnixNano()
	r.once.Do(func() {
		r.refused.Store(at)
		if code, gone := r.probe(); gone == nil && code == http.StatusOK {
			r.fault(errors.New("a call is refused by a sidecar that says it is ready"))
		}
	})
	if status.Code(err) != codes.Unavailable {
		r.fault(err)
	}
}

func (r *drainRound) fault(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, err)
}

// verify holds what is on record against what an earlier round was acknowledged.
func (r *drainRound) verify(before *drainRound) {
	r.t.Helper()
	client, err := r.sidecar.Dial()
	if err != nil {
		r.t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	records := map[string][]*pb.Message{}
	for _, a := range before.acked {
		if records[a.conversation] == nil {
			if records[a.conversation], err = client.Messages(ctx, a.conversation, pb.ListView_LIST_VIEW_ORIGINAL); err != nil {
				r.t.Fatal(err)
			}
		}
		if record := records[a.conversation]; int(a.index) >= len(record) || record[a.index].GetId() != a.id {
			r.t.Fatalf("round %d: message %s of %s was acknowledged at %d and is not there", before.number, a.id, a.conversation, a.index)
		}
	}
	for conversation, manifest := range before.manifests {
		if _, err := client.Conversations.GetManifest(ctx, &pb.GetManifestRequest{ConversationId: conversation, ManifestId: manifest}); err != nil {
			r.t.Fatalf("round %d: build %s of %s: %v", before.number, manifest, conversation, err)
		}
	}
}
