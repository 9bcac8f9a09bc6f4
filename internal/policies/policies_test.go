package policies

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func write(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The page shows each policy as it ships: what differs from it by a letter is
// a policy that nobody measured.
func TestLoad_AllThatShip_LoadAndStandInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"balanced", "cite", "expiry", "none", "prune-40k", "sliding", "summarize", "thrifty"}
	if got := strings.Join(Names(), " "); got != strings.Join(want, " ") {
		t.Errorf("%s ship", got)
	}
	for _, name := range Names() {
		file, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		p := file.Conversation
		if p.GetPruning() == nil || p.GetCompaction().GetStrategy() == 0 {
			t.Errorf("%s: %v, %v: a policy that ships leaves neither pruning nor compaction to the server", name, err, p)
		}
		if text := Text(name); text == "" || !strings.Contains(string(page), "```yaml\n"+text+"```") {
			t.Errorf("docs/policies.md does not show %s", name)
		}
	}
	// What others are compared with is the same on a server that cites by itself.
	if p, err := Load(None); err != nil || p.Conversation.GetCitations() == nil || p.Conversation.GetCitations().GetEnabled() {
		t.Errorf("none leaves citations to the server: %v, %v", err, p)
	}
}

func TestLoad_Unknown_ListsTheKnown(t *testing.T) {
	_, err := Load("frugal")
	if err == nil || !strings.Contains(err.Error(), `"frugal"`) || !strings.Contains(err.Error(), "balanced, cite, expiry, none") {
		t.Error(err)
	}
	if Text("frugal") != "" {
		t.Error("a text for nothing")
	}
}

func TestLoad_File_IsReadUnlessItsNameShips(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("none", []byte("conversation: {max_wait: 1s}"), 0o600); err != nil {
		t.Fatal(err)
	}
	byName, err := Load("none")
	if err != nil || byName.Conversation.GetPruning().Enabled == nil || byName.Conversation.GetPruning().GetEnabled() {
		t.Errorf("%v, %v", byName, err)
	}
	byPath, err := Load("./none")
	if err != nil || byPath.Conversation.GetMaxWait().GetSeconds() != 1 || proto.Equal(byName.Conversation, byPath.Conversation) {
		t.Errorf("%v, %v", byPath, err)
	}
}

func TestLoad_WhatHasNoPlaceInAPolicy_IsRefused(t *testing.T) {
	for content, want := range map[string]string{
		"tools: {bash: {preserve_original_content: false}}":                        "asked for by name",
		"conversation: {expiration: {results: {source: explicit}}}":                "the sidecar says it",
		"conversation: {expiration: {results: {preserve_original_content: true}}}": "asked for by name",
	} {
		if _, err := Load(write(t, content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", content, err)
		}
	}
	if p, err := Load(write(t, "conversation: {ttl: 1h, fit: {context_window_tokens: 9}}")); err != nil || p.Conversation.GetTtl().GetSeconds() != 3600 {
		t.Errorf("%v, %v", p, err)
	}
}

func nothingRefused(string) string { return "" }

func TestRead_Lists_AreRead(t *testing.T) {
	file, err := Read(write(t, "conversation: {pruning: {protected_tools: {names: [read, skill]}, protected_tool_prefixes: {names: []}}}"), nothingRefused)
	if err != nil {
		t.Fatal(err)
	}
	want := &pb.PruningPolicy{ProtectedTools: &pb.NameList{Names: []string{"read", "skill"}}, ProtectedToolPrefixes: &pb.NameList{}}
	if got := file.Conversation.GetPruning(); !proto.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestRead_Tools_HaveTheirOwnSettings(t *testing.T) {
	file, err := Read(write(t, "tools: {bash: {turns: 2, importance: low, citations: {enabled: true}}, read: {importance: high}}"), nothingRefused)
	if err != nil || len(file.Tools) != 2 {
		t.Fatal(file, err)
	}
	bash, read := file.Tools[0], file.Tools[1]
	if bash.GetImportance() != pb.Importance_IMPORTANCE_LOW || bash.GetExpiration().GetTurns() != 2 || !bash.GetCitations().GetEnabled() {
		t.Errorf("%v", bash)
	}
	if read.GetImportance() != pb.Importance_IMPORTANCE_HIGH {
		t.Errorf("%v", read)
	}
}

func TestRead_Faults_AreRefusedByLine(t *testing.T) {
	for content, want := range map[string]string{
		"":                                     "says nothing",
		"- a":                                  "policy.yaml:1: must be keys and values",
		"conversations: {}":                    `policy.yaml:1: unknown key "conversations"`,
		"conversation:\n  fit:\n    target: 5": `policy.yaml:3: unknown key "target"`,
		"conversation: {expiration: {results: {mode: shrink}}}":      `the key "mode" must be one of none, remove, compact`,
		"conversation:\n  rewrite: {mode: unspecified}":              `policy.yaml:2: the key "mode" must be one of eager, coalesced`,
		"conversation: {max_wait: soon}":                             `the key "max_wait" must be a duration such as 30s`,
		"conversation: {max_wait: 1s, max_wait: 2s}":                 "max_wait",
		"conversation: {retention: {all_inputs: perhaps}}":           "must be true or false",
		"conversation: {fit: 7}":                                     "must be keys and values",
		"conversation: {pruning: {protected_tools: {names: bash}}}":  `the key "names" must be a list`,
		"conversation: {pruning: {protected_tools: {names: [[a]]}}}": `the key "names" must hold a plain value`,
		"tools:\n  bash:\n    turns: two":                            `policy.yaml:3: the key "turns" must be a whole number`,
		"tools: {bash: {turns: 99999999999}}":                        "must be a whole number",
		"tools: {bash: {compact_prompt_id: [a]}}":                    "must be a plain value",
		"tools: {bash: {turns: 1}, bash: {turns: 2}}":                "bash",
		"tools:\n  bash:\n    citations: {enabled: perhaps}":         `policy.yaml:3: the key "enabled" must be true or false`,
		"tools: {bash: {importance: great}}":                         `the key "importance" must be one of low, normal, high`,
		"conversation: {compaction: {strategy: shorten}}":            "one of summarize, hierarchical, sliding_window",
		"conversation: {": "policy.yaml: yaml:",
		"conversation: {pruning: {erase_after: 1}, compaction: {fan_out: x}}": `"fan_out"`,
	} {
		_, err := Read(write(t, content), nothingRefused)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
	_, err := Read(write(t, "conversation: {a: 1, b: 2}"), nothingRefused)
	if err == nil || !strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("not every fault is named: %v", err)
	}
	if _, err := Read("absent.yaml", nothingRefused); err == nil {
		t.Error("a file that is not there was read")
	}
}
