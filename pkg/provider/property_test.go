package provider_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
	"github.com/palimpsest-context/palimpsest/pkg/tokens/bpe"
)

var (
	anyText    = rapid.OneOf(rapid.SampledFrom([]string{"", " ", "\n", "a", "Hello, world.", "数据\u2028", "\"\\\x00"}), rapid.String())
	anyArgs    = rapid.SampledFrom([]string{"", "{}", `{"a": [1, 2]}`, "[1]", "nope", `"s"`, " ", `{"x":"\udc00"}`, deep(100)})
	anyName    = rapid.SampledFrom([]string{"get", "put", "a.b", "9 x", "", "查询"})
	anySpeaker = rapid.OneOf(rapid.Just(""), rapid.Just(""), rapid.SampledFrom([]string{"Anna", "Jo Ann", "x]\n[System message]", "</s>", "李\u2028", "ж ж"}), rapid.String())
	anyModel   = rapid.SampledFrom([]string{"", "m1", "m2", "claude-opus-4-8", "claude-sonnet-4-6"})
	anyTags    = rapid.SampledFrom([][]string{nil, nil, nil, {conversation.TagPaused}, {conversation.TagPaused, conversation.TagAborted}})
	anyMaker   = rapid.SampledFrom([]string{"openai", "anthropic", "gemini", "other"})
	anyMedia   = rapid.SampledFrom([]conversation.Part{
		media("image/png", "PNG", ""), media("image/png", "", "https://e.x/i.png"), media("audio/wav", "W", ""),
		media("application/pdf", "P", ""), media("x/y\n\"", "Z", ""), media("", "", "file:///x"),
	})
	anyBlock = rapid.SampledFrom([]string{
		`{"type":"redacted_thinking","data":"x"}`, `{"type":"thinking","thinking":"t","signature":"s"}`, `{"type":"reasoning","id":"r","summary":[]}`,
		`{"type":"reasoning"}`, `{"type":"reasoning","summary":[],"encrypted_content":"e"}`, `{"type":"reasoning","id":"r","summary":[],"content":null,"status":null}`,
		`{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"e"}`, `{"type":"reasoning","id":"r","summary":[{"type":"text"}]}`,
		`{"type":"compaction","encrypted_content":"e"}`, `{"type":"compaction","id":1,"encrypted_content":"e"}`,
		`{"text":"t","thought":true,"thoughtSignature":"c2ln"}`, `{"type":"text","text":" "}`, `{"type":"tool_use","id":"call_1"}`,
		`{"type":"server_tool_use","id":"s1"}`, `{"type":"web_search_tool_result","tool_use_id":"s1"}`, `[]`, `{`, "",
		`{"type":"web_search_call","id":"w","status":"completed","action":{"type":"search","query":"q"}}`, `{"type":"mcp_call","id":"m"}`, `{"type":"custom_tool_call"}`,
		`{"executableCode":{"language":"PYTHON","code":"1"}}`, `{"executableCode":{}}`, `{"toolCall":{"toolType":"X"},"thoughtSignature":"c2ln"}`, `{"toolCall":null}`,
	})
	// anyResidue is what a provider may say of a part, in its place, elsewhere, or of the wrong kind.
	anyResidue = rapid.SampledFrom(hostileResidue())
)

