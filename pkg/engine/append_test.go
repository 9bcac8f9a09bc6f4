package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

func TestEngine_Append_IndexIDTurnAndTokens(t *testing.T) {
	b := newBench(0)
	named := user("four char")
	named.ID = "mine"
	r := b.append(t, "c", named, answer("ok"))
	if r.Revision != 1 || r.Duplicate || len(r.Events) != 2 || r.Events[1].Index != 1 || r.Events[1].Type != conversation.EventAdded {
		t.Errorf("result %+v", r)
	}
	b.build(t, "c", conversation.FormatNeutral, 1000)
	r = b.append(t, "c", user("again"))
	if r.Revision != 2 || r.Messages[0].TurnAdded != 1 || r.Events[0].Turn != 1 {
		t.Errorf("after a build: %+v", r)
	}
	got := b.records(t, "c")
	for i, want := range []struct {
		id     string
		tokens int32
	}{{"mine", 4 + 3}, {"m1", 4 + 1}, {"m2", 4 + 2}} {
		if m := got[i]; m.ID != want.id || m.Index != int32(i) || m.Tokens != want.tokens || !m.CreateTime.Equal(b.now) {
			t.Errorf("message %d: %+v, want %+v", i, m, want)
		}
	}
	if h := b.head(t, "c"); h.Tokens != 7+5+6 || h.Messages != 3 || h.Request != 2 {
		t.Errorf("head %+v", h)
	}
}

// ordinals lists, message by message, the ordinals of its calls and results.
func ordinals(messages []conversation.Message) [][]int32 {
	var out [][]int32
	for i := range messages {
		var of []int32
		for _, p := range messages[i].Parts {
			switch {
			case p.Call != nil:
				of = append(of, p.Call.Ordinal)
			case p.Result != nil:
				of = append(of, p.Result.Ordinal)
			}
		}
		out = append(out, of)
	}
	return out
}

func results(ids ...string) conversation.Message {
	m := conversation.Message{Role: conversation.RoleTool}
	for _, id := range ids {
		m.Parts = append(m.Parts, result(id, "r").Parts...)
	}
	return m
}

// TestEngine_Append_PairsByPosition: real histories reuse call ids (behaviour §1). In the open unit an id means the first
// unanswered call that has it, and among closed units the newest.
func TestEngine_Append_PairsByPosition(t *testing.T) {
	for _, tt := range []struct {
		name     string
		messages []conversation.Message
		want     [][]int32
	}{
		{"in order", []conversation.Message{call("a", "b"), result("a", ""), result("b", "")}, [][]int32{{1, 2}, {1}, {2}}},
		{"in another order", []conversation.Message{call("a", "b"), result("b", ""), result("a", "")}, [][]int32{{1, 2}, {2}, {1}}},
		{"several in one message", []conversation.Message{call("a", "b"), results("b", "a")}, [][]int32{{1, 2}, {2, 1}}},
		{"one id twice in a message", []conversation.Message{call("a", "a"), result("a", ""), result("a", "")}, [][]int32{{1, 2}, {1}, {2}}},
		{"one id in every step", []conversation.Message{call("a"), result("a", ""), call("a"), result("a", "")}, [][]int32{{1}, {1}, {2}, {2}}},
		{"one id twice in a unit", []conversation.Message{call("a"), call("a"), result("a", ""), result("a", "")}, [][]int32{{1}, {2}, {1}, {2}}},
		{"the open unit before a closed one", []conversation.Message{call("a"), user("u"), call("a"), result("a", "")}, [][]int32{{1}, nil, {2}, {2}}},
		{"then the closed one, late", []conversation.Message{call("a"), user("u"), call("a"), result("a", ""), result("a", "")}, [][]int32{{1}, nil, {2}, {2}, {1}}},
		{"late: the newest of the closed", []conversation.Message{call("a"), call("a"), user("u"), result("a", ""), result("a", "")}, [][]int32{{1}, {2}, nil, {2}, {1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(0)
			for i := range tt.messages {
				b.append(t, "c", tt.messages[i])
			}
			if got := ordinals(b.records(t, "c")); !slices.EqualFunc(got, tt.want, slices.Equal[[]int32]) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestEngine_Append_ResultWithoutCall(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before []conversation.Message
		m      conversation.Message
	}{
		{"first of all", nil, result("a", "")},
		{"another id", []conversation.Message{call("a")}, result("b", "")},
		{"answered already", []conversation.Message{call("a"), result("a", "")}, result("a", "")},
		{"the second of one message", []conversation.Message{call("a")}, results("a", "a")},
	} {
		b := newBench(0)
		b.append(t, "c", append([]conversation.Message{user("hi")}, tt.before...)...)
		before := b.head(t, "c")
		_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{tt.m}, Request: engine.Request{RPC: "AppendMessage"}})
		if expect(t, err, conversation.ResultWithoutCall); !strings.HasPrefix(violation(err), "message.parts[") {
			t.Errorf("%s: field %v", tt.name, violation(err))
		}
		if after := b.head(t, "c"); after.Version != before.Version {
			t.Errorf("%s: something was committed", tt.name)
		}
	}
}

// TestEngine_Append_ForgetsCalls: the head remembers the last 256 calls of closed units, and every call of the open one.
func TestEngine_Append_ForgetsCalls(t *testing.T) {
	b := newBench(0)
	ids := make([]string, 300)
	for i := range ids {
		ids[i] = fmt.Sprint("k", i)
	}
	b.append(t, "c", call(ids...), result("k0", "in the open unit all are known"), user("next"))
	if got := len(b.head(t, "c").Unanswered); got != 256 {
		t.Errorf("%d calls are remembered", got)
	}
	_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{result("k43", "too late")}})
	expect(t, err, conversation.ResultWithoutCall)
	b.append(t, "c", result("k44", "late"), result("k299", "late"))
	if got := len(b.head(t, "c").Unanswered); got != 254 {
		t.Errorf("%d calls are remembered after two late results", got)
	}
}

