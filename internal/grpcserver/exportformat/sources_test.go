package exportformat

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
)

// sourced is a complete export of a message with a cited result, and of contents: the message's own, one in chunks, one that is
// gone, one that is empty.
func sourced(t testing.TB, size int) []string {
	t.Helper()
	at, sum := time.UnixMilli(1_800_000_000_123).UTC(), [32]byte{1, 31: 2}
	result := conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{
		CallID: "a", Text: conversation.Content{Inline: "long"}, Recalled: &conversation.Recalled{ContentID: "c9-zzzzzzzz"},
	}}
	shown := conversation.Part{Kind: conversation.PartToolResult, Result: &conversation.ToolResult{CallID: "a", Text: conversation.Content{Inline: "[c1] long. More"}}}
	shown.Citation = &conversation.Citation{
		ContentID: "c1-aaaaaaaa", SourceType: conversation.SourceTypeTool, ContentType: "text/plain", TotalBytes: 4, TotalChars: 4,
		Location: "beginning", ExcerptFrom: 5, ExcerptEnd: 9, HowFrom: 11,
	}
	source := func(id string, bytes int64) engine.Source {
		return engine.Source{ContentID: id, Type: conversation.SourceTypeWeb, Bytes: bytes, Chars: bytes, SHA256: &sum, Accessed: at, CitedBy: []int32{0}}
	}
	own, stored, gone, empty := source("c1-aaaaaaaa", 4), source("c2-bbbbbbbb", int64(size)), source("c3-cccccccc", 9), source("c4-dddddddd", 0)
	own.AtAppend, stored.RunID, stored.Expires, stored.Metadata = true, "run", at, `{"k": "v"}`
	gone.Expired, gone.RunID, gone.SHA256 = true, "over", nil
	var out bytes.Buffer
	w := NewWriter(&out)
	records := []engine.Record{
		{Conversation: &engine.Conversation{Head: engine.Head{Version: 9, Messages: 1, EditSeq: 3, Request: -1, CallOrdinal: 1}}},
		{State: &engine.State{Runs: []engine.Run{{ID: "run", Used: at, End: at}, {ID: "over", Used: at, End: at, Gone: true}}}},
		{Message: &conversation.Message{Role: conversation.RoleTool, Parts: []conversation.Part{result}}},
		{Edit: &conversation.Edit{Seq: 1, Kind: conversation.EditParts, Range: conversation.Range{End: 1}, Parts: []conversation.PartEdit{{Level: conversation.Cited, Shown: shown}}}},
		{Edit: &conversation.Edit{Seq: 2, Kind: conversation.EditStoreContent, Range: conversation.Range{First: 1, End: 1}, Content: "c2-bbbbbbbb"}},
		{Edit: &conversation.Edit{Seq: 3, Kind: conversation.EditExpireContent, Range: conversation.Range{First: 0, End: 1}, Content: "c3-cccccccc"}},
		{Source: &engine.SourceRecord{Source: own}},
		{Source: &engine.SourceRecord{Source: stored}},
	}
	for at := 0; at < size; at += engine.SourceChunkBytes {
		data := bytes.Repeat([]byte("x"), min(size-at, engine.SourceChunkBytes))
		records = append(records, engine.Record{Chunk: &engine.SourceChunk{ContentID: "c2-bbbbbbbb", Offset: int64(at), Data: data}})
	}
	records = append(records, engine.Record{Source: &engine.SourceRecord{Source: gone}}, engine.Record{Source: &engine.SourceRecord{Source: empty}})
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// twoChunks is the size of a content in two chunks, the second of one byte.
const twoChunks = engine.SourceChunkBytes + 1

func TestReader_Sources_RoundTrip(t *testing.T) {
	text := strings.Join(sourced(t, twoChunks), "") + "\n"
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
		t.Errorf("not the same bytes: %v", err)
	}
	if s := records[7].Source.Source; s.RunID != "run" || s.AtAppend || s.Expires.IsZero() || s.Metadata != `{"k": "v"}` {
		t.Errorf("got %+v", s)
	}
	if c := records[9].Chunk; c.Offset != engine.SourceChunkBytes || string(c.Data) != "x" {
		t.Errorf("got a chunk at %d of %d bytes", c.Offset, len(c.Data))
	}
	if r := records[2].Message.Parts[0].Result.Recalled; !cmp.Equal(r, &conversation.Recalled{ContentID: "c9-zzzzzzzz"}) {
		t.Errorf("got %+v", r)
	}
}

