package exportformat

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// filler sets every field that it can reach to a value that is not zero, each another one: a field that an export forgets
// comes back as zero.
type filler struct{ n int64 }

func (f *filler) next() int64 {
	f.n++
	return f.n%100 + 1
}

func (f *filler) fill(v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(f.next(), f.next()).UTC()))
		return
	case conversation.Content:
		v.Set(reflect.ValueOf(f.content()))
		return
	case conversation.Recalled:
		v.Set(reflect.ValueOf(f.recalled()))
		return
	case conversation.ID:
		return // made anew by an import
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Unknown" && name != "NewerManifests" && name != "Epoch" { // an export says what its version knows
				f.fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("a slot"), reflect.ValueOf([]byte{0, 255}))
		v.SetMapIndex(reflect.ValueOf("another"), reflect.ValueOf([]byte("x")))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("s\"\n\x00 <é> " + string(rune('a'+f.next()%26)))
	case reflect.Float64:
		v.SetFloat(1.0 / float64(f.next()+2))
	case reflect.Uint8:
		v.SetUint(uint64(f.next()))
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(f.next()))
	case reflect.Int8:
		v.SetInt(1)
	default:
		v.SetInt(f.next())
	}
}

// content is text, or, every third time, what is left of an erased one.
func (f *filler) content() conversation.Content {
	n := f.next()
	if n%3 > 0 {
		return conversation.Content{Inline: "text " + strings.Repeat("ü", int(n))}
	}
	return conversation.Content{Erased: &conversation.ErasedContent{Bytes: 2 * n, Chars: n, Hash: [32]byte{byte(n), 31: 255}}}
}

// recalled is a content or a message, by turns.
func (f *filler) recalled() conversation.Recalled {
	if n := f.next(); n%2 > 0 {
		return conversation.Recalled{Index: int32(n)}
	}
	return conversation.Recalled{ContentID: "c1-aaaaaaaa"}
}

// parts returns one part of each kind, everything in it set.
func (f *filler) parts() []conversation.Part {
	out := make([]conversation.Part, 18)
	for i := range out {
		f.fill(reflect.ValueOf(&out[i]).Elem())
		full := out[i]
		f.choose(&out[i], &full, i%9)
		out[i].Retention = []conversation.Retention{{Kind: conversation.RetentionPermanent}, {Kind: conversation.RetentionKeepLast, Last: full.Retention.Last}}[i%2]
	}
	return out
}

// choose leaves of the contents the one of a kind. All other fields stay, those that are yet to come too.
func (f *filler) choose(p, full *conversation.Part, i int) {
	p.Text, p.Media, p.Call, p.Result, p.Reasoning, p.Opaque = conversation.Content{}, nil, nil, nil, nil, nil
	p.Kind = conversation.PartKind(min(i+1, int(conversation.PartOpaque)))
	switch i {
	case 0:
		p.Text = full.Text
	case 1:
		p.Media = full.Media
	case 2:
		p.Call = full.Call
		p.Call.Unique = false // an import finds out again
	case 4:
		p.Reasoning = full.Reasoning
	case 5:
		p.Opaque = full.Opaque
	default:
		p.Kind, p.Result = conversation.PartToolResult, f.result(full.Result, i)
	}
}

// result gives i = 3, 6, 7 and 8 the shapes of results.
func (f *filler) result(r *conversation.ToolResult, i int) *conversation.ToolResult {
	switch i {
	case 3:
		r.Output, r.Parts = conversation.OutputText, nil
	case 6:
		r.Output, r.Parts = conversation.OutputJSON, nil
	case 7:
		r.Output, r.Text = conversation.OutputParts, conversation.Content{}
		r.Parts = []conversation.ResultPart{{Text: r.Parts[0].Text}, {Media: r.Parts[1].Media}}
	default:
		r.Output, r.Text, r.Parts = conversation.OutputText, conversation.Content{}, nil
	}
	return r
}