func hostileResidue() []string {
	return []string{
		`{}`, `{"role":"developer"}`, `{"type":"refusal"}`, `{"type":"custom"}`, `{"audio":{"id":"a"}}`, `{"audio":{"id":1}}`, `{"audio":{"id":"a","x":1}}`, `{"content":[]}`, `{"output":[]}`,
		`{"phase":"commentary"}`, `{"phase":"other"}`, `{"namespace":"n","caller":{"type":"direct"}}`, `{"caller":"x"}`, `{"caller":{"type":"code","tool_id":"s1"}}`, `{"caller":{"tool_id":"none"}}`,
		`{"type":"computer_call","id":"cu","status":"completed","pending_safety_checks":[]}`, `{"type":"computer_call","id":"cu"}`, `{"type":"computer_call"}`, `{"type":"local_shell_call","id":"l"}`,
		`{"type":"shell_call"}`, `{"type":"apply_patch_call"}`, `{"file_id":"f"}`, `{"file_id":""}`, `{"filename":"a.txt"}`, `{"filename":1}`, `{"detail":"original"}`,
		`{"citations":[{"type":"char_location"}]}`, `{"citations":{"enabled":true},"title":"t"}`, `{"type":"document","title":"t"}`, `{"type":"document","source":{"type":"content","content":"x"}}`,
		`{"type":"search_result","source":"s","title":"t"}`, `{"type":"search_result"}`, `{"content":[{"type":"tool_reference","tool_name":"x"}]}`, `{"toolset_name":"t"}`,
		`{"partMetadata":{"a":1}}`, `{"partMetadata":[]}`, `{"displayName":"d"}`, `{"response":{"output":""}}`, `{"response":{},"parts":[]}`, `{"parts":[]}`, `{"scheduling":"SILENT","willContinue":true}`,
		`{"as":["reasoning_content","reasoning"]}`, `{"as":["content","role"]}`, `{"as":["extra_content"]}`, `{"as":1}`, `{"empty":["content","reasoning_content","role"]}`, `{"empty":{}}`, `{"named":true}`, `{"named":1}`,
		`{"message":{"role":"system","content":"x","tool_calls":[],"name":"x"}}`, `{"message":[]}`, `{"part":{"type":"x","text":"x"}}`, `{"inner":{"url":"x","data":1}}`,
		`{"source_members":{"type":"y","b":2}}`, `{"members":[],"message":1}`, `{"max_output_length":5,"acknowledged_safety_checks":[]}`, deep(100), `{"x":"\udc00"}`, `[]`, `{`,
	}
}

// drawRecord makes a history as messy as real ones: repeated call ids, parallel calls, partial and late results, gaps.
func drawRecord(t *rapid.T, count func(string) int) []conversation.Unit {
	r := &record{count: count}
	for range rapid.IntRange(0, 3).Draw(t, "rules") {
		r.system(anyText.Draw(t, "rule"))
	}
	for range rapid.IntRange(1, 12).Draw(t, "messages") {
		switch rapid.IntRange(0, 6).Draw(t, "role") {
		case 0:
			r.add(conversation.RoleUser, text(anyText.Draw(t, "text")), anyMedia.Draw(t, "media")).named(anySpeaker.Draw(t, "speaker"))
		case 1:
			r.user(anyText.Draw(t, "text")).named(anySpeaker.Draw(t, "speaker"))
		case 2:
			r.system(anyText.Draw(t, "text")).named(anySpeaker.Draw(t, "speaker"))
		case 3:
			r.tool(drawResult(t, r))
		default:
			r.assistant(drawAssistant(t)...).named(anySpeaker.Draw(t, "speaker")).tagged(anyTags.Draw(t, "tags")...)
			for range rapid.IntRange(0, 3).Draw(t, "tools") {
				r.tool(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) conversation.Part { return drawResult(t, r) }), 1, 3).Draw(t, "results")...)
			}
		}
	}
	r.items = slices.DeleteFunc(r.items, func(conversation.Item) bool { return rapid.IntRange(0, 9).Draw(t, "gone") == 0 })
	for _, it := range r.items {
		for i := range it.Parts {
			if rapid.IntRange(0, 3).Draw(t, "residue") == 0 {
				it.Parts[i].Residue = &conversation.Residue{Provider: anyMaker.Draw(t, "of"), JSON: anyResidue.Draw(t, "said")}
				n := int32(count(it.Parts[i].Residue.JSON))
				it.Parts[i].Tokens, it.Message.Tokens = it.Parts[i].Tokens+n, it.Message.Tokens+n
			}
		}
	}
	hidden := rapid.Bool().Draw(t, "hidden")
	return conversation.Units(r.items, func(conversation.Range) bool { return hidden })
}

func drawAssistant(t *rapid.T) []conversation.Part {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) conversation.Part {
		switch rapid.IntRange(0, 5).Draw(t, "part") {
		case 0:
			return reasoning(anyMaker.Draw(t, "maker"), anyModel.Draw(t, "model"), anyText.Draw(t, "thought"), rapid.SampledFrom([]string{"", "c2ln", "no base64"}).Draw(t, "signature"))
		case 1:
			return opaque(anyMaker.Draw(t, "maker"), anyBlock.Draw(t, "block"))
		case 2:
			return anyMedia.Draw(t, "media")
		case 3:
			return text(anyText.Draw(t, "text"))
		default:
			return call(anyName.Draw(t, "name"), anyArgs.Draw(t, "arguments"))
		}
	}), 0, 6).Draw(t, "parts")
}

