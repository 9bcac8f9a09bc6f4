package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// loop is a random agent under a framework that keeps a list of its own, in the JSON of a provider, and sends it whole with every build.
type loop struct {
	*bench
	t        *rapid.T
	format   conversation.Format
	happened []conversation.Message
	list     []string
	// behind holds, for each element, how many messages had happened by its end; -1 inside elements that cannot be separated.
	behind []int
	views  bool // the list becomes the view that came back
	known  bool // the framework leaves out what the server knows
	count  int
	sum    string
	calls  int
	sent   int
}

func newLoop(t *rapid.T) *loop {
	policy := rapid.SampledFrom([]conversation.Policy{
		{}, eager, {Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize, ThresholdMessages: ptr(int32(9)), KeepRecent: ptr(int32(3))}},
	}).Draw(t, "policy")
	policy.MaxWait = ptr(time.Duration(0))
	if rapid.Bool().Draw(t, "expires") {
		mode := rapid.SampledFrom([]conversation.ExpirationMode{conversation.ExpirationRemove, conversation.ExpirationCompact}).Draw(t, "mode")
		policy.Expiration.Results = conversation.Expiration{Turns: ptr(int32(2)), Mode: mode, CompactLength: ptr(int32(30))}
	}
	if rapid.Bool().Draw(t, "cites") {
		policy.Citations = conversation.CitationsPolicy{On: ptr(true), ThresholdChars: ptr(int32(300))}
	}
	if rapid.Bool().Draw(t, "prunes") {
		policy.Pruning = conversation.PruningPolicy{Off: ptr(false), ProtectTokens: ptr(int32(60)), MinimumTokens: ptr(int32(0))}
	}
	return &loop{
		t: t, bench: listBench(func(o *engine.Options) { o.Defaults = policy.Or(sliding()) }), format: rapid.SampledFrom(listFormats).Draw(t, "format"),
		views: rapid.Bool().Draw(t, "feeds views back"), known: rapid.Bool().Draw(t, "leaves out"),
	}
}

// happen adds messages that happened, which the framework notes.
func (l *loop) happen(messages ...conversation.Message) {
	for i := range messages {
		l.happened = append(l.happened, messages[i])
		elements := native(l.t, l.format, messages[i])
		l.list = append(l.list, elements...)
		for range elements {
			l.behind = append(l.behind, -1)
		}
		l.behind[len(l.behind)-1] = len(l.happened)
	}
}

func (l *loop) says() conversation.Message {
	return user(rapid.SampledFrom([]string{"yes", "yes", "no", "go on", "Continue.", strings.Repeat("more words ", 60)}).Draw(l.t, "user"))
}

// reply returns the model's answer, and the results of tools after it.
func (l *loop) reply() (reply conversation.Message, results []conversation.Message) {
	n := rapid.IntRange(0, 3).Draw(l.t, "calls")
	if n == 0 {
		return answer(rapid.SampledFrom([]string{"done", "yes", "well"}).Draw(l.t, "answer")), nil
	}
	if rapid.Bool().Draw(l.t, "words") {
		reply.Parts = answer("I look").Parts
	}
	reply.Role = conversation.RoleAssistant
	for range n {
		l.calls++
		id := fmt.Sprint("id", rapid.SampledFrom([]int{l.calls, l.calls % 4}).Draw(l.t, "id"))
		if slices.ContainsFunc(reply.Parts, func(p conversation.Part) bool { return p.Call != nil && p.Call.CallID == id }) {
			continue
		}
		asked := call(id).Parts[0]
		asked.Call.Arguments.Inline = rapid.SampledFrom([]string{`{"q":"a"}`, `{"q":"b","n":1}`}).Draw(l.t, "arguments")
		reply.Parts = append(reply.Parts, asked)
		out := rapid.SampledFrom([]string{"found", "[]", `{"a":1}`, strings.Repeat("a line of a long result. ", 30)}).Draw(l.t, "result")
		results = append(results, result(id, fmt.Sprint(out, l.calls)))
	}
	if l.format != conversation.FormatGemini { // whose results answer in order
		results = rapid.Permutation(results).Draw(l.t, "order")
	}
	return reply, results
}

// send builds with the whole list, and requires that the record then holds what happened.
func (l *loop) send(list []string, divergence engine.OnDivergence) {
	r := engine.StepRequest{Build: engine.BuildRequest{
		Key: keyOf("c"), Format: l.format, CloseOpenCalls: true, Budget: budgetOf(rapid.SampledFrom([]int32{700, 1500, 40_000}).Draw(l.t, "budget")),
	}}
	if rapid.IntRange(0, 3).Draw(l.t, "id") == 0 {
		r.Build.Request = request("BuildContext", fmt.Sprint("r", l.sent), "")
	}
	l.sent++
	known := 0
	if l.known && l.count > 0 {
		known = l.count
	}
	before := l.told(list)
	out, err := l.step(r, list, known, divergence)
	if err != nil && conversation.KindOf(err) == conversation.HistoryPrefixUnknown {
		out, err = l.step(r, list, 0, divergence)
	}
	if err != nil && conversation.KindOf(err) == conversation.ContextCannotFit {
		r.Build.Budget = budgetOf(100_000)
		r.Build.Request.ID += "+"
		out, err = l.step(r, list, 0, divergence)
	}
	if err != nil {
		l.t.Fatalf("the list is refused: %v\n%s", err, before)
	}
	if got, want := normal(l.visible(l.t)), normal(l.happened); got != want {
		l.t.Fatalf("on record:\n%s\nhappened:\n%s\n%s", abbreviated(got), abbreviated(want), before)
	}
	l.count, l.sum = int(out.Appended.History.KnownCount), out.Appended.History.KnownSHA256
	if l.count != len(list) {
		l.t.Fatalf("%d elements are known of %d", l.count, len(list))
	}
	if l.views && rapid.IntRange(0, 2).Draw(l.t, "feed") > 0 {
		l.feed(out.MessagesJSON)
	}
}