func (f *filler) records() []engine.Record {
	c, s, m := &engine.Conversation{}, &engine.State{}, &conversation.Message{}
	e, b := &conversation.Edit{}, &conversation.Manifest{}
	r, k := &engine.SourceRecord{}, &engine.SourceChunk{}
	for _, v := range []any{c, s, m, e, b, r, k} {
		f.fill(reflect.ValueOf(v).Elem())
	}
	// What an export leaves out: the name, what an import makes anew, and what a live conversation has not.
	c.ID, c.Head.State, c.Head.DeleteTime, c.Head.NextDue = "", 0, time.Time{}, time.Time{}
	c.Head.Reusable, c.Head.Former, c.Head.Bytes, c.Head.ActorID = false, time.Time{}, 0, ""
	c.Head.CallIDs, c.Head.CallNumber = "", 0
	m.Parts = f.parts()
	e.Parts = []conversation.PartEdit{}
	for _, p := range m.Parts {
		e.Parts = append(e.Parts, conversation.PartEdit{Part: int32(f.next()), Level: conversation.Shortened, Shown: p})
	}
	return []engine.Record{{Conversation: c}, {State: s}, {Message: m}, {Edit: e}, {Manifest: b}, {Source: r}, {Chunk: k}}
}

func TestWriter_EveryFieldOfEveryRecord_ComesBack(t *testing.T) {
	for _, want := range (&filler{}).records() {
		var out bytes.Buffer
		if err := NewWriter(&out).Write(want); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(out.String(), "\n")
		var l line
		if err := json.Unmarshal([]byte(lines[1]), &l); err != nil {
			t.Fatal(err)
		}
		got := copied[engine.Record](newCopier(true), &l)
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("lost on the way (-written +read):\n%s", diff)
		}
		var again bytes.Buffer
		if err := NewWriter(&again).Write(*got); err != nil || again.String() != out.String() {
			t.Errorf("not canonical: %v\n%s\n%s", err, out.String(), again.String())
		}
	}
}

func TestWriter_ZeroRecords_ComeBack(t *testing.T) {
	for _, want := range []engine.Record{
		{Conversation: &engine.Conversation{}}, {State: &engine.State{}}, {Message: &conversation.Message{Role: 1}},
		{Edit: &conversation.Edit{Kind: 1}}, {Edit: &conversation.Edit{Kind: 1, Parts: make([]conversation.PartEdit, 1)}},
		{Manifest: &conversation.Manifest{}}, {Source: &engine.SourceRecord{}}, {Chunk: &engine.SourceChunk{Data: []byte{}}},
		{Source: &engine.SourceRecord{Source: engine.Source{AtAppend: true}}}, {State: &engine.State{Runs: make([]engine.Run, 1)}},
		{Edit: &conversation.Edit{Kind: conversation.EditParts, Parts: []conversation.PartEdit{{Shown: conversation.Part{
			Kind: conversation.PartToolResult, Citation: &conversation.Citation{}, Result: &conversation.ToolResult{Recalled: &conversation.Recalled{}},
		}}}}},
	} {
		var out bytes.Buffer
		if err := NewWriter(&out).Write(want); err != nil {
			t.Fatal(err)
		}
		var l line
		if err := json.Unmarshal([]byte(strings.SplitAfter(out.String(), "\n")[1]), &l); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, copied[engine.Record](newCopier(true), &l)); diff != "" {
			t.Errorf("changed on the way (-written +read):\n%s", diff)
		}
	}
}

