package shared

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/dbtest"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

const (
	sidecars      = 4
	clients       = 16
	conversations = 20
	// killEvery is how often a sidecar is killed and begun again, or the connections of all are cut.
	killEvery = 400 * time.Millisecond
	// What must have happened.
	leastCalls, leastKills = 200, 3
	// patience is how long one call, with all that is tried for it, may take.
	patience = 30 * time.Second
	// secondsVariable says how long clients work.
	secondsVariable = "PALIMPSEST_SHARED_SECONDS"
	defaultSeconds  = 4
)

// database is a server that sidecars share.
type database struct {
	flags []string
	cut   func(context.Context) error // cuts all connections
}

func onPostgres(t *testing.T) database {
	server := dbtest.StartPostgres(t)
	return database{
		flags: []string{"--store", "postgres", "--store-dsn", server.DSN},
		cut: func(ctx context.Context) error {
			conn, err := pgx.Connect(ctx, server.DSN)
			if err != nil {
				return err
			}
			_, err = conn.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'palimpsest'")
			return errors.Join(err, conn.Close(ctx))
		},
	}
}

func onRedis(t *testing.T) database {
	server := dbtest.StartRedis(t, "--appendfsync", "always")
	return database{
		flags: []string{"--store", "redis", "--store-dsn", "redis://" + server.Address},
		cut: func(ctx context.Context) error {
			client := redis.NewClient(&redis.Options{Addr: server.Address})
			defer client.Close()
			return client.ClientKillByFilter(ctx, "TYPE", "normal", "SKIPME", "yes").Err()
		},
	}
}

// TestShared_SidecarsAndConnectionsKilled_Linearizable: clients append, list, build and watch at any of several sidecars, which are killed,
// as are their connections. Each conversation is as if its calls had been made one after the other, each between its begin and its end;
// nothing acknowledged is lost or there twice; turns are counted once; watchers see every message once, in order.
func TestShared_SidecarsAndConnectionsKilled_Linearizable(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) database{"postgres": onPostgres, "redis": onRedis} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, start(t))
			w.run(time.Duration(seconds(t)) * time.Second)
			w.judge()
		})
	}
}

func seconds(t *testing.T) int {
	s := os.Getenv(secondsVariable)
	if s == "" {
		return defaultSeconds
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// world is sidecars on a database and their clients.
type world struct {
	t    *testing.T
	db   database
	seed uint64

	mu      sync.Mutex
	nodes   [sidecars]*process.Sidecar
	faults  []error
	history map[string][]porcupine.Operation // by conversation
	turns   map[string]map[int32]int         // by conversation: how often each turn was begun
	events  map[string][]int32               // by conversation: the messages that its watcher saw
	kills   atomic.Int64
	started time.Time
}

func newWorld(t *testing.T, db database) *world {
	w := &world{
		t: t, db: db, seed: proptest.Seed(t), started: time.Now(),
		history: map[string][]porcupine.Operation{}, turns: map[string]map[int32]int{}, events: map[string][]int32{},
	}
	for i := range w.nodes {
		w.nodes[i] = w.begin(i)
	}
	t.Cleanup(func() {
		for _, node := range w.nodes {
			node.Kill()
		}
	})
	return w
}

// otherVariable names a sidecar of another version, which every second one is then.
const otherVariable = "PALIMPSEST_OTHER_SIDECAR"

func (w *world) begin(i int) *process.Sidecar {
	binary := sidecarBinary
	if other := os.Getenv(otherVariable); other != "" && i%2 == 1 {
		binary = other
	}
	node, err := process.Start(binary, w.t.TempDir(), w.db.flags...)
	if err != nil {
		w.t.Error(err)
	}
	return node
}

func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Errorf(format, args...))
}

// dial reaches one of the sidecars.
func (w *world) dial(random *rand.Rand) (*process.Client, error) {
	w.mu.Lock()
	node := w.nodes[random.IntN(sidecars)]
	w.mu.Unlock()
	return node.Dial()
}

// run has clients work while sidecars are killed, and then lets all come to an end.
func (w *world) run(work time.Duration) {
	working := make(chan struct{}) // until it is closed; what has begun by then is brought to its end
	go func() {                    // a machine with other work takes longer until there is something to judge
		time.Sleep(work)
		for end := time.Now().Add(patience); !w.enough() && time.Now().Before(end); {
			time.Sleep(100 * time.Millisecond)
		}
		close(working)
	}()
	watching, stopWatching := context.WithCancel(context.Background())
	var clientsDone, watchersDone, killerDone sync.WaitGroup
	for i := range conversations {
		watchersDone.Go(func() { w.watch(watching, talkID(i)) })
	}
	for i := range clients {
		clientsDone.Go(func() { w.work(working, i) })
	}
	killerDone.Go(func() { w.kill(working) })
	clientsDone.Wait()
	killerDone.Wait()
	w.awaitWatchers()
	stopWatching()
	watchersDone.Wait()
}

