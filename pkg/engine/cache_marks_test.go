package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
)

// markedCache behaves like Anthropic's: each block that a request marks becomes an entry, and each mark finds an entry at most 19 blocks
// before it.
type markedCache struct {
	entries map[string]bool
	end     string // the blocks up to the last mark of the last request
}

// ask sends a request. It returns how many of its blocks are read from the cache, how many marks it has, and with how many blocks of the
// last request it begins (0 if the prefix changed).
func (c *markedCache) ask(t tb, request []byte) (read, marks, held int) {
	t.Helper()
	var prefix bytes.Buffer
	var prefixes []string
	var marked []int
	add := func(role string, block json.RawMessage) {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(block, &members); err != nil {
			t.Fatalf("%s: %v", block, err)
		}
		if members["cache_control"] != nil {
			marked = append(marked, len(prefixes))
			delete(members, "cache_control")
		}
		bare, _ := json.Marshal(members)
		fmt.Fprintf(&prefix, "%s %s\n", role, bare)
		prefixes = append(prefixes, prefix.String())
	}
	var r struct {
		Tools, System []json.RawMessage
		Messages      []struct {
			Role    string
			Content []json.RawMessage
		}
	}
	if err := json.Unmarshal(request, &r); err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	for _, b := range r.Tools {
		add("tool", b)
	}
	for _, b := range r.System {
		add("system", b)
	}
	for _, m := range r.Messages {
		for _, b := range m.Content {
			add(m.Role, b)
		}
	}
	for i, p := range prefixes {
		if p == c.end {
			held = i + 1
		}
	}
	for _, at := range marked {
		for i := at; i >= max(0, at-19); i-- {
			if c.entries[prefixes[i]] {
				read = max(read, i+1)
			}
		}
	}
	for _, at := range marked {
		c.entries[prefixes[at]], c.end = true, prefixes[at]
	}
	return read, len(marked), held
}

// parallel returns n parallel calls and their results: twice as many blocks.
func parallel(step, n int) []conversation.Message {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("call%d_%d", step, i)
	}
	return []conversation.Message{call(ids...), results(ids...)}
}

func markedRequest(r *engine.BuildRequest) {
	r.Format, r.Complete = conversation.FormatAnthropic, engine.Completion{On: true, PromptCache: true}
	r.Fixed = engine.FixedInput{SystemPrompt: "Be brief.", ToolsJSON: `[{"name":"a"},{"name":"b"}]`}
}

// TestEngine_Build_CacheMarks_ManyParallelCalls: 25 calls and their results are more blocks than the provider looks back, so the end of
// the last build is marked too. This also holds for callers who mark by themselves, for a retry and for a rebuilt manifest.
func TestEngine_Build_CacheMarks_ManyParallelCalls(t *testing.T) {
	for _, tt := range []struct {
		calls, marks int
	}{{9, 3}, {10, 4}, {25, 4}, {200, 4}} {
		b := newBenchWith(memory.New(memory.Options{}), func(o *engine.Options) { o.CacheBytes = 1 << 20 })
		b.append(t, "c", user("hello"), answer("Hi."), user("Find them."))
		cache := &markedCache{entries: map[string]bool{}}
		first := b.asked(t, "c", 100_000, markedRequest)
		cache.ask(t, first.RequestJSON)
		b.append(t, "c", parallel(0, tt.calls)...)
		ask := func() *engine.BuildResult {
			return b.asked(t, "c", 100_000, func(r *engine.BuildRequest) {
				markedRequest(r)
				r.Request = request("BuildContext", "again", "x")
			})
		}
		second := ask()
		read, marks, held := cache.ask(t, second.RequestJSON)
		if held == 0 || read < held || marks != tt.marks {
			t.Errorf("%d calls: %d blocks are read of %d, with %d marks", tt.calls, read, held, marks)
		}
		if again := ask(); !again.Duplicate || !bytes.Equal(again.RequestJSON, second.RequestJSON) {
			t.Errorf("%d calls: again %s", tt.calls, again.RequestJSON)
		}
		m, err := b.Manifest(ctx, keyOf("c"), second.Manifest.Seq, conversation.FormatUnspecified)
		if err != nil || second.Breakpoints[1] != m.Breakpoints[0]+1 || len(second.Breakpoints) != len(m.Breakpoints)+1 {
			t.Errorf("%d calls: breakpoints %v, behind the prompt %v (%v)", tt.calls, m.Breakpoints, second.Breakpoints, err)
		}
	}
}