// small is a complete export of two messages, an edit and a manifest.
func small(t testing.TB) []string {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	text := conversation.Part{Kind: conversation.PartText, Text: conversation.Content{Inline: "hello"}, Tokens: 1}
	for _, r := range []engine.Record{
		{Conversation: &engine.Conversation{Head: engine.Head{Version: 5, Messages: 2, EditSeq: 1, ManifestSeq: 3, Turn: 1, Request: 1, CallOrdinal: 1}}},
		{State: &engine.State{Slots: map[string][]byte{"s": {1}}}},
		{Message: &conversation.Message{Role: conversation.RoleUser, Parts: []conversation.Part{text}, Commit: 1}},
		{Message: &conversation.Message{Index: 1, Role: conversation.RoleUser, Parts: []conversation.Part{text}, Commit: 2}},
		{Edit: &conversation.Edit{Seq: 1, Kind: conversation.EditParts, Range: conversation.Range{End: 1}, Parts: []conversation.PartEdit{{Level: conversation.Shortened, Shown: text}}}},
		{Manifest: &conversation.Manifest{Seq: 3, Turn: 1, MessageCount: 2, EditSeq: 1, Format: conversation.FormatNeutral}},
	} {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func readAll(text string) (records []engine.Record, err error) {
	r := NewReader(strings.NewReader(text), &plenty{})
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		records = append(records, *record)
	}
}

func TestReader_Complete_RoundTrips(t *testing.T) {
	text := strings.Join(small(t), "") + "\n"
	records, err := readAll(text)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	w := NewWriter(&again)
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil || again.String() != text {
		t.Errorf("%v\n%s\n%s", err, text, again.String())
	}
}

// TestReader_PartToldByAnother_IsRead reads an edit that shows nothing of a part, because another part tells its content too.
func TestReader_PartToldByAnother_IsRead(t *testing.T) {
	text := strings.Join(small(t), "") + "\n"
	text = strings.Replace(text, `"shown":{"text":"hello","tokens":1}`, `"shown":{"tokens":0}`, 1)
	records, err := readAll(text)
	if err != nil {
		t.Fatal(err)
	}
	if shown := records[4].Edit.Parts[0].Shown; shown != (conversation.Part{}) {
		t.Errorf("shown %+v", shown)
	}
}

func TestReader_CutOff_IsRefused(t *testing.T) {
	text := strings.Join(small(t), "") + "\n"
	for n := range len(text) - 1 {
		if _, err := readAll(text[:n]); err == nil {
			t.Fatalf("%d of %d bytes are taken for all", n, len(text))
		}
	}
}

// erased is what is left of two bytes, one character.
const erased = `{"content":0,"originalLengthBytes":2,"originalLengthChars":1,"keyedHash":"0000000000000000000000000000000000000000000000000000000000000000"}`

// TestReader_OldExport_IsRead reads what was written before messages could expire.
func TestReader_OldExport_IsRead(t *testing.T) {
	const old = `{"palimpsest_export":1}
{"conversation":{"policy":{"fit":{"targetPercent":40},"ttlNanos":60000000000},"head":{"version":5,"revision":0,"messageCount":1,"tokenCount":0,"editSeq":1,"manifestSeq":1,"turn":1,"seen":1,"windowStartIndex":0,"lastManifest":[0,0,0,0,0,0],"unitStart":0,"leadingSystem":0,"request":0,"callOrdinal":0}}}
{"message":{"index":0,"role":"ROLE_USER","parts":[{"text":"hello","tokens":1}],"turnAdded":0,"tokenCount":5,"commit":1}}
{"edit":{"seq":1,"kind":"EDIT_PARTS","range":{"start":0,"end":1},"parts":[{"part":0,"level":"VIEW_LEVEL_SHORTENED","shown":{"text":"h","tokens":1}}],"turn":1,"tokensBefore":0,"tokensAfter":0,"commit":0}}
{"manifest":{"seq":1,"turn":1,"format":"CONTEXT_FORMAT_NEUTRAL","messageCount":1,"editSeq":1,"windowStartIndex":0,"windowRequestIndex":0,"leadingSystem":0,"budgetTokens":0,"tokens":0,"fixedTokens":0,"fixedSha256":"0000000000000000000000000000000000000000000000000000000000000000","factor":1,"rendererVersion":0,"contentSha256":"0000000000000000000000000000000000000000000000000000000000000000","revision":0,"blocks":0}}
{"end":{"messages":1,"edits":1,"manifests":1}}
`
	records, err := readAll(old)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	w := NewWriter(&again)
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil || again.String() != old {
		t.Errorf("a conversation without what is new is written otherwise than then: %v\n%s", err, again.String())
	}
}

func TestReader_Hostile_IsRefusedByLine(t *testing.T) {
	for name, c := range map[string]struct {
		line     int // that is changed, from 1
		old, new string
		field    string
	}{
		"another format":       {1, "palimpsest_export", "something", ""},
		"another version":      {1, ":1", ":2", ""},
		"unknown field":        {3, `"slots"`, `"slits"`, ""},
		"two keys":             {3, `{"state"`, `{"end":{"messages":0,"edits":0,"manifests":0},"state"`, ""},
		"no object":            {4, `{"message"`, `[{"message"`, ""},
		"more behind":          {4, "}}\n", "}} {}\n", ""},
		"index":                {4, `"index":0`, `"index":1`, "message.index"},
		"type":                 {4, `"index":0`, `"index":"0"`, "message.index"},
		"role":                 {4, "ROLE_USER", "ROLE_KING", ""},
		"no kind":              {4, `"text":"hello",`, ``, "message.parts[0]"},
		"two kinds":            {4, `"text":"hello"`, `"text":"hello","media":{"mimeType":"a"}`, "message.parts[0]"},
		"commit":               {4, `"commit":1`, `"commit":9`, "message.commit"},
		"edit's range":         {6, `"end":1`, `"end":9`, "edit.range"},
		"edit's part":          {6, `"part":0`, `"part":1`, "edit.parts[0].part"},
		"copies out of order":  {6, `"part":0`, `"part":0,"copies":[{"firstLine":3,"endLine":6},{"firstLine":0,"endLine":3}]`, "edit.parts[0].copies[1]"},
		"a copy past the end":  {6, `"part":0`, `"part":0,"copies":[{"endLine":3,"atLine":2147483645}]`, "edit.parts[0].copies[0]"},
		"edit's seq":           {6, `"seq":1`, `"seq":2`, "edit.seq"},
		"manifest's count":     {7, `"messageCount":2`, `"messageCount":3`, "manifest.messageCount"},
		"manifest's seq":       {7, `"seq":3`, `"seq":4`, "manifest.seq"},
		"head's last user":     {2, `"request":1`, `"request":2`, "conversation.head.request"},
		"head's manifests":     {2, `"lastManifest":[0`, `"lastManifest":[9`, "conversation.head.lastManifest[0]"},
		"head's count":         {2, `"messageCount":2`, `"messageCount":-2`, "conversation.head.messageCount"},
		"end":                  {8, `"messages":2`, `"messages":1`, "end.messages"},
		"end's manifests":      {8, `"manifests":1`, `"manifests":0`, "end.manifests"},
		"a negative ordinal":   {4, `{"text":"hello"`, `{"toolResult":{"callId":"a","ordinal":-1}`, "message.parts[0].toolResult.ordinal"},
		"an unknown ordinal":   {4, `{"text":"hello"`, `{"toolCall":{"callId":"a","name":"b","ordinal":2}`, "message.parts[0].toolCall.ordinal"},
		"upper case":           {7, `000"`, `00A"`, ""},
		"turns":                {4, `"index":0`, `"index":0,"expiration":{"turns":-1}`, "message.expiration.turns"},
		"compact length":       {4, `"index":0`, `"index":0,"expiration":{"compactLength":0}`, "message.expiration.compactLength"},
		"expiration mode":      {4, `"index":0`, `"index":0,"expiration":{"mode":"EXPIRATION_MODE_BURN"}`, ""},
		"expiration source":    {4, `"index":0`, `"index":0,"expiration":{"source":"EXPIRATION_SOURCE_WHIM"}`, ""},
		"compact mode":         {4, `"index":0`, `"index":0,"expiration":{"compactMode":1}`, "message.expiration.compactMode"},
		"result's turns":       {4, `{"text":"hello"`, `{"toolResult":{"callId":"a","ordinal":1,"expiration":{"turns":-1}}`, "message.parts[0].toolResult.expiration.turns"},
		"place":                {4, `"index":0`, `"index":0,"place":{"inputs":2}`, "message.place.inputs"},
		"place, carrying":      {4, `"index":0`, `"index":0,"place":{"carrying":1}`, "message.place.carrying"},
		"keep none":            {4, `{"text":"hello"`, `{"text":"hello","retention":{"keepLast":0}`, "message.parts[0].retention.keepLast"},
		"keep all and some":    {4, `{"text":"hello"`, `{"text":"hello","retention":{"keepLast":1,"permanent":true}`, "message.parts[0].retention"},
		"variant":              {4, `{"text":"hello"`, `{"text":"hello","plugin":"p","variant":"PART_VARIANT_NEITHER"`, ""},
		"variant of no plugin": {4, `{"text":"hello"`, `{"text":"hello","variant":"PART_VARIANT_DISPLAY_ONLY"`, "message.parts[0].variant"},
		"erased and there":     {4, `{"text":"hello"`, `{"text":"hello","erased":[` + erased + `]`, "message.parts[0].erased[0].originalLengthBytes"},
		"erased twice":         {4, `{"text":"hello"`, `{"text":"","erased":[` + erased + `,` + erased + `]`, "message.parts[0].erased[1].content"},
		"erased nowhere":       {4, `{"text":"hello"`, `{"text":"","erased":[` + strings.Replace(erased, `:0`, `:1`, 1) + `]`, "message.parts[0].erased[0].content"},
		"erased before all":    {4, `{"text":"hello"`, `{"text":"","erased":[` + strings.Replace(erased, `:0`, `:-1`, 1) + `]`, "message.parts[0].erased[0].content"},
		"erased bytes":         {4, `{"text":"hello"`, `{"text":"","erased":[` + strings.Replace(erased, `:2`, `:-2`, 1) + `]`, "message.parts[0].erased[0].originalLengthBytes"},
		"too much erased":      {4, `{"text":"hello"`, `{"text":"","erased":[` + strings.Replace(erased, `:2`, `:9223372036854775807`, 1) + `]`, "message.parts[0].erased[0].originalLengthBytes"},
		"erased characters":    {4, `{"text":"hello"`, `{"text":"","erased":[` + strings.Replace(erased, `:1`, `:3`, 1) + `]`, "message.parts[0].erased[0].originalLengthChars"},
		"nothing shown erased": {6, `{"text":"hello"`, `{"erased":[` + erased + `]`, "edit.parts[0].shown"},
		"shown keeps none":     {6, `{"text":"hello"`, `{"text":"hello","retention":{"keepLast":-1}`, "edit.parts[0].shown.retention.keepLast"},
		"shown, nothing":       {6, `{"text":"hello",`, `{`, "edit.parts[0].shown"},
		"restored edit":        {7, `"leadingSystem":0`, `"leadingSystem":0,"windowRestoredEdit":2`, "manifest.windowRestoredEdit"},
		"seen before":          {2, `"seen":0`, `"seen":0,"seenBefore":1`, "conversation.head.seenBefore"},
		"head's place":         {2, `"request":1`, `"request":1,"place":{"inputs":3}`, "conversation.head.place.inputs"},
		"another conversation": {3, `{"state":{"slots":{"s":"AQ=="}}}`, `{"conversation":{"head":{}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			lines := small(t)
			changed := strings.Replace(lines[c.line-1], c.old, c.new, 1)
			if changed == lines[c.line-1] {
				t.Fatal("the case changes nothing")
			}
			lines[c.line-1] = changed
			_, err := readAll(strings.Join(lines, "") + "\n")
			var fault *FaultError
			if !errors.As(err, &fault) || fault.Line != c.line || fault.Field != c.field {
				t.Errorf("got %#v", err)
			}
		})
	}
}

func TestReader_OutOfOrder_IsRefused(t *testing.T) {
	good := small(t)
	good[len(good)-1] += "\n"
	for i := range good {
		missing := strings.Join(append(append([]string{}, good[:i]...), good[i+1:]...), "")
		if i != 2 { // a conversation may have no state
			if _, err := readAll(missing); err == nil {
				t.Errorf("line %d is not missed", i+1)
			}
		}
		twice := strings.Join(append(append([]string{}, good[:i+1]...), good[i:]...), "")
		if _, err := readAll(twice); err == nil {
			t.Errorf("line %d is taken twice", i+1)
		}
	}
}

// endless is a line that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestReader_EndlessLine_IsRefused(t *testing.T) {
	_, err := NewReader(endless{}, &plenty{}).Next()
	var fault *FaultError
	if !errors.As(err, &fault) || fault.Line != 1 {
		t.Errorf("got %v", err)
	}
}

func FuzzReader_AnyBytes(f *testing.F) {
	f.Add(strings.Join(small(f), "") + "\n")
	for _, l := range small(f) {
		f.Add(l)
	}
	f.Add(strings.Join(summarized(f), "") + "\n")
	f.Add(strings.Join(sourced(f, 1), "") + "\n")
	f.Add(strings.Replace(strings.Join(small(f), "")+"\n", `{"text":"hello"`, `{"text":"","plugin":"p","variant":"PART_VARIANT_DISPLAY_ONLY","retention":{"keepLast":2},"erased":[`+erased+`]`, 2))
	f.Fuzz(func(t *testing.T, text string) {
		records, err := readAll(text)
		if err != nil {
			return
		}
		var out bytes.Buffer
		w := NewWriter(&out)
		for _, r := range records {
			if err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		if again, err := readAll(out.String()); err != nil || !cmp.Equal(again, records) {
			t.Errorf("what was taken is not taken again: %v", err)
		}
	})
}
