package shared

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// TestShared_VersionsTakeTurns_ContextsOfOne: conversations whose calls go to any of four sidecars, every second one of another version
// (PALIMPSEST_OTHER_SIDECAR), show the model the same bytes at every build as with one sidecar of this version alone.
func TestShared_VersionsTakeTurns_ContextsOfOne(t *testing.T) {
	t.Parallel()
	logs := recordings.Text(t, "loghub", "HDFS_2k.log")
	for name, start := range map[string]func(*testing.T) database{"postgres": onPostgres, "redis": onRedis} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, other := start(t), os.Getenv(otherVariable)
			var mixed []*process.Sidecar
			for i := range sidecars {
				mixed = append(mixed, launch(t, db, other, i))
			}
			alone := []*process.Sidecar{launch(t, db, "", 0)}
			seed := proptest.Seed(t)
			round, builds := uint64(0), 0
			for end := time.Now().Add(time.Duration(seconds(t)) * time.Second); round == 0 || time.Now().Before(end); round++ {
				builds += compare(t, mixed, alone, seed+round, logs)
				if t.Failed() {
					break
				}
			}
			t.Logf("%d rounds of %d conversations, %d builds alike", round, versionTalks, builds)
		})
	}
}

func launch(t *testing.T, db database, other string, i int) *process.Sidecar {
	t.Helper()
	binary := sidecarBinary
	if other != "" && i%2 == 1 {
		binary = other
	}
	node, err := process.Start(binary, t.TempDir(), db.flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Kill)
	return node
}

const (
	versionTalks = 4
	versionSteps = 25
)

// compare has the same conversations at the sidecars of both kinds, and counts the builds that are the same.
func compare(t *testing.T, mixed, alone []*process.Sidecar, seed uint64, logs string) int {
	t.Helper()
	var running sync.WaitGroup
	var sums [2][versionTalks][]string
	for kind, nodes := range [][]*process.Sidecar{mixed, alone} {
		for i := range versionTalks {
			running.Go(func() {
				v := &versioned{
					t: t, nodes: nodes, id: fmt.Sprintf("v%d-%d-%d", kind, seed, i), logs: logs,
					random: rand.New(rand.NewPCG(seed, uint64(i))), routes: rand.New(rand.NewPCG(seed, uint64(1000+i))),
				}
				sums[kind][i] = v.talk()
			})
		}
	}
	running.Wait()
	builds := 0
	for i := range versionTalks {
		if !slices.Equal(sums[0][i], sums[1][i]) {
			t.Errorf("conversation %d of round %d: contexts differ", i, seed)
		}
		builds += len(sums[0][i])
	}
	return builds
}

// versioned is a conversation at some sidecars. What is said does not depend on where it goes.
type versioned struct {
	t      *testing.T
	nodes  []*process.Sidecar
	id     string
	logs   string
	random *rand.Rand // what is said
	routes *rand.Rand // where
	sums   []string

	decided int // decisions of builds
}

// talk is nil if a call failed.
func (v *versioned) talk() []string {
	if !v.call(func(ctx context.Context, c *process.Client) error {
		_, err := c.Conversations.CreateConversation(ctx, &pb.CreateConversationRequest{Conversation: &pb.Conversation{Id: v.id, Policy: mechanisms()}})
		return err
	}) {
		return nil
	}
	for i := range versionSteps {
		if !v.step(i) {
			return nil
		}
	}
	if v.decided == 0 {
		v.t.Errorf("%s: no mechanism did anything", v.id)
	}
	return v.sums
}

// mechanisms has all that changes a view happen within a short conversation.
func mechanisms() *pb.Policy {
	return &pb.Policy{
		Expiration: &pb.ExpirationPolicy{Enabled: proto.Bool(true), Results: &pb.Expiration{Turns: proto.Int32(9), Mode: pb.ExpirationMode_EXPIRATION_MODE_COMPACT}},
		Pruning:    &pb.PruningPolicy{ProtectTokens: proto.Int32(1500), MinimumTokens: proto.Int32(500)},
		Compaction: &pb.CompactionPolicy{Strategy: pb.CompactionStrategy_COMPACTION_STRATEGY_HIERARCHICAL, KeepRecent: proto.Int32(8)},
	}
}

func (v *versioned) step(i int) bool {
	if !v.say(pb.Role_ROLE_USER, text(fmt.Sprintf("Request %d. %s", i, v.words(50+v.random.IntN(400))))) || !v.build(i) {
		return false
	}
	for k := range v.random.IntN(3) {
		id := fmt.Sprintf("call%d-%d", i, k)
		call := &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: id, Name: "read", ArgumentsJson: `{"line":1}`}}}
		result := &pb.Part{Content: &pb.Part_ToolResult{ToolResult: &pb.ToolResult{CallId: id, Output: &pb.ToolResult_Text{Text: v.words(100 << v.random.IntN(6))}}}}
		if !v.say(pb.Role_ROLE_ASSISTANT, text(v.words(60)), call) || !v.say(pb.Role_ROLE_TOOL, result) || !v.build(i) {
			return false
		}
	}
	return v.say(pb.Role_ROLE_ASSISTANT, text(v.words(150)))
}

func text(s string) *pb.Part { return &pb.Part{Content: &pb.Part_Text{Text: s}} }

func (v *versioned) words(n int) string {
	at := v.random.IntN(len(v.logs) - n)
	return strings.ToValidUTF8(v.logs[at:at+n], "?")
}

func (v *versioned) say(role pb.Role, parts ...*pb.Part) bool {
	return v.call(func(ctx context.Context, c *process.Client) error {
		_, err := c.Context.AppendMessage(ctx, &pb.AppendMessageRequest{ConversationId: v.id, Message: &pb.Message{Role: role, Parts: parts}})
		return err
	})
}

func (v *versioned) build(turn int) bool {
	format := []pb.ContextFormat{pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT, pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC}[turn%2]
	return v.call(func(ctx context.Context, c *process.Client) error {
		reply, err := c.Context.BuildContext(ctx, &pb.BuildContextRequest{
			ConversationId: v.id, Format: format, Budget: &pb.Budget{MaxContextTokens: proto.Int32(4000)},
		})
		if err != nil {
			return err
		}
		sum, err := process.Sum(reply.GetRendered())
		v.decided += len(reply.GetDecisions())
		v.sums = append(v.sums, fmt.Sprintf("%s %d %d %d", sum, reply.GetTurn(), reply.GetTokens().GetTotal(), len(reply.GetDecisions())))
		return err
	})
}

// call makes a call at one of the sidecars.
func (v *versioned) call(run func(context.Context, *process.Client) error) bool {
	client, err := v.nodes[v.routes.IntN(len(v.nodes))].Dial()
	if err == nil {
		defer client.Close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err = run(ctx, client)
	}
	if err != nil {
		v.t.Errorf("%s: %v", v.id, err)
	}
	return err == nil
}
