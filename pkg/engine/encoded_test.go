package engine_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// encodedImage is a picture of some bytes as a tool prints it: letters.
func encodedImage(n int) (data []byte, letters string) {
	data = append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, n)...)
	for i := 8; i < len(data); i++ {
		data[i] = byte(i * i / 7)
	}
	return data, base64.StdEncoding.EncodeToString(data)
}

// TestEngine_Append_Base64_IsNoText: an image is shown where the provider takes one in a result, a line stands for all other bytes, and
// the record has the result as it came.
func TestEngine_Append_Base64_IsNoText(t *testing.T) {
	_, image := encodedImage(60_000)
	pdf := base64.StdEncoding.EncodeToString([]byte("%PDF-1.7\n" + strings.Repeat("0123456789abcdef", 200)))
	const line = "[Base64 left out: image/png, 60008 bytes, SHA-256 "
	for name, c := range map[string]struct {
		text  string
		line  string
		image bool
	}{
		"an image in JSON":  {`{"type":"image","data":"` + image + `","mimeType":"image/png"}`, line, true},
		"an MCP result":     {`{"content":[{"type":"text","text":"A shot."},{"type":"image","data":"` + image + `","mimeType":"image/png"}],"isError":false}`, line, true},
		"a data URL":        {"see data:image/png;base64," + image + " there", line, true},
		"another's bytes":   {`{"file":"` + pdf + `"}`, "[Base64 left out: application/pdf, 3209 bytes, SHA-256 ", false},
		"an image too many": {strings.Repeat(image[:2000]+" ", 11), "[Base64 left out: image/png, 1500 bytes, SHA-256 ", true},
	} {
		for _, format := range []conversation.Format{conversation.FormatAnthropic, conversation.FormatOpenAIChat, conversation.FormatOpenAIResponses, conversation.FormatGemini} {
			b := listBench(nil)
			b.append(t, "c", user("go"), call("a"), result("a", c.text))
			r := b.asked(t, "c", 100_000, func(r *engine.BuildRequest) { r.Format, r.Model = format, "gemini-3-pro" })
			shown := string(r.MessagesJSON)
			takes := format == conversation.FormatAnthropic || format == conversation.FormatOpenAIResponses
			if has := strings.Contains(shown, image[:1000]); has != (c.image && takes) || !strings.Contains(shown, c.line) || !strings.Contains(shown, "expand_message(2)") {
				t.Errorf("%s, %v: letters %t\n%.400s", name, format, has, shown)
			}
			if n := strings.Count(shown, image[:1000]); n > 10 {
				t.Errorf("%s, %v: %d images", name, format, n)
			}
			if d := r.Decisions[0]; d.Kind != conversation.DecisionClipped || d.Reason != conversation.ReasonBytesInText || d.Before-d.After != r.Tokens.SavedByClipping {
				t.Errorf("%s, %v: %+v, %d saved", name, format, d, r.Tokens.SavedByClipping)
			}
			again := b.asked(t, "c", 100_000, func(r *engine.BuildRequest) { r.Format, r.Model = format, "gemini-3-pro" })
			if again.SHA256 != r.SHA256 {
				t.Errorf("%s, %v: it is not frozen", name, format)
			}
			if m := b.records(t, "c"); m[2].Parts[0].Result.Text.Inline != c.text {
				t.Errorf("%s: the record has something else", name)
			}
		}
	}
}

// TestEngine_Append_Base64_LeavesAlone what was asked for as it is, what is pinned, what people say and what is short.
func TestEngine_Append_Base64_LeavesAlone(t *testing.T) {
	_, image := encodedImage(3000)
	recalled := result("a", image)
	recalled.Parts[0].Result.Recalled = &conversation.Recalled{Index: 0}
	for name, m := range map[string]conversation.Message{
		"recalled": recalled, "pinned": pinned(result("a", image)), "short": result("a", image[:1000]),
	} {
		b := listBench(nil)
		b.append(t, "c", user(image), call("a"), m)
		r := b.build(t, "c", conversation.FormatOpenAIChat, 100_000)
		if len(r.Decisions) > 0 || !strings.Contains(string(r.MessagesJSON), image) {
			t.Errorf("%s: %+v", name, r.Decisions)
		}
	}
}

// TestEngine_Append_Base64_IsExpandable, with JSON that stays JSON, pieces that stay in order, and citing that sees what is left.
func TestEngine_Append_Base64_IsExpandable(t *testing.T) {
	data, image := encodedImage(3000)
	b := listBench(nil)
	m := result("a", "")
	m.Parts[0].Result.Output, m.Parts[0].Result.Text = conversation.OutputParts, conversation.Content{}
	m.Parts[0].Result.Parts = []conversation.ResultPart{
		{Text: conversation.Content{Inline: "before " + image}},
		{Media: &conversation.Media{MIMEType: "image/gif", Data: conversation.Content{Inline: "GIF89a"}}}, {Text: conversation.Content{Inline: "after"}},
	}
	j := result("b", `{"pdf":"`+base64.StdEncoding.EncodeToString([]byte("%PDF-1.7\n"+strings.Repeat("0123456789abcdef", 200)))+`"}`)
	j.Parts[0].Result.Output = conversation.OutputJSON
	b.append(t, "c", user("go"), call("a"), m, call("b"), j)
	neutral := func(r *engine.BuildRequest) { r.Format = conversation.FormatNeutral }
	r := b.asked(t, "c", 100_000, neutral)
	if len(r.Messages) != 5 {
		t.Fatalf("%d messages", len(r.Messages))
	}
	pieces := r.Messages[2].Parts[0].Result.Parts
	if len(pieces) != 4 || pieces[1].Media == nil || !bytes.Equal([]byte(pieces[1].Media.Data.Inline), data) || pieces[2].Media.MIMEType != "image/gif" || pieces[3].Text.Inline != "after" {
		t.Errorf("%d pieces", len(pieces))
	}
	if shown := r.Messages[4].Parts[0].Result; shown.Output != conversation.OutputJSON || !json.Valid([]byte(shown.Text.Inline)) {
		t.Errorf("%+v", shown)
	}
	if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(4))}); err != nil {
		t.Fatal(err)
	}
	if back := b.asked(t, "c", 100_000, neutral); back.Messages[4].Parts[0].Result.Text.Inline != j.Parts[0].Result.Text.Inline {
		t.Errorf("%.200s", back.Messages[4].Parts[0].Result.Text.Inline)
	}
}