// TestEngine_Build_CacheMarks_AnyStep_ReadsTheLastBuild: whatever a step adds, every block of the last build that still leads the context
// is read from the cache, with at most four marks.
func TestEngine_Build_CacheMarks_AnyStep_ReadsTheLastBuild(t *testing.T) {
	far, moved := 0, 0
	proptest.Check(t, func(t *rapid.T) {
		b := newBenchWith(memory.New(memory.Options{}), func(o *engine.Options) {
			if rapid.Bool().Draw(t, "warm") {
				o.CacheBytes = 1 << 20
			}
		})
		tools := rapid.SampledFrom([]string{
			``, `[{"name":"a"},{"name":"b"}]`, `[{"name":"a","cache_control":{"type":"ephemeral"}},{"name":"b"}]`,
			`[{"name":"a","cache_control":{"type":"ephemeral"}},{"name":"b","cache_control":{"type":"ephemeral"}}]`,
		}).Draw(t, "tools")
		prompt := rapid.SampledFrom([]string{"", "Be brief."}).Draw(t, "prompt")
		add := func(messages ...conversation.Message) {
			if err := b.appends("c", messages...); err != nil {
				t.Fatal(err)
			}
		}
		if rapid.Bool().Draw(t, "system") {
			add(text(conversation.RoleSystem, "s1"), text(conversation.RoleSystem, "s2"))
		}
		add(user("hello"))
		budget := rapid.SampledFrom([]int32{600, 2000, 100_000}).Draw(t, "budget")
		cache, end := &markedCache{entries: map[string]bool{}}, 0
		for step := range rapid.IntRange(2, 12).Draw(t, "steps") {
			switch n := rapid.SampledFrom([]int{1, 2, 9, 10, 11, 19, 20, 25, 70}).Draw(t, "blocks"); rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0, 1:
				add(parallel(step, n)...)
			case 2:
				for i := range n {
					add(answer(fmt.Sprint("answer ", i)), user(fmt.Sprint("question ", i)))
				}
			case 3:
				add(append(parallel(step, n), answer("done"))...) // a made-up block follows
			default:
				add(call(fmt.Sprint("open", step)))
			}
			r, err := b.ask("c", budget, func(r *engine.BuildRequest) {
				markedRequest(r)
				r.Fixed, r.CloseOpenCalls = engine.FixedInput{SystemPrompt: prompt, ToolsJSON: tools}, true
				r.DryRun = rapid.IntRange(0, 9).Draw(t, "dry") == 0
			})
			if err != nil {
				if conversation.KindOf(err) != conversation.ContextCannotFit {
					t.Fatal(err)
				}
				return
			}
			if r.Manifest.Seq == 0 { // a dry run: it is not sent
				continue
			}
			read, marks, held := cache.ask(t, r.RequestJSON)
			if read < held || marks > 4 {
				t.Fatalf("%d blocks are read of %d, with %d marks: %s", read, held, marks, r.RequestJSON)
			}
			if held > 0 && int(r.Blocks)-end > 20 {
				far++
			}
			if step > 0 && held == 0 {
				moved++
			}
			end = int(r.Blocks)
		}
	})
	if !testing.Short() && (far < 50 || moved < 20) { // a short run draws too few cases
		t.Errorf("%d steps were long, and before %d the prefix broke", far, moved)
	}
}