// told describes a list, and the record before the list is sent.
func (l *loop) told(list []string) string {
	record := ""
	if l.sent > 1 {
		record = normal(l.visible(l.t))
	}
	return "the list:\n" + abbreviated(strings.Join(list, "\n")) + "\non record before:\n" + abbreviated(record)
}

func (l *loop) step(r engine.StepRequest, list []string, known int, divergence engine.OnDivergence) (*engine.StepResult, error) {
	sum := ""
	if known > 0 {
		sum = l.sum
	}
	h := l.historyOf(l.t, l.format, list, known, sum)
	h.Divergence, h.ByPlace = divergence, rapid.Bool().Draw(l.t, "by place")
	r.Append.History = h
	out, err := l.Step(ctx, r)
	if err == nil && h.ByPlace {
		out.MessagesJSON = l.placed(l.t, out, l.format, list)
	}
	return out, err
}

// feed makes a view the framework's list.
func (l *loop) feed(view []byte) {
	var elements []json.RawMessage
	if err := json.Unmarshal(view, &elements); err != nil {
		l.t.Fatal(err)
	}
	l.list, l.behind, l.count = nil, nil, 0
	for _, e := range elements {
		l.list, l.behind = append(l.list, string(e)), append(l.behind, -1)
	}
	l.behind[len(l.behind)-1] = len(l.happened)
}

// answered lets the model answer. The reply is recorded now, or with the next list.
func (l *loop) answered() {
	reply, results := l.reply()
	if rapid.Bool().Draw(l.t, "at once") {
		if _, err := l.Append(ctx, engine.AppendRequest{Key: keyOf("c"), Messages: owned([]conversation.Message{reply})}); err != nil {
			l.t.Fatal(err)
		}
	}
	l.happen(reply)
	l.happen(results...)
	if len(results) == 0 || rapid.IntRange(0, 3).Draw(l.t, "interrupts") == 0 {
		l.happen(l.says())
	}
}

// edit goes back to some message, and continues from there with other words. It cannot separate what the framework does not separate.
func (l *loop) edit() {
	var ends []int
	for i, n := range l.behind {
		if n > 0 && n < len(l.happened) && (l.format != conversation.FormatGemini || !isWaiting(l.happened[:n])) {
			ends = append(ends, i)
		}
	}
	if len(ends) == 0 {
		return
	}
	at := rapid.SampledFrom(ends).Draw(l.t, "edited")
	l.happened = slices.Clone(l.happened[:l.behind[at]])
	l.list, l.behind = slices.Clone(l.list[:at+1]), slices.Clone(l.behind[:at+1])
	if l.count > len(l.list) {
		l.count = 0
	}
	l.happen(user(fmt.Sprint("instead ", l.calls)))
	l.calls++
	l.send(l.list, engine.DivergenceRewind)
}

// isWaiting reports whether calls are left without results, which Gemini cannot tell apart later.
func isWaiting(messages []conversation.Message) bool {
	n := 0
	for i := range messages {
		for _, p := range messages[i].Parts {
			switch p.Kind {
			case conversation.PartToolCall:
				n++
			case conversation.PartToolResult:
				n--
			}
		}
	}
	return n > 0
}

// cut sends the list without its front.
func (l *loop) cut() {
	var begins []int
	for i, n := range l.behind {
		if n > 0 && n < len(l.happened)-1 && l.happened[n].Role == conversation.RoleUser {
			begins = append(begins, i+1)
		}
	}
	if len(begins) == 0 {
		return
	}
	from := rapid.SampledFrom(begins).Draw(l.t, "front")
	_, err := l.appendList(l.t, l.format, l.list[from:])
	switch {
	case err == nil:
		l.agrees(l.t, l.happened)
	case conversation.KindOf(err) != conversation.HistoryAmbiguous:
		l.t.Fatalf("a list without its front is refused: %v", err)
	}
}

// TestEngine_AnyFramework_TheRecordIsWhatHappened: whatever a framework does to its list, and whatever views it adopts, nothing is recorded
// twice and nothing is lost.
func TestEngine_AnyFramework_TheRecordIsWhatHappened(t *testing.T) {
	t.Parallel()
	proptest.CheckN(t, 60, func(t *rapid.T) {
		l := newLoop(t)
		defer l.Close()
		l.happen(user("begin"), user("yes"))
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			l.send(l.list, engine.DivergenceRefuse)
			switch rapid.IntRange(0, 9).Draw(t, "then") {
			case 0: // the same again
			case 1:
				l.edit()
			case 2:
				l.cut()
			default:
				l.answered()
			}
		}
	})
}
