package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// claudeSteps is a conversation in Anthropic's JSON. Each step is a message as it is sent, or an answer.
type claudeSteps struct {
	by, called string // the models that wrote it and that is called; the same if called is empty
	steps      []string
}

// out reads the steps one after the other and writes all of them.
func (c claudeSteps) out(t *testing.T) (string, view) {
	t.Helper()
	d := doorOf(conversation.FormatAnthropic)
	var messages []provider.InputMessage
	for _, step := range c.steps {
		in, err := d.reader.Read(&provider.ReadRequest{JSON: step, Model: c.by})
		if err != nil {
			t.Fatalf("%v in\n%s", err, step)
		}
		messages = append(messages, in.Messages...)
	}
	r := newRecord()
	recorded(t, r, messages)
	for i := range messages {
		r.items[i].Message.Tags = messages[i].Tags
	}
	called := c.called
	if called == "" {
		called = c.by
	}
	v := compose(d.Format, r.units(), called, chars4)
	legal(t, d.Format, v, chars4)
	_, out := provider.Assemble(d.Traits(), v.blocks)
	return string(out), v
}

func answerOf(stop, content string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","stop_reason":"` + stop +
		`","stop_sequence":null,"content":[` + content + `],"usage":{"input_tokens":1,"output_tokens":1},"container":null}`
}

func ofModel(content string) string { return `{"role":"assistant","content":[` + content + `]}` }
func ofUser(content string) string  { return `{"role":"user","content":[` + content + `]}` }

const (
	ask          = `{"role":"user","content":[{"type":"text","text":"q"}]}`
	more         = `{"role":"user","content":[{"type":"text","text":"more"}]}`
	thoughtA     = `{"type":"thinking","thinking":"a","signature":"s1"}`
	thoughtB     = `{"type":"thinking","thinking":"b","signature":"s2"}`
	emptyThought = `{"type":"thinking","thinking":"","signature":"s3"}`
	redacted     = `{"type":"redacted_thinking","data":"zzz"}`
	look         = `{"type":"text","text":"I look."}`
	found        = `{"type":"text","text":"Found."}`
	use1         = `{"type":"tool_use","id":"toolu_1","name":"get","input":{}}`
	use2         = `{"type":"tool_use","id":"toolu_2","name":"get","input":{}}`
	res1         = `{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}`
	res2         = `{"type":"tool_result","tool_use_id":"toolu_2","content":"y"}`
	search       = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}}`
	hits         = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`
	code         = `{"type":"server_tool_use","id":"srvtoolu_9","name":"code_execution","input":{"code":"await query()"}}`
	coded        = `{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_9","content":{"type":"code_execution_result","stdout":"9","stderr":"","return_code":0,"content":[]}}`
	byCode1      = `{"type":"tool_use","id":"toolu_1","name":"get","input":{},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_9"}}`
	byCode2      = `{"type":"tool_use","id":"toolu_2","name":"get","input":{},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_9"}}`
)

// sequence holds the steps that are read one by one, and what must be written; empty if it equals the steps.
type sequence struct{ steps, want []string }

