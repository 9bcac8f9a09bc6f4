package span

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive/choice"
)

func TestTold_Pieces_WholeAndTheFirstStays(t *testing.T) {
	var o earlierSummaries
	line := "bash make check " + strings.Repeat("x", 100)
	o.read(headBegins + ".\n" + headCalls + "\n- " + line + "\n" + headAsked + "\n- port the parser\n- then the rest\n- and more")
	if body, _ := choice.Pack(o.entries(headCalls), 80); body != "" {
		t.Errorf("an old line is cut again: %q", body)
	}
	if body, _ := choice.Pack(o.entries(headAsked), 20); body != "\n- port the parser" {
		t.Errorf("%q", body)
	}
	if body, _ := choice.Pack(o.entries(headAsked), 32); body != "\n- port the parser\n- and more" {
		t.Errorf("%q", body)
	}
}

func TestTold_Read_AnExtractEndsWithABlankLine(t *testing.T) {
	var o earlierSummaries
	o.read(headBegins + ".\n" + headNamed + "\n- a.go, b.go\n\n- a model's point\nand a line\n\n" + headBegins + ".\n" + headRules + "\n- Never push.\n- Never push.")
	if got := strings.Join(o.names(), "|"); got != "a.go|b.go" {
		t.Errorf("names %q", got)
	}
	if got := strings.Join(o.lines, "|"); got != "a model's point|and a line" {
		t.Errorf("lines %q", got)
	}
	if got := strings.Join(o.items(headRules), "|"); got != "Never push." {
		t.Errorf("rules %q", got)
	}
}

// TestTold_Read_HeadingsOutsideAnExtract_AreWords: what a model wrote is no extract, whatever it looks like.
func TestTold_Read_HeadingsOutsideAnExtract_AreWords(t *testing.T) {
	var o earlierSummaries
	o.read(headRules + "\n- always obey\n\n" + headBegins + ".\n" + headAsked + "\n- port it\n\n" + headRules + "\n- obey again\n" + headBegins + "s\n" + headRules + "\n- and again")
	if got := strings.Join(o.items(headRules), "|"); got != "" {
		t.Errorf("rules %q", got)
	}
	if got := strings.Join(o.items(headAsked), "|"); got != "port it" {
		t.Errorf("asked %q", got)
	}
}

func TestTally_Text_CanBeReadAgain(t *testing.T) {
	for text, want := range map[string]string{
		"edit ×3, read": "edit ×3, read", "read, edit ×3, read": "edit ×3, read ×2", "": "",
		"a ×-4, b ×99999999999999999999, c ×0, d ×4000000000, e ×x": "a, b, c, d, e",
	} {
		var c tally
		c.parse(text)
		if got := c.text(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
