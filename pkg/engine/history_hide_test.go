package engine_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// hiding makes a step with a whole list, as adapters send it.
func (b *bench) hiding(t tb, id string, list []string) engine.StepRequest {
	t.Helper()
	step := engine.StepRequest{Build: buildRequest(id, conversation.FormatOpenAIChat, 100_000)}
	step.Append.History = b.historyOf(t, conversation.FormatOpenAIChat, list, 0, "")
	step.Append.History.Divergence, step.Append.History.Cut = engine.DivergenceNew, engine.CutHide
	return step
}

// hides sends a whole list, and requires that the model sees exactly the list.
func (b *bench) hides(t tb, id string, list []string) *engine.StepResult {
	t.Helper()
	r, err := b.Step(ctx, b.hiding(t, id, list))
	if err != nil {
		t.Fatalf("%v, of %s", err, list)
	}
	if got, want := ofAnyIDs(t, string(r.MessagesJSON)), ofAnyIDs(t, "["+strings.Join(list, ",")+"]"); got != want {
		t.Fatalf("the view:\n%s\nthe list:\n%s", got, want)
	}
	return r
}

// ofAnyIDs returns a list with its calls renumbered, so that ids do not matter.
func ofAnyIDs(t tb, list string) string {
	t.Helper()
	var messages []object
	if err := json.Unmarshal([]byte(list), &messages); err != nil {
		t.Fatal(err)
	}
	numbers := map[any]int{}
	for _, m := range messages {
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			if called, ok := c.(object); ok {
				numbers[called["id"]] = len(numbers)
				called["id"] = numbers[called["id"]]
			}
		}
		if id, ok := m["tool_call_id"]; ok {
			m["tool_call_id"] = numbers[id]
		}
	}
	return marshal(messages)
}

func at(list []string, indexes ...int) []string {
	var out []string
	for _, i := range indexes {
		out = append(out, list[i])
	}
	return out
}

func ranges(bounds ...int32) []conversation.Range {
	var out []conversation.Range
	for i := 0; i < len(bounds); i += 2 {
		out = append(out, conversation.Range{First: bounds[i], End: bounds[i+1]})
	}
	return out
}

// TestEngine_AppendHistory_Hide_IsTheListFromThenOn: messages that a list lacks leave the view in the commit of the append, and come back
// with a list that holds them again.
func TestEngine_AppendHistory_Hide_IsTheListFromThenOn(t *testing.T) {
	t.Parallel()
	whole := workedList()
	for name, c := range map[string]struct {
		list    []string
		removed []conversation.Range
	}{
		"the first two":          {at(whole, 2, 3, 4, 5, 6, 7), ranges(0, 2)},
		"a pair in the middle":   {at(whole, 0, 1, 6, 7), ranges(2, 6)},
		"calls and results":      {at(whole, 0, 1, 2, 5, 6, 7), ranges(3, 5)},
		"one of the user's":      {at(whole, 1, 2, 3, 4, 5, 6, 7), ranges(0, 1)},
		"the front and a middle": {at(whole, 2, 6, 7), ranges(0, 2, 3, 6)},
	} {
		for _, more := range [][]string{nil, {asks("four")}} {
			b := listBench(nil)
			b.hides(t, "c", whole)
			list := append(slices.Clone(c.list), more...)
			before := b.head(t, "c").Version
			r := b.hides(t, "c", list)
			if !slices.Equal(r.Appended.History.Removed, c.removed) || r.Appended.History.Conversation != "c" || len(r.Appended.Messages) != len(more) {
				t.Errorf("%s: %+v", name, r.Appended.History)
			}
			if b.head(t, "c").Version != before+1 {
				t.Errorf("%s: more than one commit", name)
			}
			list = append(list, replies("fourth"))
			if r := b.hides(t, "c", list); len(r.Appended.History.Removed) != 0 || r.Appended.History.Matched != int32(len(list)-1) {
				t.Errorf("%s, later: %+v", name, r.Appended.History)
			}
			again := slices.Concat(whole, more, []string{replies("fourth"), asks("five")})
			if r := b.hides(t, "c", again); len(r.Appended.Messages) != 1 || r.Appended.History.Rewound.Len() != 0 {
				t.Errorf("%s, all of it again: %+v", name, r.Appended.History)
			}
			if r := b.hides(t, "c", append(list, asks("five"))); !slices.Equal(r.Appended.History.Removed, c.removed) {
				t.Errorf("%s, once more: %+v", name, r.Appended.History)
			}
		}
	}
}