func anthropicSequences() map[string]sequence {
	return map[string]sequence{
		"thinking between text and call":  {steps: []string{ask, ofModel(thoughtA + "," + look + "," + thoughtB + "," + use1), ofUser(res1)}},
		"text first":                      {steps: []string{ask, ofModel(look + "," + thoughtA + "," + use1), ofUser(res1)}},
		"thinking before each call":       {steps: []string{ask, ofModel(thoughtA + "," + use1 + "," + thoughtB + "," + use2), ofUser(res1 + "," + res2)}},
		"around a server's tool":          {steps: []string{ask, ofModel(thoughtA + "," + search + "," + hits + "," + thoughtB + "," + found), more}},
		"redacted between":                {steps: []string{ask, ofModel(thoughtA + "," + redacted + "," + look + "," + redacted + "," + use1), ofUser(res1)}},
		"empty with a signature":          {steps: []string{ask, ofModel(emptyThought + "," + look + "," + emptyThought + "," + use1), ofUser(res1)}},
		"over two messages of a turn":     {[]string{ask, ofModel(thoughtA + "," + look), ofModel(thoughtB + "," + use1), ofUser(res1)}, []string{ask, ofModel(thoughtA + "," + look + "," + thoughtB + "," + use1), ofUser(res1)}},
		"alone in the first message":      {[]string{ask, ofModel(thoughtA), ofModel(look + "," + use1), ofUser(res1)}, []string{ask, ofModel(thoughtA + "," + look + "," + use1), ofUser(res1)}},
		"behind results, in the turn":     {steps: []string{ask, ofModel(thoughtA + "," + use1), ofUser(res1), ofModel(look + "," + thoughtB + "," + use2), ofUser(res2)}},
		"last in its turn":                {[]string{ask, ofModel(look + "," + thoughtA), more}, []string{ask, ofModel(look), more}},
		"paused, and last":                {[]string{ask, answerOf("pause_turn", look+","+search)}, []string{ask, ofModel(look + "," + search)}},
		"paused without a word":           {[]string{ask, answerOf("pause_turn", search)}, []string{ask, ofModel(search)}},
		"paused behind a result":          {[]string{ask, answerOf("pause_turn", search+","+hits)}, []string{ask, ofModel(search + "," + hits)}},
		"paused, as a list":               {[]string{`[` + ask + `,` + ofModel(look+","+search) + `]`}, []string{ask, ofModel(look + "," + search)}},
		"paused, and resumed":             {[]string{ask, answerOf("pause_turn", look+","+search), answerOf("end_turn", hits+","+found), more}, []string{ask, ofModel(look + "," + search + "," + hits + "," + found), more}},
		"paused twice":                    {[]string{ask, answerOf("pause_turn", search), answerOf("pause_turn", look+","+code)}, []string{ask, ofModel(search + "," + look + "," + code)}},
		"paused, resumed as messages":     {[]string{ask, ofModel(look + "," + search), ofModel(hits + "," + found), more}, []string{ask, ofModel(look + "," + search + "," + hits + "," + found), more}},
		"paused, and the user speaks":     {[]string{ask, answerOf("pause_turn", look+","+search), more}, []string{ask, ofModel(look), more}},
		"paused, thinking before the use": {[]string{ask, answerOf("pause_turn", look+","+thoughtA+","+search), more}, []string{ask, ofModel(look), more}},
		"thinking around what is gone":    {[]string{ask, answerOf("end_turn", thoughtA+","+search+","+thoughtB+","+look), more}, []string{ask, ofModel(thoughtA + "," + look), more}},
		"the result of nothing":           {[]string{ask, answerOf("end_turn", hits+","+found), more}, []string{ask, ofModel(found), more}},
		"code that calls":                 {steps: []string{ask, ofModel(look + "," + code + "," + byCode1), ofUser(res1)}},
		"code that calls again":           {steps: []string{ask, ofModel(look + "," + code + "," + byCode1), ofUser(res1), ofModel(byCode2), ofUser(res2), ofModel(coded + "," + found), more}},
		"code that calls twice":           {steps: []string{ask, ofModel(code + "," + byCode1 + "," + byCode2), ofUser(res1 + "," + res2), ofModel(coded + "," + found), more}},
		"code that the user interrupts": {
			[]string{ask, ofModel(look + "," + code + "," + byCode1), ofUser(res1 + `,{"type":"text","text":"stop"}`), ofModel(found), more},
			[]string{ask, ofModel(look + "," + use1), ofUser(res1 + `,{"type":"text","text":"stop"}`), ofModel(found), more},
		},
		"a model that fell back": {steps: []string{ask, ofModel(look + `,{"type":"fallback","from":{"model":"a"},"to":{"model":"b"}},` + found), more}},
		"input that is null": {
			[]string{ask, ofModel(`{"type":"tool_use","id":"toolu_1","name":"get","input":null},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":null}`), ofUser(res1)},
			[]string{ask, ofModel(use1 + `,{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`), ofUser(res1)},
		},
		"unknown members": {steps: []string{
			ask, ofModel(`{"type":"text","text":"a","new":{"x":[1]}},{"type":"thinking","thinking":"b","signature":"s","new":1},{"type":"redacted_thinking","data":"z","new":1},{"type":"tool_use","id":"toolu_1","name":"get","input":{},"new":"y"}`),
			ofUser(`{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"x","new":1}],"new":2},{"type":"text","text":"t","new":3},{"type":"image","source":{"type":"url","url":"https://e.x/a.png","new":4},"transformations":{"x":1}},` +
				`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d","new":5},"new":6},{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"one","new":7}],"new":8}`),
		}},
	}
}

// TestAnthropic_Turns_GoBackAsTheyCame: sequences of messages and answers, as the API gives them.
func TestAnthropic_Turns_GoBackAsTheyCame(t *testing.T) {
	t.Parallel()
	for name, c := range anthropicSequences() {
		out, _ := claudeSteps{by: "claude-sonnet-4-6", steps: c.steps}.out(t)
		want := c.want
		if want == nil {
			want = c.steps
		}
		wanted := canonical(t, conversation.FormatAnthropic, []byte("["+strings.Join(want, ",")+"]"))
		if got := canonical(t, conversation.FormatAnthropic, []byte(out)); indented(wanted) != indented(got) {
			t.Errorf("%s:\n%s\nwant\n%s", name, indented(got), indented(wanted))
		}
	}
}

