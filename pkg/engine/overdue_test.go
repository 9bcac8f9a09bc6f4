package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// ended returns a conversation with a cited content whose run has ended, before any sweep, and the citation.
func ended(t *testing.T, restored bool) (*bench, engine.Cited) {
	t.Helper()
	b := citingBench()
	b.cites(t, "c", func(p *conversation.CitationsPolicy) { p.ReleaseOnEndRun = ptr(true) })
	secret := result("1", "The zeppelin landed. "+prose(1, 9_000)+" Last words.")
	secret.RunID = "run"
	r := b.append(t, "c", user("x"), call("1"), secret, user("y"))
	if _, err := b.Build(ctx, engine.BuildRequest{Key: keyOf("c")}); err != nil {
		t.Fatal(err)
	}
	if restored {
		if _, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(2))}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.hits(t, "last words"); len(got) != 1 {
		t.Fatalf("%v", got)
	}
	if _, err := b.EndRun(ctx, engine.EndRunRequest{Key: keyOf("c"), RunID: "run"}); err != nil {
		t.Fatal(err)
	}
	if m, err := b.Message(ctx, keyOf("c"), 2); err != nil || !strings.Contains(m.Message.Parts[0].Result.Text.Inline, "Last words.") {
		t.Fatalf("it is gone before its time (%v)", err)
	}
	b.now = b.now.Add(time.Hour)
	return b, r.Citations[2][0]
}

// TestEngine_RunOver_TextIsGoneFromEveryCall: this holds at once, without a sweeper (behaviour §9).
func TestEngine_RunOver_TextIsGoneFromEveryCall(t *testing.T) {
	list := func(current bool) func(t *testing.T, b *bench) (string, error) {
		return func(_ *testing.T, b *bench) (string, error) {
			l, err := b.Messages(ctx, engine.MessagesRequest{
				Key: keyOf("c"), Range: conversation.Range{End: -1}, Current: current, Limit: 9, MaxBytes: 1 << 20, Size: func(*engine.MessageInView) int { return 1 },
			})
			return fmt.Sprintf("%+v", l.Messages[2].Message.Parts[0].Result.Text), err
		}
	}
	for name, c := range map[string]struct {
		call func(t *testing.T, b *bench) (string, error)
		kind conversation.Kind
	}{
		"GetMessage": {func(_ *testing.T, b *bench) (string, error) {
			m, err := b.Message(ctx, keyOf("c"), 2)
			return m.Message.Parts[0].Result.Text.Inline, err
		}, ""},
		"ListMessages":                {list(false), ""},
		"ListMessages, as it is seen": {list(true), ""},
		"ExpandMessage": {func(_ *testing.T, b *bench) (string, error) {
			got, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(2)), ReturnOnly: true})
			return fmt.Sprintf("%+v", got), err
		}, conversation.ContentExpired},
		"ExpandMessage, restoring": {func(_ *testing.T, b *bench) (string, error) {
			got, err := b.Expand(ctx, engine.ExpandRequest{Key: keyOf("c"), Index: ptr(int32(2))})
			return fmt.Sprintf("%+v", got), err
		}, conversation.ContentExpired},
		"SearchMessages": {func(t *testing.T, b *bench) (string, error) { return fmt.Sprint(b.hits(t, "last words")), nil }, ""},
		"AnswerToolCall": {func(_ *testing.T, b *bench) (string, error) {
			got, err := b.AnswerToolCall(ctx, engine.ToolCallRequest{Key: keyOf("c"), Call: conversation.ToolCall{
				CallID: "x", Name: conversation.ToolExpand, Arguments: conversation.Content{Inline: `{"id":2}`},
			}})
			if err == nil && !strings.Contains(got.Result.Text.Inline, "do not retry") {
				t.Errorf("%q", got.Result.Text.Inline)
			}
			return got.Result.Text.Inline, err
		}, ""},
		"BuildContext": {func(_ *testing.T, b *bench) (string, error) {
			got, err := b.Build(ctx, engine.BuildRequest{Key: keyOf("c")})
			return string(got.MessagesJSON), err
		}, ""},
		"ExportConversation": {func(_ *testing.T, b *bench) (text string, err error) {
			err = b.Export(ctx, keyOf("c"), func(r engine.Record) error {
				if r.Message != nil {
					text += fmt.Sprintf("%+v", r.Message.Parts[0])
				}
				return nil
			})
			return text, err
		}, ""},
	} {
		for _, restored := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restored %v", name, restored), func(t *testing.T) {
				b, _ := ended(t, restored)
				text, err := c.call(t, b)
				if (err != nil || c.kind != "") && conversation.KindOf(err) != c.kind || strings.Contains(text, "Last words.") {
					t.Errorf("%q (%v)", text, err)
				}
			})
		}
	}
}

