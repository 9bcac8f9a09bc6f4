package memories

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/provider/neutral"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	memorystore "github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/tokens"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/chars4"
)

// hooked is a target that runs something between what a search finds and its answer.
type hooked struct {
	memory.Target
	mu     sync.Mutex
	then   func() // once, behind a search
	before func() // once, before a scope is forgotten
}

func (h *hooked) Forget(ctx context.Context, s memory.Scope, until time.Time) (memory.Forgetting, error) {
	h.mu.Lock()
	before := h.before
	h.before = nil
	h.mu.Unlock()
	if before != nil {
		before()
	}
	return h.Target.Forget(ctx, s, until)
}

func (h *hooked) Search(ctx context.Context, s memory.Scope, q *memory.Query) ([]memory.Memory, error) {
	found, err := h.Target.Search(ctx, s, q)
	h.mu.Lock()
	then := h.then
	h.then = nil
	h.mu.Unlock()
	if then != nil {
		then()
	}
	return found, err
}

func startHooked(t *testing.T, s store.Store, policy conversation.MemoryPolicy) (*process, *hooked) {
	t.Helper()
	p, h := &process{t: t}, &hooked{}
	p.Engine = engine.New(engine.Options{
		Store: s, Counters: []tokens.Counter{chars4.New()}, Clock: time.Now, IDs: newID, CacheBytes: 16 << 20, ContentCacheBytes: 64 << 20,
		Formats: []provider.Format{neutral.New()}, Defaults: conversation.Policy{Memory: policy},
		OnError: func(err error) { t.Logf("in the background: %v", err) },
		Memory: func(from engine.MemorySources) memory.Target {
			h.Target = embedded.New(embedded.Options{
				Store: from.Store, Texts: from.Texts, IDs: from.IDs, Clock: from.Clock, Cache: from.Cache, Extract: embedded.Extractive,
			})
			return h
		},
	})
	t.Cleanup(p.Close)
	return p, h
}

