package engine_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// picture is base64 of so many bytes that begin as PNG.
func picture(bytes int) string {
	return base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n" + noise(7, bytes-8)))
}

// mcp are results as servers of tools give them, each with a picture.
func mcp(data string) map[string]string {
	image := `{"type":"image","data":"` + data + `","mimeType":"image/png"}`
	return map[string]string{
		"an image":       image,
		"a content list": `{"content":[{"type":"text","text":"The chart."},` + image + `],"isError":false}`,
		"a bare list":    `[{"type":"text","text":"The chart."},` + image + `]`,
		"a data: URL":    `<p>The chart.</p><img src="data:image/png;base64,` + data + `">`,
		"a bare run":     data,
	}
}

// TestEngine_Append_BytesInAResult_AreAnImageOrALine: each format shows what its provider accepts in a result, and always the same.
func TestEngine_Append_BytesInAResult_AreAnImageOrALine(t *testing.T) {
	t.Parallel()
	data := picture(60_000)
	for name, output := range mcp(data) {
		for _, c := range []struct {
			format conversation.Format
			model  string
			image  string // as the provider has it
		}{
			{conversation.FormatAnthropic, "claude-sonnet-4-6", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data},
			{conversation.FormatOpenAIResponses, "gpt-5.1", `{"type":"input_image","image_url":"data:image/png;base64,` + data},
			{conversation.FormatGemini, "gemini-3-pro-preview", `{"inlineData":{"mimeType":"image/png","data":"` + data},
			{conversation.FormatGemini, "gemini-2.5-pro", ""},
			{conversation.FormatOpenAIChat, "gpt-5.1", ""},
		} {
			b := newBench(1 << 22)
			appended := b.append(t, "c", user("draw"), call("a"), result("a", output))
			ask := func(r *engine.BuildRequest) { r.Format, r.Model = c.format, c.model }
			r := b.asked(t, "c", 100_000, ask)
			got := string(r.MessagesJSON)
			if n := strings.Count(got, data[:1000]); n != strings.Count(got, c.image) && c.image != "" || n > 1 || (n == 1) != (c.image != "") {
				t.Errorf("%s, %v of %s: the bytes stand %d times", name, c.format, c.model, n)
			}
			if n := strings.Count(got, "[Media: image/png, 60000 bytes, sha256 "); n != 1 || strings.Count(got, "[Media: ") != 1 || !strings.Contains(got, ". Full text: expand_message(2)]") {
				t.Errorf("%s, %v of %s: %d lines", name, c.format, c.model, n)
			}
			at := slices.IndexFunc(r.Decisions, func(d conversation.Decision) bool { return d.Reason == conversation.ReasonBytesReplaced })
			if at < 0 || r.Decisions[at].First != 2 || r.Decisions[at].Before < 20_000 || r.Decisions[at].After > 1_800 || r.Tokens.Messages > 2_000 {
				t.Errorf("%s, %v: %d tokens, decided %+v", name, c.format, r.Tokens.Messages, r.Decisions)
			}
			if (r.Tokens.Messages > 1_600) != (c.image != "") {
				t.Errorf("%s, %v of %s: %d tokens", name, c.format, c.model, r.Tokens.Messages)
			}
			if !slices.ContainsFunc(appended.Events, func(e conversation.Event) bool { return e.Reason == conversation.ReasonBytesReplaced && e.Expandable }) || len(appended.Citations[2]) > 0 {
				t.Errorf("%s: told %+v", name, appended.Events)
			}
			b.append(t, "c", answer("There."), user("again"))
			later := b.asked(t, "c", 100_000, ask)
			if cold := newBenchOn(b.store, 0); string(cold.asked(t, "c", 100_000, func(r *engine.BuildRequest) { ask(r); r.DryRun = true }).MessagesJSON) != string(later.MessagesJSON) {
				t.Errorf("%s, %v: another process shows it otherwise", name, c.format)
			}
			if end := len(got) - len("]}]") - 1; !strings.HasPrefix(string(later.MessagesJSON), got[:end]) && c.format != conversation.FormatOpenAIChat {
				t.Errorf("%s, %v: what was sent has changed", name, c.format)
			}
		}
	}
}

