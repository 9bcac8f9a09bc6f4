package dialects

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/validate"
)

// formats are those of files, with a model that a conversation is handed over to.
var formats = map[string]struct {
	number pb.ContextFormat
	judge  validate.Format
	model  string
}{
	"openai-chat":      {pb.ContextFormat_CONTEXT_FORMAT_OPENAI_CHAT, validate.OpenAIChat, "gpt-5.1"},
	"openai-responses": {pb.ContextFormat_CONTEXT_FORMAT_OPENAI_RESPONSES, validate.OpenAIResponses, "gpt-5.1"},
	"anthropic":        {pb.ContextFormat_CONTEXT_FORMAT_ANTHROPIC, validate.Anthropic, "claude-sonnet-4-6"},
	"gemini":           {pb.ContextFormat_CONTEXT_FORMAT_GEMINI, validate.Gemini, "gemini-3-pro-preview"},
	"neutral":          {pb.ContextFormat_CONTEXT_FORMAT_NEUTRAL, validate.Neutral, ""},
}

// source says where a file's JSON is from: the page that documents it and the day it was read, and the SDK whose types it was made with.
type source struct {
	Document string `json:"document"`
	Read     string `json:"read"`
	SDK      string `json:"sdk"`
	Version  string `json:"version"`
}

func (s *source) complete() bool {
	return strings.HasPrefix(s.Document, "https://") && s.Read != "" && s.SDK != "" && s.Version != ""
}

// step is what a caller appends: a message as it is sent, or a whole answer as the SDK dumps it.
type step struct {
	Message  json.RawMessage `json:"message"`
	Response json.RawMessage `json:"response"`
}

// fixture is a conversation with one provider.
type fixture struct {
	Source source            `json:"source"`
	Format string            `json:"format"`
	Model  string            `json:"model"`
	Steps  []step            `json:"steps"`
	Sent   []json.RawMessage `json:"sent"` // by whoever keeps the history by hand, as the page says
	// System is Gemini's systemInstruction and Anthropic's system, where a message leads to one.
	System json.RawMessage `json:"system"`
}

// folder lists the sequences of testdata by their path in it, without the extension.
func sequences(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(f), "testdata/"), ".json")
		if !strings.HasPrefix(name, "shapes/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func read[T any](t *testing.T, file string) *T {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := json.Unmarshal(content, out); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return out
}
