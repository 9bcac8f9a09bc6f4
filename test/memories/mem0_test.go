package memories

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0/mem0test"
	memorystore "github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// startMem0 begins a process that remembers by Mem0's own package, word for word.
func startMem0(t *testing.T, policy conversation.MemoryPolicy) *process {
	t.Helper()
	server := mem0test.Start(t)
	target, err := mem0.New(mem0.Options{Kind: mem0.Server, BaseURL: server.URL, APIKey: func() string { return mem0test.AdminKey }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	policy.Infer = new(false)
	return startWith(t, memorystore.New(memorystore.Options{}), policy, engine.MemoryOf(target))
}

func TestMemories_Mem0_HostileTexts_StayInTheirBlocks(t *testing.T) {
	t.Parallel()
	startMem0(t, anything()).hostileTexts(60)
}

// TestMemories_Mem0_IsFoundAndForgotten: what one conversation says the next recalls, and what is taken back or forgotten is found no more; what
// the server keeps all the same is said.
func TestMemories_Mem0_IsFoundAndForgotten(t *testing.T) {
	t.Parallel()
	policy := anything()
	p := startMem0(t, policy)
	for i := range 3 {
		id := fmt.Sprintf("c%d", i)
		p.create(id, "ann")
		p.say(id, conversation.RoleUser, fmt.Sprintf("My %s number %d sings in the kitchen.", canary, i))
		p.inSync(id)
	}
	p.create("after", "ann")
	p.say("after", conversation.RoleUser, "Where does my "+canary+" number 1 sing all day long?")
	if r := p.build("after", conversation.FormatNeutral, 10_000); r.Tokens.Memories == 0 {
		t.Fatalf("nothing was recalled: %+v", r.Events)
	}
	if _, err := p.Rewind(t.Context(), engine.RewindRequest{Key: key("c0")}); err != nil {
		t.Fatal(err)
	}
	p.eventually("taken back", time.Minute, func() bool { return !p.found("after", canary+" number 0 sings", "number 0") })
	f, err := p.ForgetActor(t.Context(), "default", "ann", true)
	if err != nil {
		t.Fatal(err)
	}
	p.eventually("forgotten", time.Minute, func() bool {
		f, err = p.Forget(t.Context(), "default", f.ID)
		return err == nil && !f.DoneTime.IsZero()
	})
	list, err := p.ListMemories(t.Context(), engine.ListMemoriesRequest{Of: engine.MemoriesOf{Key: key(""), ActorID: "ann"}, Limit: 100})
	if err != nil || len(list.Memories) > 0 || !strings.Contains(strings.Join(f.Residue, " "), "history") {
		t.Errorf("%+v, %+v, %v", list, f, err)
	}
}