// TestEngine_Append_BytesInAResult_StayOnRecord: the original can be retrieved in full.
func TestEngine_Append_BytesInAResult_StayOnRecord(t *testing.T) {
	t.Parallel()
	for name, output := range mcp(picture(60_000)) {
		b := newBench(1 << 22)
		b.append(t, "c", user("draw"), call("a"), result("a", output))
		b.build(t, "c", conversation.FormatOpenAIChat, 100_000)
		x, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(2)), ReturnOnly: true})
		if err != nil || x.Message.Message.Parts[0].Result.Text.Inline != output {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(2))}); err != nil {
			t.Fatal(err)
		}
		if got := string(b.build(t, "c", conversation.FormatOpenAIChat, 100_000).MessagesJSON); !strings.Contains(got, picture(60_000)) {
			t.Errorf("%s: brought back, it is not shown", name)
		}
	}
}

// TestEngine_Append_BytesInAText_AreALine: this holds for texts of users and of the assistant, wherever the bytes are, but not for
// texts that the caller keeps unchanged.
func TestEngine_Append_BytesInAText_AreALine(t *testing.T) {
	t.Parallel()
	b := newBench(1 << 22)
	data, small := picture(3_000), picture(700)
	b.append(t, "c", user("see data:image/png;base64,"+data+" there"), answer("I made "+data), user(small), pinned(user("keep "+data)), user("last"))
	r := b.build(t, "c", conversation.FormatAnthropic, 100_000)
	got := string(r.MessagesJSON)
	if n := strings.Count(got, data); n != 1 || !strings.Contains(got, small) || !strings.Contains(got, "keep "+data) {
		t.Errorf("the bytes stand %d times", n)
	}
	for _, want := range []string{"see [Media: image/png, 3000 bytes, sha256 ", "I made [Media: image/png, 3000 bytes, sha256 ", ". Full text: expand_message(0)] there", ". Full text: expand_message(1)]"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not there", want)
		}
	}
	if r.Tokens.Messages > 3_000 {
		t.Errorf("%d tokens", r.Tokens.Messages)
	}
}

// TestEngine_Append_BytesInAResult_Small_AreALine: an image that weighs more than its letters must not make a view heavier.
func TestEngine_Append_BytesInAResult_Small_AreALine(t *testing.T) {
	t.Parallel()
	b := newBench(1 << 22)
	b.append(t, "c", user("draw"), call("a"), result("a", mcp(picture(900))["an image"]))
	r := b.build(t, "c", conversation.FormatAnthropic, 100_000)
	if got := string(r.MessagesJSON); strings.Contains(got, `"source"`) || !strings.Contains(got, "[Media: image/png, 900 bytes, sha256 ") || r.Tokens.Messages > 200 {
		t.Errorf("%d tokens: %s", r.Tokens.Messages, got)
	}
}

// TestEngine_Build_BytesInAResult_StrongerFormsHaveNoLetters: clipped, cited, short and summarized forms are made from words.
func TestEngine_Build_BytesInAResult_StrongerFormsHaveNoLetters(t *testing.T) {
	t.Parallel()
	data := picture(60_000)
	output := prose(1, 6_000) + mcp(data)["a content list"] + prose(2, 30_000)
	check := func(name, got string, want string) {
		t.Helper()
		if strings.Contains(got, data[:100]) || strings.Contains(got, data[len(data)-100:]) || !strings.Contains(got, want) {
			t.Errorf("%s: %.3000s", name, got)
		}
	}
	b := newBench(1 << 22)
	b.append(t, "clipped", user("draw"), call("a"), result("a", output))
	check("clipped", string(b.build(t, "clipped", conversation.FormatOpenAIChat, 6_000).MessagesJSON), "[Clipped: ")

	b.cites(t, "cited", nil)
	r := b.append(t, "cited", user("draw"), call("a"), result("a", mcp(data)["a content list"]+prose(2, 30_000)))
	if len(r.Citations[2]) != 1 {
		t.Errorf("%d citations", len(r.Citations[2]))
	}
	cited := string(b.asked(t, "cited", 100_000, func(r *engine.BuildRequest) { r.Format = conversation.FormatAnthropic }).MessagesJSON)
	if n := strings.Count(cited, data[:100]); n != 1 || !strings.Contains(cited, `"data":"`+data) || !strings.Contains(cited, "retrieve_content(") {
		t.Errorf("cited: the bytes stand %d times", n)
	}
	r = b.append(t, "cited", call("b"), result("b", mcp(data)["a content list"]))
	if len(r.Citations[1]) != 0 {
		t.Errorf("what is short but for its bytes is cited: %+v", r.Citations)
	}

	expires := result("a", output)
	expires.Parts[0].Result.Expiration = &conversation.Expiration{Mode: conversation.ExpirationCompact, Turns: ptr(int32(1)), CompactLength: ptr(int32(7_000))}
	b.append(t, "short", user("draw"), call("a"), expires)
	for range 4 {
		b.build(t, "short", conversation.FormatOpenAIChat, 100_000)
		b.append(t, "short", answer("ok"), user("go on"))
	}
	check("short", string(b.build(t, "short", conversation.FormatOpenAIChat, 100_000).MessagesJSON), "[Media: image/png, 60000 bytes")
}

