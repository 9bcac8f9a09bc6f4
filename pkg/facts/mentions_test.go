package facts_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

func TestEachMention_AText_GivesWhatAMachineWouldName(t *testing.T) {
	var got []string
	facts.EachMention("See src/app/main.go of order-7781x at https://example.com/a: 4500 ms.\nValueError: no such key", func(kind conversation.FactKind, text string) {
		got = append(got, fmt.Sprint(kind, " ", text))
	})
	want := []string{
		fmt.Sprint(conversation.FactPath, " src/app/main.go"), fmt.Sprint(conversation.FactID, " order-7781x"), fmt.Sprint(conversation.FactURL, " https://example.com/a"),
		fmt.Sprint(conversation.FactNumber, " 4500 ms"), fmt.Sprint(conversation.FactError, " ValueError: no such key"),
	}
	for _, fact := range want {
		if !slices.Contains(got, fact) {
			t.Errorf("%q lacks %q", got, fact)
		}
	}
}

func TestLineSeverity_Words_TellErrorsFromWhatDeniesThem(t *testing.T) {
	for line, want := range map[string]facts.Severity{
		"ValueError: no such key": facts.Grave, "the request failed": facts.Failing, "warning: deprecated": facts.Warning, "all is well": facts.Ordinary,
		"0 errors": facts.Ordinary, "errors: 0": facts.Ordinary, "error=null": facts.Ordinary, "on_error": facts.Ordinary, "file not found": facts.Failing,
		"test_raises_error PASSED": facts.Ordinary,
	} {
		if got := facts.LineSeverity(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestEachReference_AText_GivesNamesAndLongNumbers(t *testing.T) {
	var got []string
	facts.EachReference("Call parse_config in app.core (v2), 2024 or 12, not %s; fooBar.", func(name string) { got = append(got, name) })
	if want := []string{"parse_config", "app.core", "2024", "fooBar"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
