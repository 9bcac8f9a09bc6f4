package grpcserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
)

// exported is an export, line by line, to be damaged.
type exported []map[string]json.RawMessage

func parseExport(t *testing.T, text []byte) exported {
	t.Helper()
	var out exported
	for raw := range bytes.Lines(text) {
		var l map[string]json.RawMessage
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// bytes writes the lines as they were, but for what was changed.
func (x exported) bytes() []byte {
	var out bytes.Buffer
	for _, l := range x {
		for key, value := range l {
			fmt.Fprintf(&out, "{%q:%s}\n", key, value)
		}
	}
	return out.Bytes()
}

// at finds the n-th line of a kind that holds a text.
func (x exported) at(t *testing.T, kind, holds string, n int) int {
	t.Helper()
	for i, l := range x {
		if value, ok := l[kind]; ok && bytes.Contains(value, []byte(holds)) {
			if n--; n < 0 {
				return i
			}
		}
	}
	t.Fatalf("the export has no %s with %s", kind, holds)
	return 0
}

// damage changes an export: the n-th line of a kind that holds a text, or the lines about it.
type damage struct {
	kind, holds string
	n           int
	change      func(x exported, at int) exported
}

// replaced is the change of a text in a line, everywhere in it.
func replaced(kind, holds, by string) damage {
	return damage{kind, holds, 0, func(x exported, at int) exported {
		x[at] = map[string]json.RawMessage{kind: bytes.ReplaceAll(x[at][kind], []byte(holds), []byte(by))}
		return x
	}}
}

func deleted(kind, holds string, n int) damage {
	return damage{kind, holds, n, func(x exported, at int) exported { return slices.Delete(x, at, at+1) }}
}

// rewritten changes the bytes of a chunk.
func rewritten(n int, change func([]byte) []byte) damage {
	return damage{"chunk", "", n, func(x exported, at int) exported {
		var c struct {
			ContentID string `json:"contentId"`
			Offset    int64  `json:"offsetBytes"`
			Data      []byte `json:"data"`
		}
		if json.Unmarshal(x[at]["chunk"], &c) != nil {
			panic("a chunk that cannot be read")
		}
		data := base64.StdEncoding.EncodeToString(change(c.Data))
		x[at] = map[string]json.RawMessage{"chunk": json.RawMessage(fmt.Sprintf(`{"contentId":%q,"offsetBytes":%d,"data":%q}`, c.ContentID, c.Offset, data))}
		return x
	}}
}

// damages are what can have become of contents on the way. Handles are those of the shelf: its results, and what it stored.
func damages(results, stored []string) map[string]damage {
	flip := func(at func(int) int) func([]byte) []byte {
		return func(b []byte) []byte { b[at(len(b))] ^= 1; return b }
	}
	first, last := func(int) int { return 0 }, func(n int) int { return n - 1 }
	out := map[string]damage{
		"a bit of the first byte":         rewritten(0, flip(first)),
		"a bit of a chunk in the middle":  rewritten(2, flip(first)),
		"a bit of the last byte":          rewritten(3, flip(last)),
		"a chunk of zeros":                rewritten(1, func(b []byte) []byte { return make([]byte, len(b)) }),
		"a chunk that is shorter":         rewritten(1, func(b []byte) []byte { return b[1:] }),
		"a last chunk that is shorter":    rewritten(3, func(b []byte) []byte { return b[:len(b)-1] }),
		"a chunk that is longer":          rewritten(3, func(b []byte) []byte { return append(b, 0) }),
		"an empty chunk":                  rewritten(0, func([]byte) []byte { return nil }),
		"a source without its chunks":     deleted("chunk", stored[0], 0),
		"a first chunk missing":           deleted("chunk", stored[1], 0),
		"a chunk missing":                 deleted("chunk", stored[1], 1),
		"a last chunk missing":            deleted("chunk", stored[1], 2),
		"chunks without their source":     deleted("source", stored[1], 0),
		"a result's source missing":       deleted("source", results[0], 0),
		"the last source missing":         deleted("source", stored[8], 0),
		"a cited result's edit missing":   deleted("edit", results[0], 0),
		"the entry that it came, missing": deleted("edit", stored[1], 0),
		"the last message missing":        deleted("message", `"go on"`, 2),
		"the message of a source missing": deleted("message", `"callId":"large"`, 1),
		"text of a message that is not":   replaced("source", `"citedAtAppend":{"messageIndex":2,`, `"citedAtAppend":{"messageIndex":999,`),
		"text of another message":         replaced("source", `"citedAtAppend":{"messageIndex":2,`, `"citedAtAppend":{"messageIndex":3,`),
		"text of a part that is not":      replaced("source", `{"messageIndex":2,"part":0}`, `{"messageIndex":2,"part":1}`),
		"text of a part before":           replaced("source", `{"messageIndex":2,"part":0}`, `{"messageIndex":2,"part":-1}`),
		"cited by a message that is not":  replaced("source", `"citedBy":[2]`, `"citedBy":[2,999]`),
		"cited by one before all":         replaced("source", `"citedBy":[2]`, `"citedBy":[-1]`),
		"a source with another's handle":  replaced("source", results[1], results[0]),
		"a stored source, a result's":     replaced("source", stored[0], results[0]),
		"chunks of another's handle":      replaced("chunk", stored[0], stored[1]),
		"chunks of a result's handle":     replaced("chunk", stored[0], results[0]),
		"an edit that shows another's":    replaced("edit", results[0], stored[0][:3]+results[0][3:]),
		"an entry about no content":       replaced("edit", `"contentId":"`+stored[1], `"contentId":"c99-aaaaaaaa`),
		"a handle that was never made":    replaced("edit", results[0], "c1-AAAAAAAA"),
		"another text than the hash says": replaced("message", "lighthouse", "lighthoüse"),
		"a run that is not":               replaced("source", `"runId":"kept"`, `"runId":"keep"`),
		"a run that is not in the state":  replaced("state", `"runId":"kept"`, `"runId":"keep"`),
		"gone, but with chunks":           replaced("source", stored[1]+`",`, stored[1]+`","expired":true,`),
	}
	for field, by := range map[string]string{`"totalBytes":`: `"totalBytes":1`, `"totalChars":`: `"totalChars":1`, `"sha256":"`: `"sha256":"` + strings.Repeat("0", 62) + `","x`} {
		out["another "+field] = replaced("source", field, by)
	}
	return out
}

// named finds which record of an export a fault is in.
func named() *regexp.Regexp { return regexp.MustCompile(`(line|source|edit|message) \d+`) }

// TestServer_ImportConversation_DamagedContents_AreRefused: what was lost or changed on the way is noticed, the refusal says of which
// record, and nothing comes of the import.
func TestServer_ImportConversation_DamagedContents_AreRefused(t *testing.T) {
	testlane.OneCaller(t)
	x := newShelf(t, "original")
	good := export(t, x.sidecar, "original")
	if again := parseExport(t, good).bytes(); !bytes.Equal(good, again) {
		t.Fatalf("the lines are others: %.500s", firstDifference(good, again))
	}
	var results, stored []string
	for _, s := range x.listSources(t, "original") {
		if s.GetCitedAtAppend() {
			results = append(results, s.GetContentId())
		} else {
			stored = append(stored, s.GetContentId())
		}
	}
	for what, d := range damages(results, stored) {
		landing := "landing: " + what // each under a name of its own, so that one that is taken does not hide the others
		t.Run(what, func(t *testing.T) {
			lines := parseExport(t, good)
			bad := d.change(lines, lines.at(t, d.kind, d.holds, d.n)).bytes()
			_, err := importAs(t.Context(), x.sidecar, landing, bad, 1<<20)
			v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
			if len(v) != 1 || !named().MatchString(v["chunk"]) || strings.Contains(err.Error(), "lighth") {
				t.Errorf("refused with %q", v)
			}
			x.landedNothing(t, landing)
		})
	}
	if _, err := importAs(t.Context(), x.sidecar, "landing", good, 1<<20); err != nil {
		t.Fatal(err)
	}
	x.same(t, "original", "landing")
}

func (x *shelf) landedNothing(t *testing.T, id string) {
	t.Helper()
	_, err := x.contents.ListSources(t.Context(), &pb.ListSourcesRequest{ConversationId: id})
	wantReason(t, err, codes.NotFound, "CONVERSATION_NOT_FOUND")
	_, err = x.contents.RetrieveContent(t.Context(), retrieve(func(r *pb.RetrieveContentRequest) {
		wholeContent(r)
		r.ConversationId = id
	}))
	wantReason(t, err, codes.NotFound, "CONVERSATION_NOT_FOUND")
}

// TestServer_ImportConversation_ContentsCutOff_AreRefused: an export of contents that ends anywhere is not whole.
func TestServer_ImportConversation_ContentsCutOff_AreRefused(t *testing.T) {
	testlane.OneCaller(t)
	x := newShelf(t, "original")
	good := export(t, x.sidecar, "original")
	lines, end := 0, 0
	for raw := range bytes.Lines(good) {
		lines++
		if cut := end + len(raw)/2; lines%4 == 0 {
			for _, at := range []int{end, cut} {
				_, err := importAs(t.Context(), x.sidecar, "landing", good[:at], 1<<20)
				v := wantReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
				if !named().MatchString(v["chunk"]) {
					t.Errorf("cut at %d: %q", at, v)
				}
			}
		}
		end += len(raw)
	}
	x.landedNothing(t, "landing")
}