// TestEngine_Append_PinsUnits: a pin keeps its whole unit, including messages that join the unit later.
func TestEngine_Append_PinsUnits(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("u"), pinned(call("a", "b")))
	b.append(t, "c", result("a", "1"))
	b.append(t, "c", pinned(result("b", "2")), answer("done"), call("x"), pinned(result("x", "pinned by its result")), user("u"), pinned(user("p")))
	want := []conversation.Range{{First: 1, End: 4}, {First: 5, End: 7}, {First: 8, End: 9}}
	if got := b.head(t, "c").Pins; !slices.Equal(got, want) {
		t.Errorf("pins %v, want %v", got, want)
	}
	for i := range 125 {
		b.append(t, "many", pinned(user(fmt.Sprint(i))))
	}
	b.append(t, "many", pinned(user("a")), pinned(user("b")), pinned(call("c")), pinned(result("c", "in the last unit that fits")))
	before := b.head(t, "many").Version
	_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("many"), Messages: []conversation.Message{user("fine"), pinned(user("one too many"))}})
	expect(t, err, conversation.LimitExceeded)
	if b.head(t, "many").Version != before {
		t.Error("part of a refused batch was committed")
	}
}

func TestEngine_Append_LeadingSystemEndsWithTheFirstOther(t *testing.T) {
	b := newBench(0)
	system := func(s string) conversation.Message { return text(conversation.RoleSystem, s) }
	b.append(t, "c", system("one"))
	b.append(t, "c", system("two"), user("u"), system("later"))
	if got := b.head(t, "c").LeadingSystem; got != 2 {
		t.Errorf("%d leading system messages", got)
	}
	b.append(t, "d", user("u"), system("later"))
	if got := b.head(t, "d").LeadingSystem; got != 0 {
		t.Errorf("%d leading system messages after a user's", got)
	}
}

func TestEngine_Append_ExpectedIndex(t *testing.T) {
	b := newBench(0)
	for i, want := range []int32{0, 1} {
		_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user("u")}, ExpectedIndex: &want})
		if err != nil {
			t.Fatalf("append %d: %v", i, err)
		}
	}
	for _, wrong := range []int32{0, 1, 3} {
		_, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: []conversation.Message{user("u")}, ExpectedIndex: &wrong})
		expect(t, err, conversation.IndexMismatch)
	}
	if got := b.head(t, "c").Messages; got != 2 {
		t.Errorf("%d messages", got)
	}
}

func TestEngine_Append_BatchAllOrNothing(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", call("a"))
	before := b.head(t, "c")
	_, err := b.Append(ctx, engine.AppendRequest{
		Key: keyOf("c"), Messages: []conversation.Message{result("a", "1"), user(words(50_000)), result("zzz", "2")},
		Request: engine.Request{RPC: "AppendMessages"},
	})
	expect(t, err, conversation.ResultWithoutCall)
	if got := violation(err); got != "items[2].message.parts[0].tool_result.call_id" {
		t.Errorf("field %s", got)
	}
	if after := b.head(t, "c"); after.Version != before.Version || len(after.Unanswered) != 1 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	b.append(t, "c", result("a", "still open"))
}

// TestEngine_Append_LargePartsAsChunks: parts of 32 KiB and more lie in chunks and come back byte for byte (behaviour §14).
func TestEngine_Append_LargePartsAsChunks(t *testing.T) {
	const kib = 1 << 10
	for _, size := range []int{32*kib - 1, 32 * kib, store.ChunkBytes, store.ChunkBytes + 1, 3*store.ChunkBytes - 7} {
		b := newBench(1 << 24)
		content := strings.Repeat("0123456789abcde\x00", size/16+1)[:size-3] + "end"
		m := user("look at this")
		m.Parts = append(m.Parts, user(content).Parts[0], conversation.Part{
			Kind: conversation.PartMedia, Media: &conversation.Media{MIMEType: "image/png", Data: conversation.Content{Inline: content}},
		})
		r := b.append(t, "c", m, call("a"), result("a", content))
		ref := r.Messages[0].Parts[1].Text.Ref
		if (ref != nil) != (size >= 32*kib) || ref != nil && (ref.Bytes != int64(size) || ref.Chars != int64(size)) {
			t.Fatalf("%d bytes: stored as %+v", size, ref)
		}
		got := b.records(t, "c")
		for _, c := range []conversation.Content{got[0].Parts[1].Text, got[0].Parts[2].Media.Data, got[2].Parts[0].Result.Text} {
			if c.Inline != content || c.Ref != nil {
				t.Errorf("%d bytes came back as %d", size, len(c.Inline))
			}
		}
		quarter := int64(size+3) / 4
		if want := (4 + 3 + quarter + 1600) + (4 + 6 + 2 + 3) + (4 + quarter); b.head(t, "c").Tokens != want {
			t.Errorf("%d tokens on record, want %d", b.head(t, "c").Tokens, want)
		}
		built := b.build(t, "c", conversation.FormatOpenAIChat, 2_000_000)
		if !strings.Contains(string(built.MessagesJSON), "end") {
			t.Errorf("%d bytes are not in the context", size)
		}
	}
}
