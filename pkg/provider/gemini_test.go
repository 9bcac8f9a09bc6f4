package provider_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/validate"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// signedBy are the signatures of the calls in a context of Gemini's, in order; empty where a call has none.
func signedBy(t *testing.T, messages string) (out []string) {
	t.Helper()
	var contents []struct {
		Parts []struct {
			FunctionCall     *struct{}
			ThoughtSignature string
		}
	}
	if err := json.Unmarshal([]byte(messages), &contents); err != nil {
		t.Fatal(err)
	}
	for _, c := range contents {
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				out = append(out, p.ThoughtSignature)
			}
		}
	}
	return out
}

// TestGemini_HistoryOfAnother_HasThePlaceholderWhereItIsDemanded: the first call of each step, and no other.
func TestGemini_HistoryOfAnother_HasThePlaceholderWhereItIsDemanded(t *testing.T) {
	const placeholder = "skip_thought_signature_validator"
	chat := `[{"role":"user","content":"q"},` + chatCall + "," + chatBoth +
		`,{"role":"assistant","content":"And.","tool_calls":[{"id":"z","type":"function","function":{"name":"get","arguments":"{}"}}]},{"role":"tool","tool_call_id":"z","content":"x"}]`
	own := `[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"get","args":{}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"put","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"get","response":{"result":"1"}}},{"functionResponse":{"name":"put","response":{"result":"2"}}}]}]`
	f, chats := doorOf(conversation.FormatGemini), doorOf(conversation.FormatOpenAIChat).reader
	for _, c := range []struct {
		name     string
		door     door
		list     string
		by, call string
		want     []string
	}{
		{"of another maker", door{f.Format, chats}, chat, "gpt-5.1", "gemini-3-pro-preview", []string{placeholder, "", placeholder}},
		{"a later version", door{f.Format, chats}, chat, "", "models/gemini-4-argon", []string{placeholder, "", placeholder}},
		{"an alias", door{f.Format, chats}, chat, "", "gemini-flash-latest", []string{placeholder, "", placeholder}},
		{"an older version", door{f.Format, chats}, chat, "gpt-5.1", "gemini-2.5-pro", []string{"", "", ""}},
		{"that makes images", door{f.Format, chats}, chat, "", "gemini-3-pro-image-preview", []string{"", "", ""}},
		{"no model at all", door{f.Format, chats}, chat, "", "", []string{"", "", ""}},
		{"its own", f, own, "gemini-3-pro-preview", "gemini-3-pro-preview", []string{"c2ln", ""}},
		{"of an older model", f, own, "gemini-2.5-pro", "gemini-3-pro-preview", []string{placeholder, ""}},
	} {
		out, repairs := rendered(t, c.door, c.list, c.by, c.call)
		if got := signedBy(t, out); !slices.Equal(got, c.want) {
			t.Errorf("%s: signed by %q, want %q", c.name, got, c.want)
		}
		added := 0
		for _, r := range repairs {
			if r.Reason == conversation.ReasonSignatureAdded {
				added++
			}
		}
		if added != strings.Count(out, placeholder) {
			t.Errorf("%s: %d decisions: %+v", c.name, added, repairs)
		}
		checker, err := validate.NewChecker(validate.Gemini, func(string) int { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		checker.Model = c.call
		if faults := checker.Read(nil, []byte(out)).Violations; len(faults) > 0 {
			t.Errorf("%s: %v", c.name, faults)
		}
	}
}

// TestGemini_IDs_GoBackWhereTheyCame: a result that came without an id gets its call's id only if nothing says that it had none.
func TestGemini_IDs_GoBackWhereTheyCame(t *testing.T) {
	f := doorOf(conversation.FormatGemini)
	list := func(call, response string) string {
		return `[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{` + call + `"name":"get","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{` + response + `"name":"get","response":{"result":"1"}}}]}]`
	}
	const id = `"id":"fc-1",`
	for _, c := range []struct {
		name, list, called string
		want               int
	}{
		{"both", list(id, id), "gemini-2.5-pro", 2},
		{"neither", list("", ""), "gemini-2.5-pro", 0},
		{"the call alone", list(id, ""), "gemini-2.5-pro", 1},
		{"to another model", list(id, id), "gemini-3-pro", 0},
	} {
		out, _ := rendered(t, f, c.list, "gemini-2.5-pro", c.called)
		if n := strings.Count(out, `"id":"fc-1"`); n != c.want || strings.Count(out, `"id":`) != c.want {
			t.Errorf("%s: %d ids: %s", c.name, n, out)
		}
	}
	in, err := f.reader.Read(&provider.ReadRequest{JSON: list(id, ""), Shape: provider.ShapeMessage})
	if err != nil {
		t.Fatal(err)
	}
	in.Messages[2].Parts[0].Residue = nil // as if appended by fields
	r := newRecord()
	recorded(t, r, in.Messages)
	_, out := provider.Assemble(f.Traits(), compose(f.Format, r.units(), "", chars4).blocks)
	if n := strings.Count(string(out), `"id":"fc-1"`); n != 2 {
		t.Errorf("%d ids: %s", n, out)
	}
}

// TestGemini_UnknownMembersOfTheUsers_GoBack: at each level, as they came but for names in snake_case and nulls.
func TestGemini_UnknownMembersOfTheUsers_GoBack(t *testing.T) {
	out, _ := rendered(t, doorOf(conversation.FormatGemini), `[{"role":"user","new_one":{"a_b":null,"c_d":1},"parts":[{"text":"q","new_two":[{"e_f":2}]},{"inline_data":{"mime_type":"image/png","data":"UE5H","new_three":3}}]},`+
		`{"role":"model","parts":[{"function_call":{"name":"get"}}]},{"role":"user","new_four":4,"parts":[{"function_response":{"name":"get","response":{"result":"1"},"new_five":5,"new_six":null},"new_seven":7}]}]`, "", "")
	for _, want := range []string{
		`{"role":"user","newOne":{"cD":1},"parts":[{"text":"q","newTwo":[{"eF":2}]},{"inlineData":{"mimeType":"image/png","data":"UE5H","newThree":3}}]}`,
		`{"role":"user","newFour":4,"parts":[{"functionResponse":{"name":"get","response":{"result":"1"},"newFive":5},"newSeven":7}]}`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
}

// TestGemini_MediaInResults_StandBesideTheResponse: from version 3 on, accepted media are attached; others become lines.
func TestGemini_MediaInResults_StandBesideTheResponse(t *testing.T) {
	f := door{doorOf(conversation.FormatGemini).Format, doorOf(conversation.FormatAnthropic).reader}
	image := func(mime string) string {
		return `{"type":"image","source":{"type":"base64","media_type":"` + mime + `","data":"` + pngBase64 + `"}}`
	}
	list := `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"get","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",` +
		`"content":[{"type":"text","text":"see"},` + image("image/png") + `,` + image("image/gif") + `,{"type":"text","text":"and"}]}]}]`
	png := `{"inlineData":{"mimeType":"image/png","data":"` + pngBase64 + `"}}`
	for model, want := range map[string]string{
		"gemini-3-flash-preview": `{"functionResponse":{"name":"get","response":{"result":"see\n[Media: image/gif, 6 bytes]\nand"},"parts":[` + png + `]}}`,
		"gemini-2.5-flash":       `{"functionResponse":{"name":"get","response":{"result":"see\n[Media: image/png, 6 bytes]\n[Media: image/gif, 6 bytes]\nand"}}}`,
	} {
		if out, _ := rendered(t, f, list, "", model); !strings.Contains(out, want) {
			t.Errorf("%s: %s", model, out)
		}
	}
}