func asks(s string) string    { return marshal(object{"role": "user", "content": s}) }
func replies(s string) string { return marshal(object{"role": "assistant", "content": s}) }

// worked is a list of eight elements, with a call in it.
func workedList() []string {
	return slices.Concat(
		[]string{asks("one"), replies("first"), asks("two")}, chatElements(call("x")), chatElements(result("x", "found")),
		[]string{replies("second"), asks("three"), replies("third")},
	)
}

// TestEngine_AppendHistory_Hide_OrElse: people and frameworks do other things to lists than removing messages. The model sees the list in
// every case.
func TestEngine_AppendHistory_Hide_OrElse(t *testing.T) {
	t.Parallel()
	whole := workedList()
	for name, c := range map[string]struct {
		list    []string
		rewound int32 // from; 0 for none
		another bool
	}{
		"cleared":                        {[]string{asks("anew")}, 0, true},
		"cleared, and the same words":    {[]string{asks("one"), replies("otherwise")}, 1, false},
		"cleared but for the first":      {at(whole, 0), 1, false},
		"the last two removed":           {at(whole, 0, 1, 2, 3, 4, 5), 6, false},
		"a summary in the front's place": {append([]string{asks("So far: one, two.")}, whole[6:]...), 0, true},
		"a summary behind the first":     {append([]string{asks("one"), asks("So far: two.")}, whole[6:]...), 1, false},
		"a shortened result":             {slices.Concat(whole[:4], chatElements(result("x", "fo")), whole[5:]), 4, false},
		"the front, and the last edited": {append(at(whole, 2, 3, 4, 5), asks("edited")), 0, true},
	} {
		b := listBench(nil)
		b.hides(t, "c", whole)
		for range 2 {
			r := b.hides(t, "c", c.list)
			if h := r.Appended.History; h.Rewound.First != c.rewound || (h.Conversation != "c") != c.another || len(h.Removed) > 0 {
				t.Errorf("%s: %+v", name, h)
			}
			c.list, c.rewound = append(c.list, replies("well")), 0
		}
		if r := b.hides(t, "c", append(slices.Clone(whole), asks("on"))); r.Appended.History.Conversation != "c" {
			t.Errorf("%s, then the first again: %+v", name, r.Appended.History)
		}
	}
}

// TestEngine_AppendHistory_Hide_IsOnRecord: messages that left the view can be listed, found, brought back and exported, and one decision
// says why they left.
func TestEngine_AppendHistory_Hide_IsOnRecord(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	whole := workedList()
	b.hides(t, "c", whole)
	list := append(at(whole, 2, 6, 7), asks("four"))
	r := b.hides(t, "c", list)
	addsUp(t, b, r.Result)
	var why []conversation.Decision
	for _, d := range r.Decisions {
		if d.Reason == conversation.ReasonRemovedByCaller {
			why = append(why, d)
		}
	}
	if len(why) != 2 || why[0].First != 0 || why[0].Last != 1 || why[1].First != 3 || why[1].Last != 5 || why[1].Kind != conversation.DecisionRemoved || why[1].Before == 0 {
		t.Errorf("decisions %+v", why)
	}
	removed := 0
	for _, e := range r.Events {
		if e.Type == conversation.EventRemoved && e.Reason == conversation.ReasonRemovedByCaller {
			removed++
		}
	}
	if removed != 2 {
		t.Errorf("events %+v", r.Events)
	}
	for index, want := range map[int32]bool{0: true, 2: false, 4: true, 6: false} {
		m, err := b.Message(ctx, keyOf("c"), index)
		if err != nil || m.TakenOut != want || (m.Level == conversation.Removed) != want || m.Expandable != want || m.Hidden || m.InView == want {
			t.Errorf("message %d: %v, %+v", index, err, m)
		}
	}
	if hits := b.hits(t, "found"); !slices.Equal(hits, []int32{4}) {
		t.Errorf("hits %v", hits)
	}
	if _, err := b.imports("copy", b.export(t, "c")); err != nil {
		t.Fatal(err)
	}
	if x, y := b.asked(t, "c", 100_000, nil), b.asked(t, "copy", 100_000, nil); x.SHA256 != y.SHA256 {
		t.Errorf("the copy shows %s, the original %s", shownText(y), shownText(x))
	}
	b.expanded(t, 4)
	step := b.hiding(t, "c", append(list, replies("fourth")))
	if r, err := b.Step(ctx, step); err != nil || len(r.Appended.History.Removed) > 0 || !strings.Contains(string(r.MessagesJSON), "found") {
		t.Errorf("expanded: %v, %s", err, r.MessagesJSON)
	} else {
		addsUp(t, b, r.Result)
	}
	b.hides(t, "c", slices.Concat(whole, list[3:], []string{replies("fourth")}))
	b.hides(t, "c", append(list, replies("fourth")))
}