// enough says whether so much has happened that it says something.
func (w *world) enough() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := 0
	for _, operations := range w.history {
		calls += len(operations)
	}
	return calls >= leastCalls && w.kills.Load() >= leastKills
}

func talkID(i int) string { return fmt.Sprintf("c%d", i) }

// kill kills a sidecar and begins it again, or cuts the connections of all, again and again.
func (w *world) kill(working <-chan struct{}) {
	random := rand.New(rand.NewPCG(w.seed, 1))
	for !closed(working) {
		time.Sleep(killEvery)
		w.kills.Add(1)
		if random.IntN(2) == 0 {
			if err := w.db.cut(context.Background()); err != nil {
				w.fault("cut: %w", err)
			}
			continue
		}
		i := random.IntN(sidecars)
		w.nodes[i].Kill()
		node := w.begin(i)
		w.mu.Lock()
		w.nodes[i] = node
		w.mu.Unlock()
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// work makes calls.
func (w *world) work(working <-chan struct{}, id int) {
	random := rand.New(rand.NewPCG(w.seed, uint64(id)+100))
	for n := 0; !closed(working); n++ {
		c := talkID(random.IntN(conversations))
		switch random.IntN(6) {
		case 0:
			w.list(random, id, c)
		case 1:
			w.build(random, fmt.Sprintf("b%d-%d", id, n), c)
		case 2, 3:
			w.appendOnce(random, id, c, fmt.Sprintf("o%d-%d", id, n))
		default:
			w.append(random, id, c, fmt.Sprintf("m%d-%d", id, n))
		}
	}
}

// operation is a call as the model of a conversation sees it.
type operation struct {
	text string // appended; empty for a list
}

type outcome struct {
	index   int32
	list    string
	unknown bool // the answer was lost: it stands or not, and nobody knows since when
}

func (w *world) now() int64 { return int64(time.Since(w.started)) }

func (w *world) record(c string, client int, in operation, out outcome, called int64) {
	returned := w.now()
	if out.unknown {
		returned = math.MaxInt64
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history[c] = append(w.history[c], porcupine.Operation{ClientId: client, Input: in, Output: out, Call: called, Return: returned})
}

// try makes a call at one sidecar after the other until it has an answer.
func (w *world) try(random *rand.Rand, call func(context.Context, *process.Client) error) bool {
	deadline := time.Now().Add(patience)
	var err error
	for time.Now().Before(deadline) {
		err = w.once(random, call)
		switch code := status.Code(err); {
		case code == codes.OK:
			return true
		case code == codes.NotFound: // nothing was appended yet
			return false
		case passes(code):
			time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		default:
			w.fault("a call was refused: %w", err)
			return false
		}
	}
	w.fault("no answer within %s: %w", patience, err)
	return false
}

// passes says whether a call may fail so while sidecars and connections are killed.
func passes(code codes.Code) bool {
	switch code {
	case codes.Unavailable, codes.Aborted, codes.DeadlineExceeded, codes.Canceled, codes.ResourceExhausted, codes.Unknown:
		return true
	default:
		return false
	}
}

func (w *world) once(random *rand.Rand, call func(context.Context, *process.Client) error) error {
	client, err := w.dial(random)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return call(ctx, client)
}

func (w *world) append(random *rand.Rand, id int, c, text string) {
	called := w.now()
	request := &pb.AppendMessageRequest{
		ConversationId: c, RequestId: text,
		Message: &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: text}}}},
	}
	var index int32
	if w.try(random, func(ctx context.Context, client *process.Client) error {
		reply, err := client.Context.AppendMessage(ctx, request)
		if err == nil {
			index = reply.GetReceipt().GetIndex()
		}
		return err
	}) {
		w.record(c, id, operation{text: text}, outcome{index: index}, called)
	}
}

// appendOnce appends without a request id, which a sidecar decides on what it last saw, and does not try again.
func (w *world) appendOnce(random *rand.Rand, id int, c, text string) {
	called, index := w.now(), int32(0)
	err := w.once(random, func(ctx context.Context, client *process.Client) error {
		reply, err := client.Context.AppendMessage(ctx, &pb.AppendMessageRequest{
			ConversationId: c, Message: &pb.Message{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{{Content: &pb.Part_Text{Text: text}}}},
		})
		index = reply.GetReceipt().GetIndex()
		return err
	})
	if err != nil && !passes(status.Code(err)) {
		w.fault("an append was refused: %w", err)
	}
	w.record(c, id, operation{text: text}, outcome{index: index, unknown: err != nil}, called)
}