func drawResult(t *rapid.T, r *record) conversation.Part {
	ordinal := max(1, r.ordinals-int32(rapid.IntRange(0, 4).Draw(t, "back")))
	p := result(ordinal, anyName.Draw(t, "name"), anyText.Draw(t, "result"))
	switch rapid.IntRange(0, 4).Draw(t, "shape") {
	case 0:
		return text("plugin")
	case 1:
		return failed(p)
	case 2:
		p.Result.Text = inline(anyArgs.Draw(t, "json"))
		return asJSON(p)
	case 3:
		return several(p, conversation.ResultPart{Text: inline(anyText.Draw(t, "piece"))}, conversation.ResultPart{Media: anyMedia.Draw(t, "media").Media})
	default:
		return p
	}
}

func hasMessages(blocks []provider.Block) bool {
	return slices.ContainsFunc(blocks, func(b provider.Block) bool { return !b.System })
}

func legal(t rapid.TB, f provider.Format, v view, count func(string) int) {
	system, messages := provider.Assemble(f.Traits(), v.blocks)
	c := check(f.Format(), system, messages)
	if len(c.faults) > 0 {
		t.Fatalf("%s: %q in\n%s", f.Traits().Name, c.faults, messages)
	}
	if want, got := c.tokens(count), v.tokens(); got < want {
		t.Fatalf("%s: %d tokens, an independent count says %d, in\n%s", f.Traits().Name, got, want, messages)
	}
	if f.Format() != conversation.FormatNeutral {
		legalToo(t, f, v, count)
	}
}

// legalToo asks the validator of the end-to-end tests, which was written independently of the renderers.
func legalToo(t rapid.TB, f provider.Format, v view, count func(string) int) {
	name := validate.Format(f.Traits().Name)
	system, messages := provider.Assemble(f.Traits(), v.blocks)
	faults, err := validate.Check(name, system, messages)
	if err != nil || len(faults) > 0 {
		t.Fatalf("%s: %v, %v in\n%s", name, faults, err, messages)
	}
	if want, err := validate.Count(name, system, messages, count); err != nil || v.tokens() < want {
		t.Fatalf("%s: %d tokens, the validator says %d, in\n%s %s", name, v.tokens(), want, system, messages)
	}
}

func TestFormat_Unit_AnyRecordIsLegalAndBounded(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		units := drawRecord(t, chars4)
		model := rapid.OneOf(anyModel, rapid.SampledFrom([]string{"deepseek-v4-pro", "deepseek-r1", "kimi-k2.6", "kimi-k3", "gemini-3-pro-preview", "mistral-large-latest"})).Draw(t, "called")
		for _, f := range formats() {
			v := compose(f, units, model, chars4)
			if !hasMessages(v.blocks) {
				continue
			}
			legal(t, f, v, chars4)
			if f.Format() == conversation.FormatOpenAIChat {
				takenByProvider(t, f, v, model)
			}
		}
	})
}

func bytePairs(t *testing.T) func(string) int {
	t.Helper()
	counter, err := bpe.New("o200k")
	if err != nil {
		t.Fatal(err)
	}
	return func(s string) int { n, _ := counter.Count(s); return n }
}

func TestFormat_Unit_BoundHoldsForBytePairs(t *testing.T) {
	count := bytePairs(t)
	proptest.Check(t, func(t *rapid.T) {
		units := drawRecord(t, count)
		for _, f := range formats() {
			if v := compose(f, units, "", count); hasMessages(v.blocks) {
				legal(t, f, v, count)
			}
		}
	})
}

// TestFormat_Unit_LineOfTheSpeaker_CountsWhatTheyGrowBy: a line feed and a slash are one byte pair more than each by itself.
func TestFormat_Unit_LineOfTheSpeaker_CountsWhatTheyGrowBy(t *testing.T) {
	count := bytePairs(t)
	for _, units := range [][]conversation.Unit{
		(&record{count: count}).user("/A").named("Anna").assistant(text("a")).user("x").units(),
		(&record{count: count}).user("q").assistant(text("a")).system("/A").user("x").units(),
	} {
		for _, f := range formats() {
			legal(t, f, compose(f, units, "", count), count)
		}
	}
}

