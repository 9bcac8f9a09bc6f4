package summaries

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.Cleanup(os.Exit)) }

// slack is what a build may take beside its wait.
func slack() time.Duration { return testlane.Slack(100 * time.Millisecond) }

// attempts is how often a scenario may be late: a machine that has other work is late now and then, the sidecar would be every time.
const attempts = 3

// punctual plays a scenario until no build of it is late.
func punctual(t *testing.T, scenario func() (late string)) {
	t.Helper()
	for range attempts {
		late := scenario()
		if late == "" {
			return
		}
		t.Log(late)
	}
	t.Errorf("a build was late %d times", attempts)
}

// budget is what a context may weigh: what the tests append comes to more.
const budget = 4000

// faults are what servers do that are no help.
var faults = map[string]http.HandlerFunc{
	"black hole": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"hangs after its header": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	},
	"a byte a second": func(w http.ResponseWriter, r *http.Request) {
		for _, b := range reply(summed("short")) {
			if _, err := w.Write([]byte{b}); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(time.Second):
			}
		}
	},
	"429 for an hour": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	},
	"500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
	"100 MB": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"`)
		piece := strings.Repeat("x", 1<<20)
		for range 100 {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	},
	"no JSON":       says([]byte("<html>")),
	"nothing":       says(nil),
	"empty summary": says(reply(summed("  \u200b "))),
	"no summary":    says(reply("I would rather not.")),
	"longer":        says(reply(summed(strings.Repeat("longer and longer ", 2000)))),
	"invalid UTF-8": says([]byte("{\"choices\":[{\"message\":{\"content\":\"{\\\"summary\\\":\\\"\xff\xfe\\\"}\"}}]}")),
	"deeply nested": says([]byte(strings.Repeat("[", 500_000))),
	"hangs up":      func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"echo of prompt": func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(reply(summed(string(body))))
	},
}

func says(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
}

// TestBuild_FaultySummarizer_AnswersInTime: whatever the server does, builds wait no longer than they may, are legal, say what
// they did instead, and the record stays as it is.
func TestBuild_FaultySummarizer_AnswersInTime(t *testing.T) {
	waits := []time.Duration{300 * time.Millisecond, 3 * time.Second}
	if testing.Short() {
		waits = waits[:1]
	}
	for name, handler := range faults {
		for _, wait := range waits {
			t.Run(name+" "+wait.String(), func(t *testing.T) {
				t.Parallel()
				punctual(t, func() string { return faulty(t, served(t, handler), wait) })
			})
		}
	}
	for _, wait := range waits {
		t.Run("refused "+wait.String(), func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			_ = listener.Close()
			punctual(t, func() string { return faulty(t, servedBy(t, "http://"+listener.Addr().String(), func() {}), wait) })
		})
	}
}

func faulty(t *testing.T, w *world, wait time.Duration) (late string) {
	t.Helper()
	key := engine.Key{Namespace: "default", Conversation: "c"}
	found := w.begunWithin(t, key, wait, conversation.FitPolicy{MaxContextTokens: new(int32(budget))})
	degraded, moved := 0, false
	for turn := int32(1); turn <= 7; turn++ {
		if turn == 2 { // not prepared: the build that it is due in asks and waits
			w.say(t, key, append(exchange("c2", output("another")), text(conversation.RoleUser, "go on"))...)
		}
		w.say(t, key, text(conversation.RoleUser, filler(turn)))
		began := time.Now()
		got := w.build(t, key, turn, conversation.FormatAnthropic)
		if took := time.Since(began); took > wait+slack() {
			late = fmt.Sprintf("turn %d took %s, and may wait %s", turn, took, wait)
		}
		legal(t, got)
		moved = moved || got.Manifest.Window.Start > 0
		degraded += len(got.Degradations)
	}
	if !moved {
		t.Error("the conversation never outgrew its budget: nothing is tested")
	}
	if degraded == 0 {
		t.Error("no build says that there was no summary")
	}
	m, err := w.Message(t.Context(), key, 4)
	if err != nil || m.Message.Parts[0].Result.Text.Inline != found {
		t.Errorf("the original is not what was appended (%v)", err)
	}
	if m.Level != conversation.Shortened {
		t.Errorf("level %d after seven turns without a summary", m.Level)
	}
	return late
}

// filler makes the conversation outgrow its budget in its last turns, when nothing waits for a summary any more.
func filler(turn int32) string {
	if turn < 6 {
		return "go on"
	}
	return strings.Repeat(fmt.Sprintf("turn %d goes on ", turn), 550)
}

func legal(t *testing.T, got *engine.BuildResult) {
	t.Helper()
	violations, err := validate.Check(validate.Anthropic, got.System, got.MessagesJSON)
	if err != nil || len(violations) > 0 {
		t.Errorf("illegal: %v (%v)", violations, err)
	}
	if !strings.Contains(string(got.System), secretSystem) || !strings.Contains(string(got.MessagesJSON), secretPinned) {
		t.Error("a rule is missing")
	}
	if got.Tokens.Total > got.Tokens.Budget || got.Tokens.Budget > budget {
		t.Errorf("%d tokens for a budget of %d", got.Tokens.Total, got.Tokens.Budget)
	}
}