// TestAnthropic_OtherModels_GetWhatTheirPlatformDrops: on Anthropic's own platform everything is sent; elsewhere only what the called model
// wrote.
func TestAnthropic_OtherModels_GetWhatTheirPlatformDrops(t *testing.T) {
	t.Parallel()
	steps := []string{ask, ofModel(thoughtA + "," + redacted + "," + look + "," + use1), ofUser(res1)}
	for _, c := range []struct {
		by, called string
		goes       bool
	}{
		{"claude-sonnet-4-6", "claude-sonnet-4-6", true},
		{"claude-sonnet-4-6", "anthropic/claude-sonnet-4-6", true},
		{"claude-sonnet-4-6", "us.anthropic.claude-sonnet-4-6-20260217-v1:0", true},
		{"claude-sonnet-4-6", "claude-sonnet-4-6@20260217", true},
		{"claude-sonnet-4-6", "claude-opus-5-5", true},
		{"us.anthropic.claude-opus-4-6-v1", "claude-fable-5-1", true},
		{"claude-opus-5", "us.anthropic.claude-fable-5-1-v1:0", false},
		{"claude-opus-5", "claude-fable-5-1@20260901", false},
		{"claude-opus-5", "anthropic/claude-fable-5.1", false},
		{"claude-3-7-sonnet-20250219", "claude-opus-5-5", false},
		{"gpt-5.1", "claude-opus-5-5", false},
		{"claude-sonnet-4-6", "kimi-k2", false},
	} {
		out, _ := claudeSteps{by: c.by, called: c.called, steps: steps}.out(t)
		if goes := strings.Contains(out, `"s1"`) && strings.Contains(out, `"zzz"`); goes != c.goes || !goes && strings.Contains(out, "thinking") {
			t.Errorf("%s to %s: %s", c.by, c.called, out)
		}
	}
}

// TestAnthropic_SystemMessages_StayWhereTheModelTakesThem: they stay in place with their other members; otherwise they become user text.
func TestAnthropic_SystemMessages_StayWhereTheModelTakesThem(t *testing.T) {
	t.Parallel()
	const once = `{"role":"system","clear_at":"next_user_message","content":[{"type":"text","text":"Hurry."}]}`
	const twice = `{"role":"system","clear_at":"next_user_message","content":[{"type":"text","text":"Hurry."},{"type":"text","text":"Hurry."}]}`
	const rule = `{"role":"system","content":[{"type":"text","text":"Be brief.","new":1},{"type":"tool_removal","tool":{"type":"tool_reference","name":"get"}}]}`
	asUser := func(text string) string { return `{"type":"text","text":"[System message]\n` + text + `"}` }
	for name, c := range map[string]struct {
		called      string
		steps, want []string
	}{
		"last":                   {"claude-opus-4-8", []string{ask, once}, []string{ask, once}},
		"before the model":       {"claude-opus-4-8", []string{ask, once, ofModel(look), more}, []string{ask, once, ofModel(look), more}},
		"behind results":         {"claude-opus-4-8", []string{ask, ofModel(use1), ofUser(res1), rule, ofModel(found), more}, []string{ask, ofModel(use1), ofUser(res1), rule, ofModel(found), more}},
		"behind a server's tool": {"claude-opus-4-8", []string{ask, ofModel(look + "," + search + "," + hits), once}, []string{ask, ofModel(look + "," + search + "," + hits), once}},
		"two of a kind":          {"claude-fable-5-2", []string{ask, once, once, ofModel(look), more}, []string{ask, twice, ofModel(look), more}},
		"two of two kinds":       {"claude-opus-4-8", []string{ask, once, rule, ofModel(look), more}, []string{ofUser(`{"type":"text","text":"q"},` + asUser("Hurry.")), rule, ofModel(look), more}},
		"behind the model":       {"claude-opus-4-8", []string{ask, ofModel(look), once}, []string{ask, ofModel(look), ofUser(asUser("Hurry."))}},
		"before the user":        {"claude-opus-4-8", []string{ask, once, more}, []string{ofUser(`{"type":"text","text":"q"},` + asUser("Hurry.") + `,{"type":"text","text":"more"}`)}},
		"a model that has none":  {"claude-sonnet-5", []string{ask, once, ofModel(look), more}, []string{ofUser(`{"type":"text","text":"q"},` + asUser("Hurry.")), ofModel(look), more}},
		"a platform without":     {"us.anthropic.claude-opus-4-8-v1:0", []string{ask, once, ofModel(look), more}, []string{ofUser(`{"type":"text","text":"q"},` + asUser("Hurry.")), ofModel(look), more}},
	} {
		out, v := claudeSteps{by: c.called, steps: c.steps}.out(t)
		wanted := canonical(t, conversation.FormatAnthropic, []byte("["+strings.Join(c.want, ",")+"]"))
		if got := canonical(t, conversation.FormatAnthropic, []byte(out)); indented(wanted) != indented(got) {
			t.Errorf("%s:\n%s\nwant\n%s", name, indented(got), indented(wanted))
		}
		told := slices.ContainsFunc(v.repairs, func(r provider.Repair) bool { return r.Reason == conversation.ReasonSystemAsUser && r.Tokens > 0 })
		if told != strings.Contains(out, "[System message]") {
			t.Errorf("%s: repairs %+v", name, v.repairs)
		}
	}
}