func (p *process) begin(id, actor string) {
	p.t.Helper()
	if _, err := p.Engine.Create(p.t.Context(), engine.CreateRequest{Key: key(id), Info: engine.Info{ActorID: actor, Counter: "chars4"}}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) all(of engine.MemoriesOf) []memory.Memory {
	p.t.Helper()
	list, err := p.ListMemories(p.t.Context(), engine.ListMemoriesRequest{Of: of, Limit: 100})
	if err != nil {
		p.t.Fatal(err)
	}
	return list.Memories
}

// A memory that was deleted must not come again because another message of its batch is corrected or rewound.
func TestMemories_DeletedMemory_StaysDeleted_WhenANeighbourIsCorrected(t *testing.T) {
	p, _ := startHooked(t, memorystore.New(memorystore.Options{}), conversation.MemoryPolicy{On: new(true)})
	p.begin("c", "ann")
	p.begin("asks", "ann")
	p.say("c", conversation.RoleUser, "My locker code for zebra is 4711, remember that.", "The cellar holds nine bottles of wine.")
	if _, _, err := p.EndSession(t.Context(), key("c")); err != nil {
		t.Fatal(err)
	}
	p.inSync("c")
	of := engine.MemoriesOf{Key: key("asks")}
	for _, m := range p.all(of) {
		if strings.Contains(m.Text, "zebra") {
			if _, err := p.DeleteMemory(t.Context(), of, m.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if p.found("asks", "locker code zebra", "zebra") {
		t.Fatal("found after it was deleted")
	}
	if _, err := p.Correct(t.Context(), engine.CorrectRequest{
		Key: key("c"), Index: new(int32(1)), Parts: []engine.CorrectedPart{{Text: "The cellar holds ten bottles of wine."}}, Reason: "miscounted",
	}); err != nil {
		t.Fatal(err)
	}
	p.eventually("corrected", 10*time.Second, func() bool { return p.found("asks", "bottles wine cellar", "ten bottles") })
	p.inSync("c")
	time.Sleep(300 * time.Millisecond)
	for _, m := range p.all(of) {
		if strings.Contains(m.Text, "zebra") {
			t.Errorf("the deleted memory is back as %s (kind %d): %s", m.ID, m.Kind, m.Text)
		}
	}
}

// What goes from the index with the memory that DeleteMemory names must leave blocks, too.
func TestMemories_DeleteMemory_TakesWhatGoesWithItOutOfBlocks(t *testing.T) {
	p, _ := startHooked(t, memorystore.New(memorystore.Options{}), atOnce())
	p.begin("c", "ann")
	p.begin("asks", "ann")
	p.say("c", conversation.RoleUser, "My locker code for zebra is 4711.")
	p.inSync("c")
	p.say("asks", conversation.RoleUser, "Which zebra code?")
	r := p.build("asks", conversation.FormatNeutral, 10_000)
	shown := ""
	for _, e := range r.Events {
		if e.Recalled != nil && len(e.Recalled.Memories) == 1 {
			shown = e.Recalled.Memories[0].ID
		}
	}
	if shown == "" {
		t.Fatalf("nothing recalled: %+v", r.Events)
	}
	of := engine.MemoriesOf{Key: key("asks")}
	for _, m := range p.all(of) {
		t.Logf("%s kind %d %q, shown is %s", m.ID, m.Kind, m.Text, shown)
		if m.ID != shown && strings.Contains(m.Text, "4711") {
			if _, err := p.DeleteMemory(t.Context(), of, m.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, m := range p.all(of) {
		if strings.Contains(m.Text, "4711") {
			t.Fatalf("still listed: %s", m.Text)
		}
	}
	p.say("asks", conversation.RoleAssistant, "I do not know.")
	p.notShown("asks", "4711")
}

// A memory that answers a question is not in view because the question has the same words but for the answer.
func TestMemories_Recall_TheAnswerIsNotInTheQuestion(t *testing.T) {
	p, _ := startHooked(t, memorystore.New(memorystore.Options{}), atOnce())
	p.begin("c", "ann")
	p.begin("asks", "ann")
	p.say("c", conversation.RoleUser, "My dog's name is Rex.", "My locker code for zebra is 4711.")
	p.inSync("c")
	for _, q := range []string{"What is my dog's name?", "What is my locker code for zebra?"} {
		p.say("asks", conversation.RoleUser, q)
		if r := p.build("asks", conversation.FormatNeutral, 10_000); r.Tokens.Memories == 0 {
			t.Errorf("%q recalls nothing: reason %d (IN_VIEW is %d)", q, r.Events[0].Reason, conversation.ReasonMemoryInView)
		}
		p.say("asks", conversation.RoleAssistant, "I see.")
	}
}

func (p *process) notShown(id, text string) {
	p.t.Helper()
	r := p.build(id, conversation.FormatNeutral, 10_000)
	for i := range r.Messages {
		for j := range r.Messages[i].Parts {
			if part := &r.Messages[i].Parts[j]; part.Recalled != nil && strings.Contains(part.Text.Inline, text) {
				p.t.Errorf("still in a block: %s", part.Text.Inline)
			}
		}
	}
}

// What is forgotten while a build that found it is under way must not stay in that build's block.
func TestMemories_Forgotten_WhileABuildIsUnderWay(t *testing.T) {
	for _, how := range []string{"DeleteMemory", "ForgetActor"} {
		t.Run(how, func(t *testing.T) {
			policy := atOnce()
			policy.Extract = conversation.ExtractNone
			policy.Recall.Deadline = new(5 * time.Second)
			p, h := startHooked(t, memorystore.New(memorystore.Options{}), policy)
			p.begin("c", "ann")
			p.begin("asks", "ann")
			p.say("c", conversation.RoleUser, "My locker code for zebra is 4711.")
			p.inSync("c")
			p.say("asks", conversation.RoleUser, "Which zebra code?")
			of := engine.MemoriesOf{Key: key("asks")}
			h.mu.Lock()
			h.then = func() {
				if how == "DeleteMemory" {
					for _, m := range p.all(of) {
						if _, err := p.DeleteMemory(t.Context(), of, m.ID); err != nil {
							t.Error(err)
						}
					}
					return
				}
				f, err := p.ForgetActor(t.Context(), "default", "ann", false)
				if err != nil {
					t.Error(err)
					return
				}
				p.eventually("done", 4*time.Second, func() bool {
					f, err = p.Forget(t.Context(), "default", f.ID)
					return err == nil && !f.DoneTime.IsZero()
				})
			}
			h.mu.Unlock()
			first := p.build("asks", conversation.FormatNeutral, 10_000)
			t.Logf("memories %d events %+v", first.Tokens.Memories, first.Events)
			p.say("asks", conversation.RoleAssistant, "I do not know.")
			p.notShown("asks", "4711")
		})
	}
}

// What was added for one conversation must not outlive it: ForgetActor with the records, and another actor's conversation under its name.
func TestMemories_SessionScope_EndsWithItsConversation(t *testing.T) {
	p, _ := startHooked(t, memorystore.New(memorystore.Options{}), atOnce())
	p.begin("c", "ann")
	p.say("c", conversation.RoleUser, "Hello there, this is ann.")
	p.inSync("c")
	_, err := p.AddMemory(t.Context(), engine.AddMemoryRequest{Of: engine.MemoriesOf{Key: key("c"), Scope: memory.ScopeSession}, Text: "The canary of ann is yellow."})
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.ForgetActor(t.Context(), "default", "ann", false)
	if err != nil {
		t.Fatal(err)
	}
	p.eventually("done", 10*time.Second, func() bool {
		f, err = p.Forget(t.Context(), "default", f.ID)
		return err == nil && !f.DoneTime.IsZero()
	})
	if l := p.all(engine.MemoriesOf{Key: key("c"), Scope: memory.ScopeSession}); len(l) > 0 {
		t.Errorf("ForgetActor is DONE, and %s is there", l[0].Text)
	}
}

// The next conversation of a name, another actor's, must not be shown what was kept for the one before it.
func TestMemories_SessionScope_IsNotTheNextActors(t *testing.T) {
	p, _ := startHooked(t, memorystore.New(memorystore.Options{}), atOnce())
	p.begin("support", "ann")
	_, err := p.AddMemory(t.Context(), engine.AddMemoryRequest{Of: engine.MemoriesOf{Key: key("support"), Scope: memory.ScopeSession}, Text: "The canary of ann is yellow."})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Clear(t.Context(), key("support"), engine.Request{}); err != nil {
		t.Fatal(err)
	}
	p.begin("support", "bob")
	for _, m := range p.all(engine.MemoriesOf{Key: key("support"), Scope: memory.ScopeSession}) {
		t.Errorf("bob is shown: %s", m.Text)
	}
}

// What is cut to 150 tokens must not be counted whole, again and again, behind the deadline.
func TestMemories_Recall_LongMessages_CostOfCutting(t *testing.T) {
	testlane.Speed(t)
	p := start(t, memorystore.New(memorystore.Options{}), atOnce())
	p.create("c", "ann")
	p.create("asks", "ann")
	for i := range 10 {
		p.say("c", conversation.RoleUser, "The zebra code is "+strings.Repeat(string(rune('a'+i))+"pple pie number seventeen ", 3_800))
	}
	p.inSync("c")
	p.say("asks", conversation.RoleUser, "zebra code")
	p.found("asks", "zebra code", "zebra")
	began := time.Now()
	r := p.build("asks", conversation.FormatNeutral, 100_000)
	t.Logf("the build took %v with %d tokens of memories, %+v", time.Since(began), r.Tokens.Memories, r.Events)
	if took := time.Since(began); took > 320*time.Millisecond {
		t.Errorf("later than deadline + 20 ms: %v", took)
	}
}

// other is a counter that only one of two servers has.
type other struct{ tokens.Counter }

func (other) Name() string { return "other" }

// One conversation that cannot be read must not keep the namespace's other actors from being forgotten.
func TestMemories_ForgetActor_OneDamagedConversation_HoldsUpNobodyElse(t *testing.T) {
	s := memorystore.New(memorystore.Options{})
	first := engine.New(engine.Options{Store: s, Counters: []tokens.Counter{other{chars4.New()}, chars4.New()}, Clock: time.Now, IDs: newID, Formats: []provider.Format{neutral.New()}})
	if _, err := first.Create(t.Context(), engine.CreateRequest{Key: key("odd"), Info: engine.Info{ActorID: "ann", Counter: "other"}}); err != nil {
		t.Fatal(err)
	}
	first.Close()
	p, _ := startHooked(t, s, atOnce())
	p.begin("b", "bob")
	p.say("b", conversation.RoleUser, "My locker code for zebra is 4711.")
	p.inSync("b")
	if _, err := p.ForgetActor(t.Context(), "default", "ann", false); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	for range 8 { // ids are random: some sort behind ann's
		f, err := p.ForgetActor(t.Context(), "default", "bob", false)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(400 * time.Millisecond)
		if f, err = p.Forget(t.Context(), "default", f.ID); err != nil || f.DoneTime.IsZero() {
			t.Fatalf("bob is not forgotten: %+v, %v", f, err)
		}
	}
}

// What is said and added after ForgetActor was called is not forgotten by it.
func TestMemories_ForgetActor_KeepsWhatCameAfterIt(t *testing.T) {
	p, h := startHooked(t, memorystore.New(memorystore.Options{}), atOnce())
	p.begin("c", "ann")
	p.begin("asks", "ann")
	p.say("c", conversation.RoleUser, "My locker code for zebra is 4711.")
	p.inSync("c")
	h.mu.Lock()
	h.before = func() {
		time.Sleep(5 * time.Millisecond) // as long as the errand waits: behind others, for pages of conversations, for a service
		if _, err := p.AddMemory(t.Context(), engine.AddMemoryRequest{Of: engine.MemoriesOf{Key: key("c")}, Text: "The new canary is green."}); err != nil {
			t.Error(err)
		}
	}
	h.mu.Unlock()
	f, err := p.ForgetActor(t.Context(), "default", "ann", false)
	if err != nil {
		t.Fatal(err)
	}
	p.eventually("done", 10*time.Second, func() bool {
		f, err = p.Forget(t.Context(), "default", f.ID)
		return err == nil && !f.DoneTime.IsZero()
	})
	if !p.found("asks", "new canary green", "canary") {
		t.Error("what AddMemory acknowledged after ForgetActor is gone")
	}
}

// What an actor is forgotten for leaves blocks; what an operator told all agents of the namespace stays in them.
func TestMemories_ForgetActor_LeavesWhatIsEverybodys(t *testing.T) {
	t.Parallel()
	policy := atOnce()
	policy.Recall = conversation.RecallPolicy{
		Scopes: &[]conversation.MemoryScope{conversation.MemoryScopeUser, conversation.MemoryScopeOrg}, MaxViewPercent: new(int32(50)), Floor: new(0.0), Deadline: new(5 * time.Second),
	}
	p := start(t, memorystore.New(memorystore.Options{}), policy)
	p.create("told", "ann")
	p.say("told", conversation.RoleUser, "My refund for order walrus17 was promised by Peter on Monday.")
	p.inSync("told")
	_, err := p.AddMemory(t.Context(), engine.AddMemoryRequest{Of: engine.MemoriesOf{Key: key("told"), Scope: memory.ScopeOrg}, Text: "A refund of any order takes fourteen days everywhere."})
	if err != nil {
		t.Fatal(err)
	}
	p.create("asks", "ann")
	p.say("asks", conversation.RoleUser, "When does the refund of my order walrus17 come?")
	shown := func() string {
		parts := p.build("asks", conversation.FormatNeutral, 10_000).Messages[0].Parts
		return parts[0].Text.Inline
	}
	if before := shown(); !strings.Contains(before, "Peter") || !strings.Contains(before, "fourteen") {
		t.Fatalf("recalled: %s", before)
	}
	f, err := p.ForgetActor(t.Context(), "default", "ann", false)
	if err != nil {
		t.Fatal(err)
	}
	p.eventually("forgotten", time.Minute, func() bool {
		f, err = p.Forget(t.Context(), "default", f.ID)
		return err == nil && !f.DoneTime.IsZero()
	})
	if after := shown(); strings.Contains(after, "Peter") || !strings.Contains(after, "fourteen") {
		t.Errorf("shown: %s", after)
	}
}