func TestEngine_AppendHistory_Hide_RetryAndDryRun(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	whole := workedList()
	b.hides(t, "c", whole)
	before := b.head(t, "c").Version
	step := b.hiding(t, "c", append(at(whole, 0, 1, 6, 7), asks("four")))
	step.Build.DryRun = true
	dry, err := b.Step(ctx, step)
	if err != nil || b.head(t, "c").Version != before {
		t.Fatalf("%v, version %d after %d", err, b.head(t, "c").Version, before)
	}
	step.Build.DryRun, step.Build.Request = false, request("BuildContext", "r", "x")
	r, err := b.Step(ctx, step)
	if err != nil || string(r.MessagesJSON) != string(dry.MessagesJSON) {
		t.Fatalf("%v, %s after %s", err, r.MessagesJSON, dry.MessagesJSON)
	}
	b.append(t, "c", answer("more"))
	again, err := b.Step(ctx, step)
	if err != nil || !again.Duplicate || !reflect.DeepEqual(again.Appended.History, r.Appended.History) || again.SHA256 != r.SHA256 {
		t.Errorf("a retry: %v, %+v, want %+v", err, again.Appended.History, r.Appended.History)
	}
}

// TestEngine_AppendHistory_Hide_NoPrefixIsKnown: a list prefix that holds removed messages is compared again, so that these come back.
func TestEngine_AppendHistory_Hide_NoPrefixIsKnown(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	whole := workedList()
	known := b.hides(t, "c", whole).Appended.History
	shorter := b.hides(t, "c", append(at(whole, 0, 1, 6, 7), asks("four"))).Appended.History
	_, err := b.tail(t, append(slices.Clone(whole), asks("four")), known)
	expect(t, err, conversation.HistoryPrefixUnknown)
	if r, err := b.tail(t, append(at(whole, 0, 1, 6, 7), asks("four"), replies("fourth")), shorter); err != nil || len(r.Messages) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestEngine_AppendHistory_Hide_Rewound: a rewind over removed messages, and its undoing, do not change that they are removed.
func TestEngine_AppendHistory_Hide_Rewound(t *testing.T) {
	t.Parallel()
	b := listBench(nil)
	whole := workedList()
	b.hides(t, "c", whole)
	b.hides(t, "c", at(whole, 0, 1, 2, 7))
	r := b.hides(t, "c", append(at(whole, 0, 1, 2), replies("otherwise")))
	if r.Appended.History.Rewound.First != 7 {
		t.Errorf("%+v", r.Appended.History)
	}
	addsUp(t, b, r.Result)
	b.rewind(t, "c", 2)
	if _, err := b.UndoRewind(ctx, engine.UndoRewindRequest{Key: keyOf("c")}); err != nil {
		t.Fatal(err)
	}
	addsUp(t, b, b.hides(t, "c", append(at(whole, 0, 1, 2), replies("otherwise"))).Result)
	b.hides(t, "c", append(at(whole, 0, 1, 2, 3, 4, 5, 6), replies("otherwise")))
}

// TestEngine_AppendHistory_Hide_DissolvesSummaries: no summary tells of removed messages, or covers messages that came back.
func TestEngine_AppendHistory_Hide_DissolvesSummaries(t *testing.T) {
	t.Parallel()
	b := listBench(func(o *engine.Options) {
		o.Defaults = conversation.Policy{Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize, ThresholdMessages: ptr(int32(9)), KeepRecent: ptr(int32(3))}}.Or(eager)
	})
	list := []string{asks("Begin."), replies("Yes."), asks("You must never touch /srv/secret.key."), replies("Never.")}
	for i := range 12 {
		list = append(list, asks(fmt.Sprint("Go on with ", i, ". ", words(40))), replies("Done."))
	}
	sends := func(list []string) *engine.StepResult {
		r, err := b.Step(ctx, b.hiding(t, "c", list))
		if err != nil {
			t.Fatal(err)
		}
		addsUp(t, b, r.Result)
		return r
	}
	sends(list)
	if r := sends(list); r.Compaction.Summary == 0 || !strings.Contains(string(r.MessagesJSON), "secret.key") {
		t.Fatalf("no summary tells it: %s", r.MessagesJSON)
	}
	shorter := slices.Delete(slices.Clone(list), 2, 4)
	for range 3 {
		r := sends(shorter)
		if strings.Contains(string(r.MessagesJSON), "secret.key") {
			t.Fatalf("it is told: %s", r.MessagesJSON)
		}
		shorter = append(shorter, asks("More."), replies("Well."))
	}
	if r := sends(append(slices.Clone(list), shorter[len(list)-2:]...)); !strings.Contains(string(r.MessagesJSON), "secret.key") || r.Appended.History.Conversation != "c" {
		t.Errorf("it is not told again: %s", r.MessagesJSON)
	}
}