// TestEngine_RunOver_ListingsShowTheCitation: it is marked as erased, with the length of the original. The source record stays.
func TestEngine_RunOver_ListingsShowTheCitation(t *testing.T) {
	b, cited := ended(t, true)
	m, err := b.Message(ctx, keyOf("c"), 2)
	if err != nil {
		t.Fatal(err)
	}
	p := m.Message.Parts[0]
	if p.Result.Text.Inline != cited.Text || p.Citation == nil || *p.Citation != cited.Citation {
		t.Errorf("%+v", p)
	}
	if e := p.Result.Text.Erased; e == nil || e.Chars != cited.Citation.TotalChars || m.Expandable {
		t.Errorf("marked as %+v", e)
	}
	l, err := b.ListSources(ctx, engine.SourcesRequest{Key: keyOf("c"), Limit: 10})
	if err != nil || len(l.Sources) != 1 || !l.Sources[0].Expired || l.Sources[0].ContentID != cited.Citation.ContentID {
		t.Errorf("%+v %v", l, err)
	}
}

// TestEngine_RunOver_Restored_IsCitedAgain: the view shows the citation again, and not an empty result.
func TestEngine_RunOver_Restored_IsCitedAgain(t *testing.T) {
	b, cited := ended(t, true)
	r, err := b.Build(ctx, engine.BuildRequest{Key: keyOf("c"), Format: conversation.FormatOpenAIChat})
	if want, _ := json.Marshal(cited.Text); err != nil || !strings.Contains(string(r.MessagesJSON), string(want)) {
		t.Errorf("%s (%v)", r.MessagesJSON, err)
	}
}

// TestEngine_RunOver_ManyContents_AreGoneAtOnce: there are more of them than one commit deletes.
func TestEngine_RunOver_ManyContents_AreGoneAtOnce(t *testing.T) {
	b := citingBench()
	b.cites(t, "c", func(p *conversation.CitationsPolicy) { p.ReleaseOnEndRun = ptr(true) })
	for i := range 150 {
		m := result("1", prose(uint64(i), 5_000)+"Last words.")
		m.RunID = "run"
		b.append(t, "c", call("1"), m)
	}
	if _, err := b.EndRun(ctx, engine.EndRunRequest{Key: keyOf("c"), RunID: "run", Grace: ptr(time.Duration(0))}); err != nil {
		t.Fatal(err)
	}
	if got := b.hits(t, "last words"); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// TestEngine_Build_DamagedRun_IsSaidSo: a run that cannot be read may be over, and then its contents must not be shown.
func TestEngine_Build_DamagedRun_IsSaidSo(t *testing.T) {
	b := newBench(0)
	b.append(t, "c", user("x"))
	b.build(t, "c", conversation.FormatNeutral, 1000)
	h := b.head(t, "c")
	c := &store.Change{Expect: h.Version, Head: h, Slots: map[string][]byte{"content/run/x": []byte("\xff\xff")}}
	c.Head.Version++
	if err := b.store.Commit(ctx, keyOf("c"), c); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(40 * 24 * time.Hour)
	_, err := b.ask("c", 1000, nil)
	expect(t, err, conversation.CorruptRecord)
}
