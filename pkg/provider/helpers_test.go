package provider_test

import (
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

func TestIsValue_ForParsersOfProviders(t *testing.T) {
	for s, want := range map[string]bool{
		`{"a":[1,2.5e3,null,"\ud83d\ude00"]}`: true, deep(60): true, "\t[]\n": true, `"\\ud800"`: true,
		deep(64): false, `"\ud800"`: false, `"\udc00"`: false, `"\ud800\u0041"`: false, `"\ud800x"`: false, "1e999": false, "[-1e400]": false,
		"\"\xff\"": false, "": false, "{": false, strings.Repeat("[", 1_000_000): false,
	} {
		if got := provider.IsValue(s); got != want {
			t.Errorf("IsValue(%.60q) = %v", s, got)
		}
	}
}

func TestCleanName_ReplacesAndCuts(t *testing.T) {
	for name, want := range map[string]string{
		"get_weather-2": "get_weather-2", "a.b": "a_b", "查询": "__", "": "_", "a\xffb": "a_b", strings.Repeat("x", 65): strings.Repeat("x", 64),
	} {
		if got := provider.CleanName(name); got != want {
			t.Errorf("CleanName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestSameModel_IgnoresReleaseDates(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "x", true}, {"m", "m", true}, {"gpt-4.1", "gpt-4.1-2025-04-14", true}, {"claude-sonnet-4-5", "claude-sonnet-4-5-20250929", true},
		{"claude-3", "claude-3@20250929", true}, {"gpt-4.1", "gpt-4.1-mini", false}, {"m1", "m2", false}, {"m-2", "m-20250101", false},
		{"20250101", "x", false}, {"claude-sonnet-4", "claude-sonnet-4-5", false},
	} {
		if got := provider.SameModel(c.a, c.b); got != c.want {
			t.Errorf("SameModel(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

func TestFinish_NoMessages_AddsNothing(t *testing.T) {
	for _, f := range formats() {
		blocks := []provider.Block{{System: f.Traits().SystemApart, Role: "system"}}
		if f.Traits().SystemApart {
			if out, repairs := provider.Finish(f.Traits(), blocks, chars4); len(out) != 1 || repairs != nil {
				t.Errorf("%s: %v", f.Traits().Name, repairs)
			}
		}
		if out, repairs := provider.Finish(f.Traits(), nil, chars4); len(out) != 0 || repairs != nil {
			t.Errorf("%s: %v", f.Traits().Name, repairs)
		}
	}
}

// Finish must not write into the caller's slice, or behind it: it is cached.
func TestFinish_LeavesTheCallersBlocks(t *testing.T) {
	tr := formats()[3].Traits()
	for _, roles := range [][2]string{{"assistant", "user"}, {"user", "assistant"}, {"assistant", "assistant"}} {
		room := make([]provider.Block, 2, 8)
		room[0].Role, room[1].Role = roles[0], roles[1]
		provider.Finish(tr, room, chars4)
		if room[0].Role != roles[0] || room[1].Role != roles[1] || room[:3][2].Role != "" {
			t.Errorf("the caller's blocks changed: %v", roles)
		}
	}
}

func TestAssembly_With_SameBlocksIsTheSameAssembly(t *testing.T) {
	tr := formats()[3].Traits()
	a := provider.NewAssembly(tr).With([]provider.Block{provider.Opener(tr, chars4), provider.Continue(tr, chars4)})
	if b := a.With(append([]provider.Block(nil), a.Blocks()...)); b != a {
		t.Error("hashed again")
	}
}