func TestReader_HostileSources_AreRefusedByField(t *testing.T) {
	const head, state, message, cite, store, own, stored, chunk, last, gone, empty, end = 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14
	long := strings.Repeat("x", 9000)
	for name, c := range map[string]struct {
		line     int
		old, new string
		field    string
	}{
		"two runs of a name":       {state, `"runId":"over"`, `"runId":"run"`, "state.runs[1].runId"},
		"a run without a name":     {state, `"runId":"run"`, `"runId":""`, "state.runs[0].runId"},
		"a run of a long name":     {state, `"runId":"run"`, `"runId":"` + long + `"`, "state.runs[0].runId"},
		"a run that is only gone":  {state, `,"endTime":"2027-01-15T08:00:00.123Z","gone"`, `,"gone"`, "state.runs[1].endTime"},
		"a run's exact end":        {state, `endTime":"2027-01-15T08:00:00.123Z`, `endTime":"2027-01-15T08:00:00.1234Z`, "state.runs[0].endTime"},
		"a run's exact use":        {state, `lastUseTime":"2027-01-15T08:00:00.123Z`, `lastUseTime":"2027-01-15T08:00:00.123000001Z`, "state.runs[0].lastUseTime"},
		"recalled from nothing":    {message, `{"contentId":"c9-zzzzzzzz"}`, `{}`, "message.parts[0].toolResult.recalledFrom"},
		"recalled from both":       {message, `{"contentId":"c9-zzzzzzzz"}`, `{"contentId":"c9-zzzzzzzz","messageIndex":0}`, "message.parts[0].toolResult.recalledFrom"},
		"recalled from before":     {message, `{"contentId":"c9-zzzzzzzz"}`, `{"messageIndex":-1}`, "message.parts[0].toolResult.recalledFrom.messageIndex"},
		"recalled at length":       {message, `c9-zzzzzzzz`, long, "message.parts[0].toolResult.recalledFrom.contentId"},
		"a message that cites":     {message, `"tokens":0`, `"tokens":0,"citation":{}`, "message.parts[0].citation"},
		"cited at another level":   {cite, `LEVEL_CITED`, `LEVEL_CLEARED`, "edit.parts[0].shown.citation"},
		"cited media":              {cite, `"shown":{`, `"shown":{"media":{"mimeType":"a"},"citation":{}}},{"part":0,"level":"VIEW_LEVEL_CITED","shown":{`, "edit.parts[0].shown.citation"},
		"a long handle":            {cite, `c1-aaaaaaaa`, long, "edit.parts[0].shown.citation.contentId"},
		"a long location":          {cite, `beginning`, long, "edit.parts[0].shown.citation.location"},
		"a long address":           {cite, `"location"`, `"sourceUrl":"` + long + `","location"`, "edit.parts[0].shown.citation.sourceUrl"},
		"more characters":          {cite, `"totalChars":4`, `"totalChars":5`, "edit.parts[0].shown.citation.totalChars"},
		"fewer than no bytes":      {cite, `"totalBytes":4`, `"totalBytes":-4`, "edit.parts[0].shown.citation.totalBytes"},
		"an excerpt from behind":   {cite, `"excerptStart":5`, `"excerptStart":10`, "edit.parts[0].shown.citation.excerptStart"},
		"an excerpt from before":   {cite, `"excerptStart":5`, `"excerptStart":-1`, "edit.parts[0].shown.citation.excerptStart"},
		"no way to get more":       {cite, `"howToRetrieveStart":11`, `"howToRetrieveStart":-1`, "edit.parts[0].shown.citation.howToRetrieveStart"},
		"an unknown source":        {cite, `SOURCE_TYPE_TOOL`, `SOURCE_TYPE_DREAM`, ""},
		"no content":               {store, `,"contentId":"c2-bbbbbbbb"`, ``, "edit.contentId"},
		"a long content":           {store, `c2-bbbbbbbb`, long, "edit.contentId"},
		"a content of another":     {cite, `"seq":1`, `"seq":1,"contentId":"c1-aaaaaaaa"`, "edit.contentId"},
		"after the last":           {store, `"start":1,"end":1`, `"start":2,"end":2`, "edit.range"},
		"before the first":         {store, `"start":1,"end":1`, `"start":-1,"end":-1`, "edit.range"},
		"parts of no message":      {store, `"range":{"start":1,"end":1}`, `"range":{"start":1,"end":1},"mask":[0]`, "edit.range"},
		"a long source's address":  {stored, `"totalBytes"`, `"sourceUrl":"` + long + `","totalBytes"`, "source.sourceUrl"},
		"a long media type":        {own, `"totalBytes"`, `"contentType":"` + long + `","totalBytes"`, "source.contentType"},
		"a long source":            {own, `c1-aaaaaaaa`, long, "source.contentId"},
		"much metadata":            {stored, `{\"k\": \"v\"}`, `{\"k\": \"` + long + `\"}`, "source.metadataJson"},
		"metadata, no object":      {stored, `{\"k\": \"v\"}`, `[1]`, "source.metadataJson"},
		"metadata, no JSON":        {stored, `{\"k\": \"v\"}`, `{`, "source.metadataJson"},
		"a source's long run":      {stored, `"runId":"run"`, `"runId":"` + long + `"`, "source.runId"},
		"a source of no size":      {own, `"totalBytes":4`, `"totalBytes":-1`, "source.totalBytes"},
		"a source of any size":     {own, `"totalBytes":4`, `"totalBytes":1073741825`, "source.totalBytes"},
		"a source's characters":    {own, `"totalChars":4`, `"totalChars":5`, "source.totalChars"},
		"no hash":                  {own, `"sha256":"0100000000000000000000000000000000000000000000000000000000000002",`, ``, "source.sha256"},
		"half a hash":              {own, `0100000000000000000000000000000000000000000000000000000000000002`, `0100`, ""},
		"an exact time":            {own, `.123Z`, `.1239Z`, "source.accessTime"},
		"an exact end":             {stored, `"expireTime":"2027-01-15T08:00:00.123Z`, `"expireTime":"2027-01-15T08:00:00.1231Z`, "source.expireTime"},
		"an end without a run":     {stored, `"runId":"run",`, ``, "source.expireTime"},
		"an end after the end":     {gone, `"runId":"over"`, `"runId":"over","expireTime":"2027-01-15T08:00:00Z"`, "source.expireTime"},
		"cited by the future":      {own, `"citedBy":[0]`, `"citedBy":[0,1]`, "source.citedBy[1]"},
		"cited by many":            {own, `"citedBy":[0]`, `"citedBy":[0` + strings.Repeat(",0", 100) + `]`, "source.citedBy"},
		"text of no message":       {own, `"messageIndex":0`, `"messageIndex":1`, "source.citedAtAppend.messageIndex"},
		"text of no part":          {own, `"part":0`, `"part":1`, "source.citedAtAppend.part"},
		"chunks of a message's":    {stored, `"totalBytes":262145`, `"totalBytes":262145,"citedAtAppend":{"messageIndex":0,"part":0}`, "chunk"},
		"a chunk at another place": {last, `"offsetBytes":262144`, `"offsetBytes":0`, "chunk.offsetBytes"},
		"a chunk of another":       {last, `c2-bbbbbbbb`, `c1-aaaaaaaa`, "chunk"},
		"a longer chunk":           {last, `"eA=="`, `"eHg="`, "chunk.data"},
		"an empty chunk":           {last, `"eA=="`, `""`, "chunk.data"},
		"no base64":                {last, `"eA=="`, `"?"`, ""},
		"a small chunk":            {chunk, `"data":"eHh4`, `"data":"`, "chunk.data"},
		"fewer sources":            {end, `"sources":4`, `"sources":3`, "end.sources"},
		"no sources":               {end, `,"sources":4`, ``, "end.sources"},
		"a message after them":     {empty, `{"source"`, `{"message":{"index":1,"role":"ROLE_USER","parts":[],"turnAdded":0,"tokenCount":0,"commit":0}}` + "\n" + `{"source"`, ""},
		"more edits than the head": {head, `"editSeq":3`, `"editSeq":2`, "edit.seq"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := sourced(t, twoChunks)
			changed := strings.Replace(lines[c.line-1], c.old, c.new, 1)
			if changed == lines[c.line-1] {
				t.Fatal("the case changes nothing")
			}
			lines[c.line-1] = changed
			_, err := readAll(strings.Join(lines, "") + "\n")
			var fault *FaultError
			if !errors.As(err, &fault) || fault.Field != c.field || strings.Contains(fault.Text, long) {
				t.Errorf("got %#v", err)
			}
		})
	}
}

// TestReader_SourcesOutOfOrder_AreRefused: no line of them may be missing or come twice.
func TestReader_SourcesOutOfOrder_AreRefused(t *testing.T) {
	good := sourced(t, twoChunks)
	good[len(good)-1] += "\n"
	for i := range good {
		missing := strings.Join(append(append([]string{}, good[:i]...), good[i+1:]...), "")
		if _, err := readAll(missing); err == nil && i != 2 { // a conversation may have no state
			t.Errorf("line %d is not missed", i+1)
		}
		twice := strings.Join(append(append([]string{}, good[:i+1]...), good[i:]...), "")
		if _, err := readAll(twice); err == nil {
			t.Errorf("line %d is taken twice", i+1)
		}
	}
	end := strings.Replace(good[len(good)-1], `"sources":4`, `"sources":2`, 1)
	if _, err := readAll(strings.Join(append(append([]string{}, good[:10]...), end), "")); err == nil {
		t.Error("the last chunk of the last source is not missed")
	}
}