func TestEngine_AppendHistory_Hide_StoreFailsAnywhere(t *testing.T) {
	t.Parallel()
	whole := workedList()
	for failing := range 12 {
		f := newFaulty()
		b := newOn(f, nil)
		b.hides(t, "c", whole)
		n, before := 0, b.head(t, "c").Version
		f.commit = func(store.Key, *store.Change) error {
			if n++; n == failing+1 {
				return store.ErrUnavailable
			}
			return nil
		}
		step := b.hiding(t, "c", append(at(whole, 0, 1, 6, 7), asks("four")))
		if _, err := b.Step(ctx, step); err != nil && b.head(t, "c").Version != before {
			t.Errorf("commit %d: %v, version %d after %d", failing, err, b.head(t, "c").Version, before)
		}
		f.commit = nil
		newOn(f, nil).hides(t, "c", append(at(whole, 0, 1, 6, 7), asks("four")))
	}
}

// editor is a person who works with an agent and edits its list.
type editor struct {
	t     *rapid.T
	units [][]string
	past  [][][]string
	calls int
}

func (e *editor) list() []string { return slices.Concat(e.units...) }

func (e *editor) says(role string) {
	said := rapid.SampledFrom([]string{"yes", "yes", "no", "go on"}).Draw(e.t, role)
	e.units = append(e.units, []string{marshal(object{"role": role, "content": said})})
}

func (e *editor) works() {
	e.calls++
	id := fmt.Sprint("id", e.calls)
	output := rapid.SampledFrom([]string{"pending", "pending", "done"}).Draw(e.t, "output")
	e.units = append(e.units, slices.Concat(chatElements(call(id)), chatElements(result(id, output))))
}

func (e *editor) acts() {
	e.past = append(e.past, slices.Clone(e.units))
	switch rapid.IntRange(0, 9).Draw(e.t, "act") {
	case 0, 1: // some are removed
		e.units = slices.DeleteFunc(slices.Clone(e.units), func([]string) bool { return rapid.IntRange(0, 3).Draw(e.t, "removed") == 0 })
	case 2: // the front is
		e.units = slices.Clone(e.units[rapid.IntRange(0, len(e.units)).Draw(e.t, "front"):])
	case 3: // the end is
		e.units = slices.Clone(e.units[:rapid.IntRange(0, len(e.units)).Draw(e.t, "end")])
	case 4: // an earlier list comes back
		e.units = slices.Clone(rapid.SampledFrom(e.past).Draw(e.t, "past"))
	case 5:
		e.works()
	default:
		e.says("assistant")
	}
	e.says("user")
	for range rapid.IntRange(0, 2).Draw(e.t, "more") {
		e.works()
	}
}

// TestEngine_AppendHistory_Hide_AnyEditor_IsTheList: whatever is removed from a list and put back, the model sees the list, and everything
// is on record.
func TestEngine_AppendHistory_Hide_AnyEditor_IsTheList(t *testing.T) {
	t.Parallel()
	proptest.CheckN(t, 60, func(t *rapid.T) {
		b := listBench(nil)
		defer b.Close()
		e := &editor{t: t}
		e.says("user")
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			r := b.hides(t, "c", e.list())
			id := r.Appended.History.Conversation
			addsUpIn(t, b, id, r.Result)
			if x, y := b.rebuilt(t, id), string(r.MessagesJSON); x != y {
				t.Fatalf("once more:\n%s\nwas:\n%s", x, y)
			}
			e.acts()
		}
	})
}

// rebuilt is what the model sees of a conversation, by who has read it anew.
func (b *bench) rebuilt(t tb, id string) string {
	t.Helper()
	r := buildRequest(id, conversation.FormatOpenAIChat, 100_000)
	r.DryRun = true
	built, err := b.Build(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	return string(built.MessagesJSON)
}