// TestAnthropic_Assembly_OfHeads_IsTheSameStepByStep: blocks with two different heads are two messages, whatever was hashed before.
func TestAnthropic_Assembly_OfHeads_IsTheSameStepByStep(t *testing.T) {
	t.Parallel()
	tr := doorOf(conversation.FormatAnthropic).Traits()
	blocks := []provider.Block{
		{Role: "user", JSON: []byte("1")}, {Role: "system", Head: `"a":1`, JSON: []byte("2")}, {Role: "system", Head: `"a":1`, JSON: []byte("3")}, {Role: "system", JSON: []byte("4")},
	}
	whole, steps := provider.NewAssembly(tr).With(blocks), provider.NewAssembly(tr)
	for n := range blocks {
		steps = steps.With(blocks[: n+1 : n+1])
	}
	const want = `[{"role":"user","content":[1]},{"role":"system","a":1,"content":[2,3]},{"role":"system","content":[4]}]`
	if steps.Sum() != whole.Sum() || string(whole.Messages()) != want {
		t.Errorf("%s, the same: %t", whole.Messages(), steps.Sum() == whole.Sum())
	}
	other := slices.Clone(blocks)
	if other[2].Head = ""; provider.CommonPrefix(blocks, other) != 2 {
		t.Error("two heads are one prefix")
	}
}

// TestAnthropic_Reader_TagsWhatWasPaused: by the reason of an answer, or by what a message waits for.
func TestAnthropic_Reader_TagsWhatWasPaused(t *testing.T) {
	t.Parallel()
	d := doorOf(conversation.FormatAnthropic)
	for _, c := range []struct {
		json            string
		aborted, paused bool
	}{
		{answerOf("pause_turn", look), false, true}, {answerOf("end_turn", look), false, false}, {answerOf("max_tokens", look+","+search), false, false},
		{ofModel(look + "," + search), false, true}, {ofModel(look + "," + search + "," + hits), false, false}, {ofModel(code + "," + byCode1), false, false},
		{ofModel(look + "," + search), true, false}, {ofUser(`{"type":"text","text":"q"}`), false, false},
	} {
		in, err := d.reader.Read(&provider.ReadRequest{JSON: c.json, Aborted: c.aborted})
		if err != nil || in.Messages[0].Paused() != c.paused {
			t.Errorf("%s, aborted %t: %v %v", c.json, c.aborted, in, err)
		}
	}
}

// TestAnthropic_Residue_BesideABlock_StandsInForNothing: members kept for a block never replace what the block itself says.
func TestAnthropic_Residue_BesideABlock_StandsInForNothing(t *testing.T) {
	t.Parallel()
	hostile := call("get", "{}")
	hostile.Residue = &conversation.Residue{Provider: "anthropic", JSON: `{"members":{"caller":{"type":"code","tool_id":"none"},"cache_control":{"type":"ephemeral"}}}`}
	v := compose(doorOf(conversation.FormatAnthropic).Format, newRecord().user("q").assistant(hostile).tool(result(1, "get", "r")).units(), "", chars4)
	legal(t, doorOf(conversation.FormatAnthropic).Format, v, chars4)
	if at := slices.IndexFunc(v.blocks, func(b provider.Block) bool {
		return strings.Contains(string(b.JSON), "none") || strings.Contains(string(b.JSON), "cache")
	}); at >= 0 {
		t.Errorf("%s", v.blocks[at].JSON)
	}
}