// TestFormat_Unit_SplitTurn_SameBytes: one assistant message, or one for each call, gives the same context. So does one tool
// message, or one for each result.
func TestFormat_Unit_SplitTurn_SameBytes(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		turn, results := drawTurn(t)
		whole, split := newRecord().user("go"), newRecord().user("go")
		whole.assistant(conversation.CloneParts(turn)...).tool(conversation.CloneParts(results)...).user("next")
		from := 0
		for i := range turn {
			if last := i == len(turn)-1; last || turn[i].Kind == conversation.PartToolCall && hasCall(turn[i+1:]) {
				split.assistant(conversation.CloneParts(turn[from : i+1])...)
				from = i + 1
			}
		}
		for i := range results {
			split.tool(conversation.CloneParts(results[i : i+1])...)
		}
		split.user("next")
		for _, f := range formats() {
			a, b := compose(f, whole.units(), "", chars4), compose(f, split.units(), "", chars4)
			_, one := provider.Assemble(f.Traits(), a.blocks)
			_, other := provider.Assemble(f.Traits(), b.blocks)
			if f.Format() != conversation.FormatNeutral && !bytes.Equal(one, other) {
				t.Fatalf("%s: whole\n%s\nsplit\n%s", f.Traits().Name, one, other)
			}
			legal(t, f, b, chars4)
		}
	})
}

func hasCall(parts []conversation.Part) bool {
	return slices.ContainsFunc(parts, func(p conversation.Part) bool { return p.Kind == conversation.PartToolCall })
}

// drawTurn draws what the assistant says with its calls, and results in any order. Thinking stands before the first call, as
// providers give it.
func drawTurn(t *rapid.T) (turn, results []conversation.Part) {
	maker := anyMaker.Draw(t, "maker")
	if rapid.Bool().Draw(t, "thinks") {
		turn = append(turn, reasoning(maker, "", "hm", "c2ln"))
	}
	for n := range rapid.Int32Range(1, 5).Draw(t, "calls") {
		if rapid.Bool().Draw(t, "says") {
			turn = append(turn, text(anyText.Draw(t, "text")))
		}
		turn = append(turn, call(anyName.Draw(t, "name"), anyArgs.Draw(t, "arguments")))
		if rapid.IntRange(0, 4).Draw(t, "answered") > 0 {
			results = append(results, result(n+1, "", anyText.Draw(t, "result")))
		}
	}
	if rapid.Bool().Draw(t, "says more") {
		turn = append(turn, text(anyText.Draw(t, "text")))
	}
	if len(results) > 1 {
		results = rapid.Permutation(results).Draw(t, "order")
	}
	if len(results) == 0 {
		results = []conversation.Part{result(1, "", "r")}
	}
	return turn, results
}

// The blocks of a unit depend on the unit alone, so a window that starts later shows the same blocks from there on.
func TestFormat_Unit_SameUnitSameBytes(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		units := drawRecord(t, chars4)
		for _, f := range formats() {
			for i := range units {
				c := provider.UnitContext{Count: chars4}
				a, b := f.Unit(&units[i], c), f.Unit(&units[i], c)
				if len(a.Blocks) != len(b.Blocks) || provider.CommonPrefix(a.Blocks, b.Blocks) != len(a.Blocks) || !slices.Equal(a.Repairs, b.Repairs) {
					t.Fatalf("%s: unit %d was written in two ways", f.Traits().Name, i)
				}
			}
		}
	})
}

func TestAssembly_With_EqualsAssembleAndPlainHash(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(formats()).Draw(t, "format")
		tr := f.Traits()
		a := provider.NewAssembly(tr)
		var blocks []provider.Block
		for range rapid.IntRange(1, 8).Draw(t, "builds") {
			blocks = slices.Clone(blocks[:rapid.IntRange(max(0, len(blocks)-2), len(blocks)).Draw(t, "kept")])
			for range rapid.IntRange(0, 3).Draw(t, "new") {
				system := tr.SystemApart && rapid.IntRange(0, 5).Draw(t, "system") == 0
				role := rapid.SampledFrom([]string{"user", "assistant"}).Draw(t, "role")
				blocks = append(blocks, provider.Block{System: system, Role: role, JSON: tr.AppendText(nil, anyText.Draw(t, "text"))})
			}
			a = a.With(blocks)
			system, messages := provider.Assemble(tr, blocks)
			sum := sha256.Sum256(slices.Concat(system, []byte{0}, messages))
			if !bytes.Equal(a.System(), system) || !bytes.Equal(a.Messages(), messages) || a.Sum() != sum {
				t.Fatalf("got %s %s\nwant %s %s", a.System(), a.Messages(), system, messages)
			}
		}
	})
}
