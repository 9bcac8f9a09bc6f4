package summaries

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/memory"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
	anthropicmodels "github.com/palimpsest-context/palimpsest/pkg/summarize/anthropic"
	openaimodels "github.com/palimpsest-context/palimpsest/pkg/summarize/openai"
)

const (
	agentModel  = "agent-model"
	secretTools = `[{"type":"function","name":"read",  "description":"TOOL-SECRET"}]`
	liveSystem  = "SYSTEM-SECRET: you are careful"
)

// liveWorld is a world whose provider is the agent's own too, with a profile that allows the live prefix.
type liveWorld struct {
	*world
	key    engine.Key
	format conversation.Format
	fixed  engine.FixedInput
	whole  bool // requests are made whole
	mu     sync.Mutex
	bodies [][]byte
	paths  []string
	told   []string // what the log was told
}

// answers is what a provider says for a summary, in the format of a request.
var answers = map[conversation.Format]func(text string) string{
	conversation.FormatOpenAIChat: func(text string) string { return string(reply(text)) },
	conversation.FormatOpenAIResponses: func(text string) string {
		return `{"output":[{"type":"message","content":[{"type":"output_text","text":` + quoted(text) + `}]}],"usage":{"input_tokens":900,"output_tokens":9,"input_tokens_details":{"cached_tokens":800}}}`
	},
	conversation.FormatAnthropic: func(text string) string {
		return `{"content":[{"type":"text","text":` + quoted(text) + `}],"usage":{"input_tokens":10,"cache_read_input_tokens":800,"cache_creation_input_tokens":90,"output_tokens":9}}`
	},
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// live is a world in a format whose provider answers as it is told.
func live(t *testing.T, f conversation.Format, answer func(live bool) string) *liveWorld {
	t.Helper()
	w := &liveWorld{key: engine.Key{Namespace: "default", Conversation: "c"}, format: f, fixed: engine.FixedInput{SystemPrompt: liveSystem, ToolsJSON: secretTools}}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.bodies, w.paths = append(w.bodies, body), append(w.paths, r.URL.Path)
		w.mu.Unlock()
		_, _ = io.WriteString(out, answer(bytes.Contains(body, []byte(agentModel))))
	}))
	t.Cleanup(server.Close)
	chat, err := openaimodels.New(openaimodels.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := anthropicmodels.New(anthropicmodels.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	s := memory.New(memory.Options{})
	w.world = worldOf(s, nil, func(e *engine.Options, o *summarize.Options) {
		o.Providers = map[string]summarize.Model{"openai": chat, "anthropic": messages}
		o.Live = map[conversation.Format]string{
			conversation.FormatOpenAIChat: "openai", conversation.FormatOpenAIResponses: "openai", conversation.FormatAnthropic: "anthropic",
		}
		o.Models = nil
		o.OnFailure = func(f *summarize.Failure) { w.tell(f.Error()) }
		e.OnError = func(err error) { w.tell(err.Error()) }
	})
	t.Cleanup(func() { w.close(); chat.Close(); messages.Close(); _ = s.Close() })
	w.allow(t, true)
	w.begin(t, true)
	return w
}

func (w *liveWorld) allow(t *testing.T, allowed bool) {
	t.Helper()
	if err := w.PutModelProfile(t.Context(), "default", conversation.ModelProfile{Model: agentModel, LivePrefix: &allowed}, engine.Request{}); err != nil {
		t.Fatal(err)
	}
}

func (w *liveWorld) begin(t *testing.T, wanted bool) {
	t.Helper()
	wait := 5 * time.Second
	_, err := w.Create(t.Context(), engine.CreateRequest{Key: w.key, Info: store.Info{Counter: conversation.DefaultCounter, Policy: conversation.Policy{
		Fit: conversation.FitPolicy{MaxContextTokens: new(int32(budget))}, MaxWait: &wait,
		Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize, LivePrefix: &wanted, PreparePercent: new(int32(100))},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	w.say(t, w.key, text(conversation.RoleUser, "Read the parts."))
}

// step appends and builds as the agent does.
func (w *liveWorld) step(t *testing.T, i int) *engine.BuildResult {
	t.Helper()
	w.say(t, w.key, grows(i)...)
	return w.ask(t)
}

func (w *liveWorld) ask(t *testing.T) *engine.BuildResult {
	t.Helper()
	got, err := w.Build(t.Context(), engine.BuildRequest{
		Key: w.key, Format: w.format, Model: agentModel, Fixed: w.fixed, Complete: engine.Completion{On: w.whole, PromptCache: w.whole},
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// untilSummary builds until a summary is made, and returns the build before it and the one with it.
func (w *liveWorld) untilSummary(t *testing.T) (before, with *engine.BuildResult) {
	t.Helper()
	for i := range 60 {
		with = w.step(t, i)
		if events(with, conversation.EventSummarized) > 0 {
			return before, with
		}
		before = with
	}
	t.Fatal("no summary is made")
	return nil, nil
}

// sent is the one request that was made of the agent's model.
func (w *liveWorld) sent(t *testing.T) (path string, members map[string]json.RawMessage) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.bodies) != 1 {
		t.Fatalf("%d requests", len(w.bodies))
	}
	if err := json.Unmarshal(w.bodies[0], &members); err != nil {
		t.Fatal(err)
	}
	return w.paths[0], members
}

func elements(t *testing.T, raw []byte) (out []json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%v in %.80s", err, raw)
	}
	return out
}

// unmarked takes the marks for the cache out: they are no part of what is cached.
func unmarked(raw []byte) []byte {
	return bytes.ReplaceAll(raw, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
}

// TestBuild_LivePrefix_BeginsWithTheBytesOfTheLastAnswer: the agent's own model is asked behind the messages of the last answer, byte for
// byte, with system prompt and tools as they were given; what it writes is the summary.
func TestBuild_LivePrefix_BeginsWithTheBytesOfTheLastAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format conversation.Format
		key    string // of the messages
		path   string
		system string // the member that holds it
		whole  bool
	}{
		"chat":             {conversation.FormatOpenAIChat, "messages", "/chat/completions", "messages", false},
		"chat, whole":      {conversation.FormatOpenAIChat, "messages", "/chat/completions", "messages", true},
		"responses":        {conversation.FormatOpenAIResponses, "input", "/responses", "instructions", false},
		"responses, whole": {conversation.FormatOpenAIResponses, "input", "/responses", "instructions", true},
		"anthropic":        {conversation.FormatAnthropic, "messages", "/v1/messages", "system", false},
		"anthropic, whole": {conversation.FormatAnthropic, "messages", "/v1/messages", "system", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := live(t, c.format, func(bool) string { return answers[c.format](summed("PRAGUE was read.")) })
			w.whole = c.whole
			before, with := w.untilSummary(t)
			path, members := w.sent(t)
			var model string
			if err := json.Unmarshal(members["model"], &model); err != nil || model != agentModel || path != c.path {
				t.Errorf("%s is asked at %s", members["model"], path)
			}
			if members["tool_choice"] != nil || !bytes.Contains(unmarked(w.bodies[0]), []byte(secretTools[1:len(secretTools)-2])) {
				t.Error("tools or tool_choice are not as they were given")
			}
			if !bytes.Contains(members[c.system], []byte(liveSystem)) {
				t.Errorf("%s lacks the system prompt", c.system)
			}
			held, got := before.MessagesJSON, unmarked(members[c.key])
			if c.format == conversation.FormatOpenAIChat && !c.whole { // the caller puts the prompt before them
				got = append([]byte("["), bytes.Join(rest(elements(t, got)), []byte(","))...)
			}
			held = bytes.TrimRight(held, "]}") // a merged message goes on
			if !bytes.HasPrefix(got, held) {
				t.Errorf("the request does not begin with the last answer:\n%.300s\n%.300s", held, got)
			}
			last := elements(t, members[c.key])
			if !bytes.Contains(last[len(last)-1], []byte("Call no tool.")) || !bytes.Contains(last[len(last)-1], []byte("stays_from")) {
				t.Errorf("the last message is no request: %.300s", last[len(last)-1])
			}
			if !strings.Contains(string(with.MessagesJSON), "PRAGUE was read.") {
				t.Error("the summary is not shown")
			}
			if c.format == conversation.FormatAnthropic && bytes.Count(w.bodies[0], []byte(`"cache_control"`)) == 0 {
				t.Error("nothing is marked for the cache")
			}
			if len(codes(with, "LIVE_PREFIX_UNUSED")) > 0 {
				t.Errorf("degraded: %+v", with.Degradations)
			}
			if c.format != conversation.FormatOpenAIChat && with.Compaction.OwnCalls.Tokens.CacheRead != 800 {
				t.Errorf("own calls: %+v", with.Compaction.OwnCalls)
			}
			w.reachable(t, w.key)
		})
	}
}

func rest(all []json.RawMessage) [][]byte {
	var out [][]byte
	for _, e := range all[1:] {
		out = append(out, e)
	}
	return append(out, []byte("]"))
}

func codes(r *engine.BuildResult, code string) (reasons []string) {
	for _, d := range r.Degradations {
		if d.Code == code {
			reasons = append(reasons, d.Reason)
		}
	}
	return reasons
}

// TestBuild_LivePrefix_NotPossible_SaysWhyAndSendsNothing: without a yes at both ends, or where the provider's cache does not hold the
// context, no system prompt and no context leaves, and the build says why.
func TestBuild_LivePrefix_NotPossible_SaysWhyAndSendsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*testing.T, *liveWorld)
		each   func(i int, w *liveWorld)
		why    string
	}{
		"the profile does not allow it":         {change: func(t *testing.T, w *liveWorld) { w.allow(t, false) }, why: "profile"},
		"a format without a client":             {change: func(_ *testing.T, w *liveWorld) { w.format = conversation.FormatGemini }, why: "reaches no provider"},
		"nothing is said of what stands before": {change: func(_ *testing.T, w *liveWorld) { w.fixed = engine.FixedInput{} }, why: "fixed_input does not say"},
		"only its weight is said":               {change: func(_ *testing.T, w *liveWorld) { w.fixed = engine.FixedInput{Tokens: new(int32(5))} }, why: "fixed_input does not say"},
		"tools of no request":                   {change: func(_ *testing.T, w *liveWorld) { w.fixed.ToolsJSON = `{"a":1}` }, why: "tools"},
		"other tools each time":                 {each: func(i int, w *liveWorld) { w.fixed.SystemPrompt += strings.Repeat("x", i) }, why: "cache does not hold"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := live(t, conversation.FormatAnthropic, func(bool) string { return answers[conversation.FormatAnthropic](summed("short")) })
			if c.change != nil {
				c.change(t, w)
			}
			for i := range 60 {
				if c.each != nil {
					c.each(i, w)
				}
				got := w.step(t, i)
				if events(got, conversation.EventSummarized) == 0 {
					continue
				}
				if reasons := codes(got, "LIVE_PREFIX_UNUSED"); len(reasons) != 1 || !strings.Contains(reasons[0], c.why) {
					t.Errorf("%+v", got.Degradations)
				}
				break
			}
			if w.mu.Lock(); len(w.bodies) > 0 {
				t.Errorf("%d requests", len(w.bodies))
			}
			w.mu.Unlock()
		})
	}
}

