package main

import (
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/config"
	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/observation"
	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/summarize"
)

func TestNewSummaries_AsksTheConfiguredModelsWithTheirKeys(t *testing.T) {
	const key = "sk-of-the-operator"
	openai := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("User-Agent") != "palimpsest/"+version {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, "wrong: "+key)
	}))
	defer openai.Close()
	anthropic := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != key {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		_, _ = io.WriteString(w, `{"content":[{"type":"text","text":"{\"summary\":\"short\"}"}]}`)
	}))
	defer anthropic.Close()

	t.Setenv("PALIMPSEST_OPENAI_KEY", key)
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	core, logged := observer.New(zapcore.DebugLevel)
	s := config.Private(t.TempDir())
	s.SummaryFlags = config.SummaryFlags{
		OpenAIURL: openai.URL + "/v1", AnthropicURL: anthropic.URL, AnthropicKeyFile: file, SummaryModels: []string{"openai/a", "anthropic/b"},
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	made, err := newSummaries(s, caches{}, &observation.Observation{}, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	defer made.close()
	if got := ask(t, made.service, "first", nil); got.Text != "short" || got.Model != "anthropic/b" {
		t.Errorf("%+v", got)
	}
	ask(t, made.service, "second", []string{"openai/a"})
	made.close()
	lines := logged.All()
	if len(lines) != 2 || lines[0].ContextMap()["reason"] != "status" || lines[0].ContextMap()["http_status"] != int64(401) {
		t.Fatalf("%+v", lines)
	}
	if len(lines[0].ContextMap()) != 2 || lines[1].Level != zapcore.DebugLevel || lines[1].ContextMap()["models"] != `"openai/a": status (HTTP 401)` {
		t.Errorf("models are named elsewhere than at debug: %+v", lines)
	}
}

func ask(t *testing.T, d *summarize.Service, name string, models []string) summarize.Result {
	t.Helper()
	content := name + strings.Repeat(" content", 100)
	r := &summarize.Request{
		Content: content, Hash: sha256.Sum256([]byte(content)), Chars: len(content), Target: 100, Prompt: conversation.Prompt{Models: models},
	}
	d.Start(r)
	d.Wait(t.Context(), []*summarize.Request{r})
	got, _ := d.Result(r)
	return got
}

func TestNewSummaries_WithoutProviders_MakesExtracts(t *testing.T) {
	made, err := newSummaries(config.Private(""), caches{}, &observation.Observation{}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	defer made.close()
	text := strings.Repeat("Nothing happened. ", 50) + "ERROR: disk sda1 is full\n"
	if got := made.service.Extract(text, 100); !strings.Contains(got, "sda1") {
		t.Errorf("%q", got)
	}
	rule := conversation.Message{Role: conversation.RoleUser, Parts: []conversation.Part{
		{Kind: conversation.PartText, Text: conversation.Content{Inline: "You must never push to main."}},
	}}
	span := []conversation.Unit{{Items: []conversation.Item{{Message: &rule, Parts: rule.Parts}}}}
	if got := made.service.ExtractSpan(nil, span, 400); !strings.Contains(got, "Rules of the user:") || !strings.Contains(got, "never push") {
		t.Errorf("%q", got)
	}
	if got := ask(t, made.service, "first", nil); summarize.ReasonOf(got.Err) != summarize.NoModel {
		t.Errorf("%+v", got)
	}
}

// TestProgram_Run_AModelsSummaryReachesTheView: the flags that switch it on, a model, and what the agent's model sees then.
func TestProgram_Run_AModelsSummaryReachesTheView(t *testing.T) {
	const said = "service-7 restarted three times; the disk sda1 is full"
	var calls atomic.Int64
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"{\"summary\":\"`+said+`\"}"}}]}`)
	}))
	defer provider.Close()
	s, turns := config.Private(t.TempDir()), int32(1)
	s.Store, s.OpenAIURL, s.SummaryModels = config.StoreMemory, provider.URL, []string{"openai/a"}
	s.DefaultExpireTurns, s.DefaultExpireMode, s.DefaultCompactMode, s.DefaultRewrite = &turns, "compact", "summary", "eager"
	ctx, stop := context.WithCancel(t.Context())
	conn, ended := launch(ctx, t, s)
	client := pb.NewContextServiceClient(conn)

	result := strings.Repeat("The watchdog saw nothing that was worth a line of its own. ", 100)
	add(t, client, pb.Role_ROLE_USER, &pb.Part{Content: &pb.Part_Text{Text: "What happened?"}})
	add(t, client, pb.Role_ROLE_ASSISTANT, &pb.Part{Content: &pb.Part_ToolCall{ToolCall: &pb.ToolCall{CallId: "1", Name: "log"}}})
	add(t, client, pb.Role_ROLE_TOOL, &pb.Part{Content: &pb.Part_ToolResult{
		ToolResult: &pb.ToolResult{CallId: "1", Output: &pb.ToolResult_Text{Text: result}},
	}})
	var shown string
	for range 6 {
		built, err := client.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: "c"})
		if err != nil {
			t.Fatal(err)
		}
		shown = built.String()
		add(t, client, pb.Role_ROLE_ASSISTANT, &pb.Part{Content: &pb.Part_Text{Text: "I am still thinking."}})
	}
	if !strings.Contains(shown, "[Summary of 5900 characters.") || !strings.Contains(shown, said) || strings.Contains(shown, "watchdog") {
		t.Errorf("the model sees: %.2000s", shown)
	}
	if calls.Load() != 1 {
		t.Errorf("%d calls", calls.Load())
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestProgram_Run_WhatIsPreparedEndsBeforeTheStore: a model is writing a summary when the sidecar is stopped.
func TestProgram_Run_WhatIsPreparedEndsBeforeTheStore(t *testing.T) {
	called, window := make(chan struct{}, 9), int32(2000)
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices that the caller is gone once it has read all
		called <- struct{}{}
		<-r.Context().Done()
	}))
	defer provider.Close()
	s := config.Private(t.TempDir())
	s.OpenAIURL, s.SummaryModels, s.DefaultMaxContext = provider.URL, []string{"openai/a"}, &window
	core, logged := observer.New(zapcore.WarnLevel)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	conn, ended := launchLogged(ctx, t, s, zap.New(core))
	client := pb.NewContextServiceClient(conn)
	var status *pb.CompactionStatus
	for status.GetUsedPercent() < 80 {
		add(t, client, pb.Role_ROLE_USER, &pb.Part{Content: &pb.Part_Text{Text: strings.Repeat("We go on. ", 30)}})
		add(t, client, pb.Role_ROLE_ASSISTANT, &pb.Part{Content: &pb.Part_Text{Text: strings.Repeat("So we do. ", 30)}})
		built, err := client.BuildContext(ctx, &pb.BuildContextRequest{ConversationId: "c", Format: pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC})
		if err != nil {
			t.Fatal(err)
		}
		status = built.GetCompaction()
	}
	if status.GetState() != pb.CompactionState_COMPACTION_STATE_PREPARING {
		t.Fatalf("%v", status)
	}
	<-called
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	time.Sleep(50 * time.Millisecond) // what still ran would find the store closed by now
	for _, line := range logged.All() {
		t.Errorf("%s %v", line.Message, line.ContextMap())
	}
}

func add(t *testing.T, client pb.ContextServiceClient, role pb.Role, part *pb.Part) {
	t.Helper()
	_, err := client.AppendMessage(t.Context(), &pb.AppendMessageRequest{
		ConversationId: "c", Message: &pb.Message{Role: role, Parts: []*pb.Part{part}},
	})
	if err != nil {
		t.Fatal(err)
	}
}
