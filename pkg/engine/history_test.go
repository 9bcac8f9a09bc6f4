package engine_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// chatList is a list of Chat messages: what the user and the assistant say in turn.
func chatList(texts ...string) []string {
	var out []string
	for i, s := range texts {
		role := [2]string{"user", "assistant"}[i%2]
		out = append(out, marshal(object{"role": role, "content": s}))
	}
	return out
}

func (b *bench) sentList(t testing.TB, list []string) *engine.AppendResult {
	t.Helper()
	r, err := b.appendList(t, conversation.FormatOpenAIChat, list)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tail sends what follows a prefix that an earlier answer named.
func (b *bench) tail(t testing.TB, list []string, known *engine.HistoryResult) (*engine.AppendResult, error) {
	t.Helper()
	h := b.historyOf(t, conversation.FormatOpenAIChat, list, int(known.KnownCount), known.KnownSHA256)
	return b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), History: h})
}

func TestEngine_AppendHistory_KnownPrefix_IsLeftOut(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	list := chatList("a", "b", "c")
	first := b.sentList(t, list)
	if h := first.History; h.KnownCount != 3 || len(h.KnownSHA256) != 64 || h.Matched != 0 || len(first.Messages) != 3 {
		t.Fatalf("%+v, %d messages", h, len(first.Messages))
	}
	list = append(list, chatList("", "d", "e")[1:]...)
	r, err := b.tail(t, list, first.History)
	if err != nil || len(r.Messages) != 2 || r.History.KnownCount != 5 || r.History.Matched != 3 {
		t.Fatalf("%v, %+v", err, r)
	}
	again := b.sentList(t, list)
	if len(again.Messages) != 0 || again.History.KnownSHA256 != r.History.KnownSHA256 || again.History.Matched != 5 || again.Revision != r.Revision {
		t.Errorf("nothing new: %+v, %+v", again, again.History)
	}
	_, err = b.tail(t, list, &engine.HistoryResult{KnownCount: 3, KnownSHA256: r.History.KnownSHA256})
	expect(t, err, conversation.HistoryPrefixUnknown)
}