// TestBuild_LivePrefix_WordsTakenBackSince_AreNotSent: what the provider has cached holds words that were corrected since the last build.
func TestBuild_LivePrefix_WordsTakenBackSince_AreNotSent(t *testing.T) {
	t.Parallel()
	w := live(t, conversation.FormatOpenAIChat, func(bool) string { return string(reply(summed("short"))) })
	for i := range 60 {
		words := []engine.CorrectedPart{{Text: strings.Repeat("Read on. ", i+1)}}
		if _, err := w.Correct(t.Context(), engine.CorrectRequest{Key: w.key, Index: new(int32(0)), Parts: words}); err != nil {
			t.Fatal(err)
		}
		got := w.step(t, i)
		if events(got, conversation.EventSummarized) == 0 {
			continue
		}
		if reasons := codes(got, "LIVE_PREFIX_UNUSED"); len(reasons) != 1 || !strings.Contains(reasons[0], "changed") || len(w.bodies) > 0 {
			t.Errorf("%d requests, %+v", len(w.bodies), got.Degradations)
		}
		return
	}
	t.Error("no summary is made")
}

// TestBuild_LivePrefix_NotWanted_SendsNothing: what a profile allows nobody need want.
func TestBuild_LivePrefix_NotWanted_SendsNothing(t *testing.T) {
	t.Parallel()
	w := live(t, conversation.FormatOpenAIChat, func(bool) string { return string(reply(summed("short"))) })
	w.key.Conversation = "unwanted"
	w.begin(t, false)
	_, with := w.untilSummary(t)
	if len(w.bodies) > 0 || len(codes(with, "LIVE_PREFIX_UNUSED")) > 0 {
		t.Errorf("%d requests, %+v", len(w.bodies), with.Degradations)
	}
}