// TestEngine_Build_RequestWithBytes_StaysTheRequest: words next to bytes are the user's.
func TestEngine_Build_RequestWithBytes_StaysTheRequest(t *testing.T) {
	t.Parallel()
	b := newBench(1 << 22)
	b.append(t, "c", user("first"), answer("ok"), user("Find the cat in data:image/png;base64,"+picture(30_000)+" please."))
	for i := range 30 {
		id := fmt.Sprint("k", i)
		b.append(t, "c", call(id), result(id, prose(uint64(i), 2_000)))
		r := b.build(t, "c", conversation.FormatOpenAIChat, 4_000)
		if got := string(r.MessagesJSON); !strings.Contains(got, "Find the cat in [Media: ") {
			t.Fatalf("after %d steps the request is gone", i)
		}
	}
}

// TestEngine_Append_BytesInAResult_FollowTheRecord: they are exported and erased with the record, and a retry and a step answer the
// same.
func TestEngine_Append_BytesInAResult_FollowTheRecord(t *testing.T) {
	t.Parallel()
	data := picture(60_000)
	b := newBench(1 << 22)
	asAnthropic := func(r *engine.BuildRequest) { r.Format = conversation.FormatAnthropic }
	stepped := b.stepped(t, "c", func(r *engine.StepRequest) { r.Build.Format = conversation.FormatAnthropic }, user("draw"), call("a"), result("a", mcp(data)["a bare list"]))
	want := string(b.asked(t, "c", 100_000, func(r *engine.BuildRequest) { asAnthropic(r); r.DryRun = true }).MessagesJSON)
	if got := string(stepped.MessagesJSON); got != want || strings.Count(got, data) != 1 {
		t.Errorf("a step shows %d bytes, a build %d", len(got), len(want))
	}
	if _, err := b.imports("d", b.export(t, "c")); err != nil {
		t.Fatal(err)
	}
	if got := string(b.asked(t, "d", 100_000, asAnthropic).MessagesJSON); got != want {
		t.Errorf("what was moved shows %d bytes, want %d", len(got), len(want))
	}
	b.wantNothingStaged(t, "all was committed")

	again := engine.AppendRequest{Key: keyOf("e"), Messages: []conversation.Message{user("draw"), call("a"), result("a", mcp(data)["an image"])}, Request: request("AppendMessage", "r", "x")}
	first, err := b.Append(ctx, again)
	if err != nil {
		t.Fatal(err)
	}
	again.Messages = []conversation.Message{user("draw"), call("a"), result("a", mcp(data)["an image"])}
	second, err := b.Append(ctx, again)
	if err != nil || !second.Duplicate || len(second.Events) != len(first.Events) {
		t.Errorf("a retry tells %+v, %v, not %+v", second.Events, err, first.Events)
	}

	erased := result("a", mcp(data)["an image"])
	erased.Parts[0].Result.Expiration = &conversation.Expiration{Mode: conversation.ExpirationRemove, Turns: ptr(int32(0)), PreserveOriginal: ptr(false)}
	b.append(t, "f", user("draw"), call("a"), erased)
	b.asked(t, "f", 100_000, asAnthropic)
	b.append(t, "f", answer("ok"), user("go on"))
	b.asked(t, "f", 100_000, asAnthropic)
	bytes, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	if all := b.everything(t, "f"); strings.Contains(all, data[:200]) || strings.Contains(all, string(bytes[100:200])) {
		t.Error("the store still holds what was erased")
	}
}

// TestEngine_AppendHistory_BytesInAResult_AreFoundAgain: the caller's list has them as they were sent.
func TestEngine_AppendHistory_BytesInAResult_AreFoundAgain(t *testing.T) {
	t.Parallel()
	for _, f := range listFormats {
		b := listBench(nil)
		list := []conversation.Message{user("draw"), call("a"), result("a", mcp(picture(60_000))["a content list"])}
		for i := range 3 {
			var elements []string
			for _, m := range list {
				elements = append(elements, native(t, f, m)...)
			}
			r, err := b.appendList(t, f, elements)
			if err != nil || len(r.Messages) != []int{3, 2, 2}[i] {
				t.Fatalf("%v: %d appended, %v", f, len(r.Messages), err)
			}
			b.build(t, "c", f, 100_000)
			list = append(list, answer("There."), user("again"))
		}
	}
}