func TestEngine_AppendHistory_AfterTheRecordChanged_NoPrefixIsKnown(t *testing.T) {
	t.Parallel()
	list := chatList("a", "b", "c")
	for name, change := range map[string]func(b *bench) error{
		"rewind": func(b *bench) error {
			_, err := b.Rewind(ctx, engine.RewindRequest{Key: keyOf("c"), From: 2})
			return err
		},
		"correction": func(b *bench) error {
			_, err := b.Correct(ctx, engine.CorrectRequest{Key: keyOf("c"), Index: ptr(int32(0)), Parts: []engine.CorrectedPart{{Part: 0, Text: "A"}}})
			return err
		},
	} {
		b := listBench(nil)
		known := b.sentList(t, list).History
		if err := change(b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err := b.tail(t, append(slices.Clone(list), chatList("", "d")[1:]...), known)
		if conversation.KindOf(err) != conversation.HistoryPrefixUnknown {
			t.Errorf("%s: %v", name, err)
		}
		want := 1 // of d; and of c, if that was taken back
		if name == "rewind" {
			want = 2
		}
		if r := b.sentList(t, append(slices.Clone(list), chatList("", "d")[1:]...)); len(r.Messages) != want {
			t.Errorf("%s: %d messages appended to the whole list", name, len(r.Messages))
		}
	}
}

func TestEngine_AppendHistory_Rewind_IsOneCommit(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	b.sentList(t, chatList("a", "b", "c", "d"))
	before := b.head(t, "c").Version
	request := engine.AppendRequest{
		Key: keyOf("c"), History: b.historyOf(t, conversation.FormatOpenAIChat, chatList("a", "b", "x"), 0, ""), Request: request("AppendMessage", "1", "x"),
	}
	_, err := b.Append(ctx, request)
	expect(t, err, conversation.HistoryDiverged)
	var diverged *conversation.Error
	if !errors.As(err, &diverged) || *diverged.Divergence != (conversation.Divergence{Element: 2, Message: 2}) {
		t.Errorf("%+v", diverged)
	}
	request.History.Divergence = engine.DivergenceRewind
	r, err := b.Append(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	if r.Revision != 2 {
		t.Errorf("one commit made of revision 1 revision %d", r.Revision)
	}
	if r.History.Rewound != (conversation.Range{First: 2, End: 4}) || r.Messages[0].Index != 4 || b.head(t, "c").Version != before+1 {
		t.Errorf("rewound %+v, message %d, version %d after %d", r.History.Rewound, r.Messages[0].Index, b.head(t, "c").Version, before)
	}
	b.agrees(t, []conversation.Message{user("a"), answer("b"), user("x")})
	again, err := b.Append(ctx, request)
	if err != nil || !again.Duplicate || !reflect.DeepEqual(again.History, r.History) || again.Messages[0].Index != 4 {
		t.Errorf("a retry: %v, %+v, %+v", err, again, again.History)
	}
}

func TestEngine_Step_Regenerate_TakesBackTheReply(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	b.sentList(t, chatList("a", "b"))
	step := engine.StepRequest{Build: buildRequest("c", conversation.FormatOpenAIChat, 1000)}
	step.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, chatList("a"), 0, "")
	step.Append.History.Divergence = engine.DivergenceRewind
	step.Build.DryRun = true
	dry, err := b.Step(ctx, step)
	if err != nil || strings.Contains(string(dry.MessagesJSON), `"b"`) {
		t.Fatalf("%v, %s", err, dry.MessagesJSON)
	}
	b.agrees(t, []conversation.Message{user("a"), answer("b")})
	step.Build.DryRun = false
	r, err := b.Step(ctx, step)
	if err != nil || string(r.MessagesJSON) != string(dry.MessagesJSON) || r.Appended.History.Rewound.Len() != 1 {
		t.Fatalf("%v, %s", err, r.MessagesJSON)
	}
	b.agrees(t, []conversation.Message{user("a")})
}

func TestEngine_Step_Refused_KnowsNothingOfTheList(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	known := b.sentList(t, chatList("a", "b")).History
	step := engine.StepRequest{Build: buildRequest("c", conversation.FormatOpenAIChat, 10)}
	step.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, chatList("a", "b", words(100)), 0, "")
	_, err := b.Step(ctx, step)
	expect(t, err, conversation.ContextCannotFit)
	b.agrees(t, []conversation.Message{user("a"), answer("b")})
	if r, err := b.tail(t, chatList("a", "b", "c"), known); err != nil || len(r.Messages) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestEngine_Step_SystemOfAList_IsFixedInput(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	b.append(t, "c", text(conversation.RoleSystem, "rule one"), user("a"))
	system := marshal(object{"role": "system", "content": "rule one"})
	prompt := marshal(object{"role": "system", "content": "rule two"})
	for _, c := range []struct {
		list    []string
		counted bool
	}{{append([]string{system}, chatList("a")...), false}, {append([]string{prompt, system}, chatList("a")...), true}} {
		step := engine.StepRequest{Build: buildRequest("c", conversation.FormatOpenAIChat, 1000)}
		step.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, c.list, 0, "")
		r, err := b.Step(ctx, step)
		if err != nil || r.Tokens.Fixed > 0 != c.counted || r.Appended.History.Matched != int32(len(c.list)) {
			t.Errorf("%v, fixed %d, %+v", err, r.Tokens.Fixed, r.Appended.History)
		}
	}
	if n := len(b.records(t, "c")); n != 2 {
		t.Errorf("%d messages on record", n)
	}
}

func TestEngine_AppendHistory_Erased_IsStillFound(t *testing.T) {
	t.Parallel()
	b := listBench(func(o *engine.Options) {
		o.Defaults = eager.Or(conversation.Policy{Expiration: conversation.ExpirationPolicy{Results: conversation.Expiration{
			Turns: ptr(int32(1)), Mode: conversation.ExpirationCompact, CompactLength: ptr(int32(4)), PreserveOriginal: ptr(false),
		}}}).Or(sliding())
	})
	var list []string
	for _, m := range []conversation.Message{user("a"), call("x"), result("x", strings.Repeat("a long result ", 3000)), answer("b"), user("c")} {
		list = append(list, native(t, conversation.FormatOpenAIChat, m)...)
	}
	b.sentList(t, list)
	for range 3 {
		b.asked(t, "c", 100_000, nil)
	}
	if !conversation.Erased(b.records(t, "c")[2].Parts) {
		t.Fatal("nothing was erased")
	}
	list = append(list, chatList("", "d")[1:]...)
	known := b.historyOf(t, conversation.FormatOpenAIChat, list, 0, "")
	known.Input.Elements = slices.Repeat([]string{"{}"}, len(known.Input.Elements)) // so that its prefix is not known
	r, err := b.Append(ctx, engine.AppendRequest{Key: keyOf("c"), History: known})
	if err != nil || len(r.Messages) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}