// TestBuild_LivePrefix_ToolCallAsAnswer_IsRefused: a model that goes on with its work has written no summary, whatever else it said.
func TestBuild_LivePrefix_ToolCallAsAnswer_IsRefused(t *testing.T) {
	t.Parallel()
	called := map[conversation.Format]string{
		conversation.FormatOpenAIChat:      `{"choices":[{"message":{"content":` + quoted(summed("FORGED")) + `,"tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
		conversation.FormatOpenAIResponses: `{"output":[{"type":"message","content":[{"type":"output_text","text":` + quoted(summed("FORGED")) + `}]},{"type":"function_call","name":"read","arguments":"{}"}]}`,
		conversation.FormatAnthropic:       `{"content":[{"type":"text","text":` + quoted(summed("FORGED")) + `},{"type":"tool_use","id":"1","name":"read","input":{}}],"stop_reason":"tool_use"}`,
	}
	for f, answer := range called {
		w := live(t, f, func(bool) string { return answer })
		_, with := w.untilSummary(t)
		refused := slices.ContainsFunc(with.Degradations, func(d engine.Degradation) bool { return strings.Contains(d.Reason, string(summarize.ToolCall)) })
		if !refused || strings.Contains(string(with.MessagesJSON), "FORGED") {
			t.Errorf("format %d: %+v", f, with.Degradations)
		}
	}
}

// TestBuild_LivePrefix_RefusedAnswer_TheModelsOfSpansAreAsked: they are given the span as data, and nothing of the system's.
func TestBuild_LivePrefix_RefusedAnswer_TheModelsOfSpansAreAsked(t *testing.T) {
	t.Parallel()
	w := live(t, conversation.FormatOpenAIChat, func(live bool) string {
		if live {
			return string(reply("no JSON"))
		}
		return string(reply(summed("PRAGUE of the span.")))
	})
	if _, err := w.PutPrompt(t.Context(), "default", conversation.Prompt{ID: "p", Template: "Shorten {{content}}", Models: []string{"openai/spans"}}, engine.Request{}); err != nil {
		t.Fatal(err)
	}
	w.key.Conversation, w.bodies = "spans", nil
	wanted, wait, prompt := true, 5*time.Second, "p"
	_, err := w.Create(t.Context(), engine.CreateRequest{Key: w.key, Info: store.Info{Counter: conversation.DefaultCounter, Policy: conversation.Policy{
		Fit: conversation.FitPolicy{MaxContextTokens: new(int32(budget))}, MaxWait: &wait,
		Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize, LivePrefix: &wanted, PromptID: &prompt, PreparePercent: new(int32(100))},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	_, with := w.untilSummary(t)
	if !strings.Contains(string(with.MessagesJSON), "PRAGUE of the span.") || len(w.bodies) != 2 {
		t.Fatalf("%d requests, %+v", len(w.bodies), with.Degradations)
	}
	if !bytes.Contains(w.bodies[0], []byte("Shorten ")) || !bytes.Contains(w.bodies[0], []byte(liveSystem)) {
		t.Error("the prompt of the policy, or the system prompt, is not in the live request")
	}
	if bytes.Contains(w.bodies[1], []byte("SECRET")) {
		t.Error("the models of spans were given what stands before the context")
	}
}

// TestBuild_LivePrefix_PreparedBehindAnAnswer: a draft is written behind the same bytes.
func TestBuild_LivePrefix_PreparedBehindAnAnswer(t *testing.T) {
	t.Parallel()
	w := live(t, conversation.FormatOpenAIChat, func(bool) string { return string(reply(summed("PRAGUE, prepared."))) })
	w.key.Conversation = "prepared"
	wanted, none := true, time.Duration(0)
	_, err := w.Create(t.Context(), engine.CreateRequest{Key: w.key, Info: store.Info{Counter: conversation.DefaultCounter, Policy: conversation.Policy{
		Fit: conversation.FitPolicy{MaxContextTokens: new(int32(budget))}, MaxWait: &none,
		Compaction: conversation.CompactionPolicy{Strategy: conversation.StrategySummarize, LivePrefix: &wanted},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	var before *engine.BuildResult
	for i := range 60 {
		got := w.step(t, i)
		if events(got, conversation.EventSummarized) > 0 {
			if !strings.Contains(string(got.MessagesJSON), "PRAGUE, prepared.") {
				t.Errorf("%+v", got.Degradations)
			}
			return
		}
		if got.Compaction.State == engine.CompactionPreparing && before != nil {
			eventually(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.bodies) == 1 })
			_, members := w.sent(t)
			sent := append([]byte("["), bytes.Join(rest(elements(t, members["messages"])), []byte(","))...)
			if !bytes.HasPrefix(sent, bytes.TrimRight(before.MessagesJSON, "]")) {
				t.Error("the draft's request does not begin with the last answer")
			}
			eventually(t, func() bool { return w.dry(t).Compaction.State == engine.CompactionReady })
		}
		before = got
	}
	t.Error("no summary is made")
}

func (w *liveWorld) dry(t *testing.T) *engine.BuildResult {
	t.Helper()
	got, err := w.Build(t.Context(), engine.BuildRequest{Key: w.key, Format: w.format, Model: agentModel, Fixed: w.fixed, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// eventually waits for what goes on behind an answer.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for range 1000 {
		if done() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it does not come")
}

func (w *liveWorld) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, text)
}

// TestBuild_LivePrefix_ProviderRepeatsWhatItWasSent_NothingIsTold: neither errors nor answers to the caller hold the system prompt, the
// tools, or words of the conversation.
func TestBuild_LivePrefix_ProviderRepeatsWhatItWasSent_NothingIsTold(t *testing.T) {
	t.Parallel()
	w := live(t, conversation.FormatOpenAIChat, func(bool) string {
		return `{"error":{"message":` + quoted(liveSystem+secretTools+"row of it") + `}}`
	})
	_, with := w.untilSummary(t)
	eventually(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.told) > 0 })
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range with.Degradations {
		w.told = append(w.told, d.Asked, d.Reason, d.Done)
	}
	for _, text := range w.told {
		if strings.Contains(text, "SECRET") || strings.Contains(text, "row of it") {
			t.Errorf("told: %.200s", text)
		}
	}
}
