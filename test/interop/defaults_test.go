package interop

import (
	"strconv"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/terminal"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/prune"
)

// TestDocs_DefaultsOfTheWindow_AreThoseOfTheCode compares the tables of docs/window.md with what the code does.
func TestDocs_DefaultsOfTheWindow_AreThoseOfTheCode(t *testing.T) {
	page := read(t, "../../docs/window.md")
	percent := func(n int64) string { return strconv.FormatInt(n, 10) + " %" }
	tokens := func(n int64) string { return terminal.Number(n) + " tokens" }
	for setting, want := range map[string]string{
		"protect_tokens":          tokens(conversation.DefaultProtectTokens),
		"minimum_tokens":          tokens(conversation.DefaultMinimumTokens),
		"max_part_tokens":         tokens(conversation.DefaultMaxPartTokens),
		"protected_tools":         "`" + strings.Join(prune.DefaultTools(), "`, `") + "`",
		"protected_tool_prefixes": "`" + strings.Join(prune.DefaultPrefixes(), "`, `") + "`",
		"keep_recent":             strconv.Itoa(conversation.DefaultKeepRecent) + " messages",
		"tail_percent":            percent(conversation.DefaultTailPercent),
		"target_percent":          percent(conversation.DefaultCompactPercent),
		"prepare_percent":         percent(conversation.DefaultPreparePercent),
		"min_shrink_percent":      percent(conversation.DefaultMinShrinkPercent),
		"fan_out":                 strconv.Itoa(conversation.DefaultFanOut),
		"summary_tokens":          tokens(conversation.DefaultSummaryTokens),
		"list_tokens":             tokens(conversation.DefaultListTokens),
		"fit.target_percent":      percent(conversation.DefaultTargetPercent),
		"fit.max_result_percent":  percent(conversation.DefaultMaxResultPercent),
	} {
		if !strings.Contains(page, "\n| `"+setting+"` | "+want) {
			t.Errorf("docs/window.md does not say that %s is %s by default", setting, want)
		}
	}
}