func (w *world) list(random *rand.Rand, id int, c string) {
	called := w.now()
	var list string
	if w.try(random, func(ctx context.Context, client *process.Client) error {
		messages, err := client.Messages(ctx, c, pb.ListView_LIST_VIEW_ORIGINAL)
		list = textsOf(messages)
		return err
	}) {
		w.record(c, id, operation{}, outcome{list: list}, called)
	}
}

func textsOf(messages []*pb.Message) string {
	var out strings.Builder
	for _, m := range messages {
		out.WriteString(m.GetParts()[0].GetText() + " ")
	}
	return out.String()
}

func (w *world) build(random *rand.Rand, requestID, c string) {
	var turn int32
	if w.try(random, func(ctx context.Context, client *process.Client) error {
		reply, err := client.Context.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: c, RequestId: requestID})
		turn = reply.GetTurn()
		return err
	}) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.turns[c] == nil {
			w.turns[c] = map[int32]int{}
		}
		w.turns[c][turn]++
	}
}

// watch follows a conversation from its begin, over the ends of sidecars.
func (w *world) watch(ctx context.Context, c string) {
	random := rand.New(rand.NewPCG(w.seed, uint64(sha256.Sum256([]byte(c))[0])))
	token := ""
	for ctx.Err() == nil {
		client, err := w.dial(random)
		if err != nil {
			continue
		}
		token, err = w.follow(ctx, client, c, token)
		client.Close()
		if err != nil && ctx.Err() == nil {
			if code := status.Code(err); code != codes.Unavailable && code != codes.NotFound && !errors.Is(err, io.EOF) {
				w.fault("watch: %w", err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func (w *world) follow(ctx context.Context, client *process.Client, c, token string) (string, error) {
	stream, err := client.Conversations.WatchEvents(ctx, &pb.WatchEventsRequest{ConversationId: c, ResumeToken: token})
	if err != nil {
		return token, err
	}
	for {
		reply, err := stream.Recv()
		if err != nil {
			return token, err
		}
		token = reply.GetResumeToken()
		if e := reply.GetEvent(); e.GetType() == pb.EventType_EVENT_TYPE_ADDED {
			w.mu.Lock()
			w.events[c] = append(w.events[c], e.GetMessageIndex())
			w.mu.Unlock()
		}
	}
}

// awaitWatchers waits until the watchers have seen what was acknowledged, or patience ends.
func (w *world) awaitWatchers() {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		w.mu.Lock()
		behind := false
		for c, operations := range w.history {
			appended := 0
			for _, o := range operations {
				in, _ := o.Input.(operation)
				if out, _ := o.Output.(outcome); in.text != "" && !out.unknown {
					appended++
				}
			}
			behind = behind || len(w.events[c]) < appended
		}
		w.mu.Unlock()
		if !behind {
			return
		}
	}
}

// record of a conversation: the texts of its messages, in order.
var model = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		record, in, out := state.(string), input.(operation), output.(outcome) //nolint:errcheck,forcetypeassert // they are what record puts there
		if in.text == "" {
			return out.list == record, record
		}
		return int(out.index) == strings.Count(record, " "), record + in.text + " "
	},
}

func (w *world) judge() {
	random := rand.New(rand.NewPCG(w.seed, 2))
	for c := range w.history {
		w.list(random, clients, c) // what is there in the end
	}
	for _, err := range w.faults {
		w.t.Error(err)
	}
	acked := 0
	for c := range w.history {
		operations := resolved(w.history[c])
		acked += len(operations)
		if result := porcupine.CheckOperationsTimeout(model, operations, time.Minute); result != porcupine.Ok {
			w.t.Errorf("%s: %d calls, and no order explains their answers: %s", c, len(operations), result)
		}
		for turn, n := range w.turns[c] {
			if n > 1 {
				w.t.Errorf("%s: turn %d was begun %d times", c, turn, n)
			}
		}
		if seen := w.events[c]; !slices.Equal(seen, upTo(len(seen))) {
			w.t.Errorf("%s: the watcher saw %v", c, seen)
		}
	}
	w.t.Logf("%d calls acknowledged, %d kills", acked, w.kills.Load())
	if !w.enough() {
		w.t.Error("too little happened to say anything")
	}
}

// resolved leaves out appends whose answer was lost and that are not on record in the end, and says of the others where they are: to try
// all that may have been would take for ever.
func resolved(operations []porcupine.Operation) []porcupine.Operation {
	final, _ := operations[len(operations)-1].Output.(outcome)
	at := map[string]int{}
	for i, text := range strings.Fields(final.list) {
		at[text] = i
	}
	var out []porcupine.Operation
	for _, o := range operations {
		in, _ := o.Input.(operation)
		if lost, _ := o.Output.(outcome); lost.unknown {
			i, stands := at[in.text]
			if !stands {
				continue
			}
			o.Output = outcome{index: int32(i)}
		}
		out = append(out, o)
	}
	return out
}

func upTo(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}
