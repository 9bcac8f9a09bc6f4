package facts_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/facts"
)

func TestWeightOf_WhoSpeaks_MakesARemark(t *testing.T) {
	for sentence, want := range map[string]facts.Weight{
		"Never push to main.": facts.StrictRule, "You MUST ask first": facts.StrictRule, "Make sure it builds": facts.StrictRule,
		"from now on use tabs": facts.StrictRule, "Under no circumstances delete the ledger.": facts.StrictRule, "Du darfst niemals löschen": facts.StrictRule,
		"N'effacez jamais": facts.StrictRule, "必须先运行测试": facts.StrictRule, "絶対に消さないで": facts.StrictRule, "никогда не удаляй": facts.StrictRule,
		"ห้ามลบข้อมูล": facts.StrictRule, "You shall not pass": facts.StrictRule,
		"Please don't edit vendor/": facts.Rule, "please don’t": facts.Rule, "Do not commit.": facts.Rule, "Use only tabs": facts.Rule,
		"We should not use it": facts.Rule, "Avoid the network.": facts.Rule, "We no longer use npm.": facts.Rule, "ต้องถามก่อน": facts.Rule,
		"i don't understand": facts.Remark, "I do not want that": facts.Remark, "we really don't know": facts.Remark, "they don't work": facts.Remark,
		"Fix the bug": facts.NoRule, "": facts.NoRule, "mustard and nevertheless": facts.NoRule, "现在运行测试": facts.NoRule,
		"the onlyfans of now": facts.NoRule, "No, that is fine": facts.NoRule,
	} {
		if got := facts.WeightOf(sentence); got != want {
			t.Errorf("%q: %v, want %v", sentence, got, want)
		}
		if facts.IsRule(sentence) != (want >= facts.Rule) {
			t.Errorf("%q: a rule is %v", sentence, !facts.IsRule(sentence))
		}
	}
}

func TestRules_AText_GivesItsSentences(t *testing.T) {
	got := facts.Rules("Port the parser. Avoid the\u202e network.\n- Under no circumstances delete data\nThanks! I do not mind.")
	if want := []string{"Avoid the network.", "- Under no circumstances delete data", "I do not mind."}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestCutRule_Long_KeepsItsWords(t *testing.T) {
	long := strings.Repeat("so it goes ", 30) + "you must never delete it " + strings.Repeat("so it goes ", 30)
	if got := facts.CutRule(long, 100); !strings.Contains(got, "must never delete") || utf8.RuneCountInString(got) > 100 {
		t.Errorf("%q", got)
	}
	if got := facts.CutRule("never", 100); got != "never" {
		t.Errorf("%q", got)
	}
}

// TestRules_AnyText_AreBoundedAndStillRules: what is recognized in a text is recognized again alone.
func TestRules_AnyText_AreBoundedAndStillRules(t *testing.T) {
	scraps := []string{"never", "you must", "avoid", "I don't", ". ", "\n", " ", "必须", "!", "\u202e", "\u200b", "x", strings.Repeat("word ", 90), "- ", "1. ", "\xff", "ห้าม"}
	proptest.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(scraps), 0, 40).Draw(t, "text"), " ")
		for _, rule := range facts.Rules(text) {
			if facts.WeightOf(rule) == facts.NoRule || utf8.RuneCountInString(rule) > facts.MaxRule || facts.OneLine(rule) != rule {
				t.Fatalf("%q of %q", rule, text)
			}
		}
	})
}
