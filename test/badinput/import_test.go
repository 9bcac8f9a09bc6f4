package badinput

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/proptest"
)

// landing is where broken imports would come down. It must stay empty.
const landing = "landing"

// importChunk cuts lines in two, which must not matter.
const importChunk = 777

func (w *world) refusesImport(t *testing.T, export []byte) {
	t.Helper()
	_, err := w.Import(w.ctx, landing, export, importChunk)
	w.refused(t, err)
}

func (w *world) refused(t *testing.T, err error) {
	t.Helper()
	invalid("chunk").holds(t, err)
	w.nothingLanded(t)
}

func (w *world) nothingLanded(t *testing.T) {
	t.Helper()
	_, err := w.Conversations.GetConversation(w.ctx, &pb.GetConversationRequest{ConversationId: landing})
	refusal{codes.NotFound, "CONVERSATION_NOT_FOUND", nil}.holds(t, err)
	w.unchanged(t)
}

// TestImport_CutAnywhere_LeavesNothing cuts an export behind each of its lines and in the middle of each.
func TestImport_CutAnywhere_LeavesNothing(t *testing.T) {
	w := newWorld(t)
	end := 0
	for raw := range bytes.Lines(w.export) {
		for _, cut := range []int{end, end + len(raw)/2, end + len(raw) - 1} {
			w.refusesImport(t, w.export[:cut])
		}
		end += len(raw)
	}
}

// forgery is a change that makes an export contradict itself, or the rules of the API.
type forgery struct {
	what   string
	change func([]line) []line
}

// where finds the n-th line with a key.
func where(lines []line, key string, n int) int {
	for i, l := range lines {
		if _, ok := l[key]; !ok {
			continue
		}
		if n--; n < 0 {
			return i
		}
	}
	panic("the export has not enough lines with the key " + key)
}

// slot is what a path's last step leads to in what the others lead to: a name in an object, or a number in a list.
func slot(holder, step any) (get func() any, put func(any)) {
	switch step := step.(type) {
	case string:
		if l, ok := holder.(line); ok {
			return func() any { return l[step] }, func(v any) { l[step] = v }
		}
	case int:
		if l, ok := holder.([]any); ok {
			return func() any { return l[step] }, func(v any) { l[step] = v }
		}
	}
	panic(fmt.Sprintf("the export has no %v where one was expected", step))
}

// set is the forgery of one value, by the path to it from the n-th line with a key.
func set(n int, value any, key string, path ...any) forgery {
	what := fmt.Sprintf("%s %d %v set to %.40v", key, n, path, value)
	return forgery{what, func(lines []line) []line {
		get, put := slot(lines[where(lines, key, n)], key)
		for _, step := range path {
			get, put = slot(get(), step)
		}
		put(value)
		return lines
	}}
}

func swapped(key string, a int, other string, b int) forgery {
	return forgery{fmt.Sprintf("%s %d and %s %d change places", key, a, other, b), func(lines []line) []line {
		i, j := where(lines, key, a), where(lines, other, b)
		lines[i], lines[j] = lines[j], lines[i]
		return lines
	}}
}

func doubled(key string) forgery {
	return forgery{"a second " + key, func(lines []line) []line {
		i := where(lines, key, 0)
		return slices.Insert(lines, i+1, lines[i])
	}}
}

func without(key string, n int) forgery {
	return forgery{fmt.Sprintf("without %s %d", key, n), func(lines []line) []line {
		i := where(lines, key, n)
		return slices.Delete(lines, i, i+1)
	}}
}

const (
	header = "palimpsest_export"
	most32 = 1<<31 - 1
)

func forgeries() []forgery {
	head := func(field string, values ...any) (out []forgery) {
		for _, v := range values {
			out = append(out, set(0, v, "conversation", "head", field))
		}
		return out
	}
	all := []forgery{
		swapped("message", 0, "message", 1), swapped("message", 2, "message", 3), swapped("conversation", 0, "message", 0),
		swapped(header, 0, "conversation", 0), swapped("edit", 0, "message", 3), swapped("manifest", 0, "manifest", 1),
		swapped("state", 0, "message", 6), swapped("end", 0, "manifest", 1),
		doubled("conversation"), doubled(header), doubled("state"), doubled("message"), doubled("edit"), doubled("manifest"), doubled("end"),
		without(header, 0), without("conversation", 0), without("message", 0), without("message", 6), without("edit", 0), without("manifest", 1), without("end", 0),
		set(0, 2, header), set(0, -1, header), set(0, secret, header),
		set(0, 6, "end", "messages"), set(0, most32, "end", "messages"), set(0, -1, "end", "edits"), set(0, 3, "end", "manifests"),
		set(0, secret, "conversation", "counter"), set(0, "["+secret, "conversation", "metadataJson"), set(0, strings.Repeat(secret, 100), "conversation", "title"),
		set(0, map[string]any{"contextWindowTokens": -1}, "conversation", "policy", "fit"), set(0, 1, "conversation", "policy", "ttlNanos"),
		set(0, secret, "conversation", secret), set(0, 1.5, "conversation", "head", "turn"), set(0, secret, "conversation", "head", "turn"),
		set(0, map[string]any{secret: "AAAA"}, "state", "slots"), set(0, map[string]any{"": "AAAA"}, "state", "slots"),
		set(2, 2, "message", "parts", 0, "toolCall", "ordinal"), set(2, 0, "message", "parts", 1, "toolCall", "ordinal"),
		set(2, -1, "message", "parts", 0, "toolCall", "ordinal"), set(2, most32, "message", "parts", 0, "toolCall", "ordinal"),
		set(3, 2, "message", "parts", 0, "toolResult", "ordinal"), set(3, 0, "message", "parts", 0, "toolResult", "ordinal"), set(3, secret, "message", "parts", 0, "toolResult", "callId"),
		set(1, "ROLE_TOOL", "message", "role"), set(1, secret, "message", "role"), set(1, most32, "message", "index"), set(1, -1, "message", "index"),
		set(1, 5, "message", "tokenCount"), set(1, -5, "message", "tokenCount"), set(1, most32, "message", "tokenCount"), set(1, 9, "message", "turnAdded"), set(1, -1, "message", "turnAdded"),
		set(1, 1<<40, "message", "commit"), set(1, []any{}, "message", "parts"), set(1, map[string]any{"tokens": 1}, "message", "parts", 0), set(1, -1, "message", "parts", 0, "tokens"),
		set(1, map[string]any{"text": secret, "opaque": map[string]any{"provider": "x", "json": "{}"}, "tokens": 1}, "message", "parts", 0),
		set(1, "null", "message", "metadataJson"), set(1, repeated[any](secret, 65), "message", "tags"), set(1, secret, "message", "createTime"),
		set(0, 2, "edit", "seq"), set(0, map[string]any{"start": 6, "end": 9}, "edit", "range"), set(0, map[string]any{"start": 3, "end": 3}, "edit", "range"), set(0, map[string]any{"start": -1, "end": 0}, "edit", "range"),
		set(0, 7, "edit", "parts", 0, "part"), set(0, -1, "edit", "parts", 0, "part"), set(0, secret, "edit", "kind"), set(0, []any{9}, "edit", "mask"), set(0, map[string]any{"id": 1, "text": secret}, "edit", "summary"),
		set(0, most32, "manifest", "messageCount"), set(0, -1, "manifest", "messageCount"), set(0, 99, "manifest", "editSeq"), set(0, 99, "manifest", "turn"), set(0, 7, "manifest", "windowStartIndex"), set(0, 9, "manifest", "seq"),
		set(0, -2, "manifest", "windowRequestIndex"), set(0, 9, "manifest", "leadingSystem"), set(0, secret, "manifest", "contentSha256"), set(0, secret, "manifest", "format"), set(0, []any{map[string]any{"start": 1, "end": 99}}, "manifest", "pins"),
	}
	return slices.Concat(all, head("messageCount", 6, 8, most32, -1, 1<<40), head("version", 0, -1, uint64(1)<<63), head("revision", -1),
		head("tokenCount", 0, -1, 1<<62), head("editSeq", 0, 2, -1), head("manifestSeq", 1, -1), head("turn", -1, 1<<31), head("seen", 8, -1),
		head("windowStartIndex", 8, -1), head("lastManifest", []any{}, []any{0, 0, 0, 0, 0, 99}, repeated[any](0, 1000)), head("callOrdinal", 1, -1), head("unitStart", 99), head("leadingSystem", -1), head("request", 7),
		head("unanswered", []any{map[string]any{"callId": secret, "ordinal": 9, "message": 0}}), head("pins", []any{map[string]any{"start": 1, "end": 0}}))
}

// TestImport_Forged_IsRefusedAndLeavesNothing imports every forgery.
func TestImport_Forged_IsRefusedAndLeavesNothing(t *testing.T) {
	w := newWorld(t)
	for _, f := range forgeries() {
		t.Run(f.what, func(t *testing.T) { w.refusesImport(t, joined(t, f.change(linesOf(t, w.export)))) })
	}
	for what, tail := range map[string]string{"an empty line": "\n", "a word": secret, "another export": string(w.export)} {
		t.Run("behind the end "+what, func(t *testing.T) { w.refusesImport(t, append(slices.Clone(w.export), tail...)) })
	}
	for what, text := range map[string]string{
		"nothing": "", "no lines": secret, "no JSON": secret + "\n", "nesting": strings.Repeat("[", 200_000) + "\n", "two values": `{"palimpsest_export":1}{}` + "\n",
		"two keys": `{"palimpsest_export":1,"end":{}}` + "\n", "null": "null\n", "array": `["` + secret + `"]` + "\n", "bytes": "\xff\xfe\x00\n",
	} {
		t.Run(what, func(t *testing.T) { w.refusesImport(t, []byte(text)) })
	}
	if strings.Contains(w.sidecar.Log(), secret) {
		t.Error("the log repeats what an import said")
	}
}

func named(id string) *pb.ImportConversationRequest {
	return &pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_ConversationId{ConversationId: id}}
}

func chunk(b []byte) *pb.ImportConversationRequest {
	return &pb.ImportConversationRequest{Payload: &pb.ImportConversationRequest_Chunk{Chunk: b}}
}

// TestImport_PiecesOutOfPlace_AreRefused sends the pieces of imports in every wrong way.
func TestImport_PiecesOutOfPlace_AreRefused(t *testing.T) {
	w := newWorld(t)
	half := len(w.export) / 2
	type pieces []*pb.ImportConversationRequest
	for what, c := range map[string]struct {
		pieces pieces
		want   refusal
	}{
		"none":                   {nil, invalid("conversation_id")},
		"empty piece":            {pieces{{}}, invalid("payload")},
		"no id":                  {pieces{chunk(w.export)}, invalid("conversation_id")},
		"empty id":               {pieces{named(""), chunk(w.export)}, invalid("conversation_id")},
		"id too long":            {pieces{named(strings.Repeat(secret, 20)), chunk(w.export)}, invalid("conversation_id")},
		"id with a control":      {pieces{named(secret + "\t"), chunk(w.export)}, invalid("conversation_id")},
		"second id in the midst": {pieces{named(landing), chunk(w.export[:half]), named(secret), chunk(w.export[half:])}, invalid("conversation_id")},
		"empty piece in between": {pieces{named(landing), chunk(w.export[:half]), {}, chunk(w.export[half:])}, invalid("payload")},
		"chunk over its limit":   {pieces{named(landing), chunk(make([]byte, 16<<20+1))}, invalid("chunk")},
		"over the transport":     {pieces{named(landing), chunk(make([]byte, 17<<20))}, refusal{codes.ResourceExhausted, "", nil}},
		"an id that is taken":    {pieces{named(target), chunk(w.export)}, refusal{codes.AlreadyExists, "CONVERSATION_EXISTS", nil}},
		"an id that is deleted":  {pieces{named(gone), chunk(w.export)}, refusal{codes.NotFound, "CONVERSATION_DELETED", nil}},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := w.ImportPieces(w.ctx, c.pieces...)
			c.want.holds(t, err)
			w.nothingLanded(t)
		})
	}
}

// mutations is how many damaged exports are tried.
const mutations = 300

// TestImport_Damaged_IsRefusedOrUsable damages an export anywhere. What is taken all the same, because it contradicts nothing,
// must be a conversation that every call can be made about.
func TestImport_Damaged_IsRefusedOrUsable(t *testing.T) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(proptest.Seed(t), 0))
	taken := 0
	sources := [][]byte{w.export, w.before[agedExport], w.before[citedExport]}
	for i := range mutations {
		source := sources[i%len(sources)]
		export, id := damage(r, source), fmt.Sprintf("damaged-%d", i)
		if _, err := w.Import(w.ctx, id, export, 1<<20); err != nil {
			invalid("chunk").holds(t, err)
			continue
		}
		taken++
		w.usable(t, id)
		if t.Failed() {
			t.Fatalf("damage %d: %s", i, difference(source, export))
		}
	}
	t.Logf("%d of %d damaged exports were taken, and can be used", taken, mutations)
}

// damage changes a bit or a digit, or puts a digit in, or takes a few bytes out.
func damage(r *rand.Rand, text []byte) []byte {
	out := slices.Clone(text)
	at := r.IntN(len(out))
	switch r.IntN(4) {
	case 0:
		out[at] ^= 1 << r.IntN(7)
	case 1:
		for at < len(out)-1 && (out[at] < '0' || out[at] > '9') {
			at++
		}
		out[at] = byte('0' + r.IntN(10))
	case 2:
		out = slices.Insert(out, at, byte('0'+r.IntN(10)))
	default:
		out = slices.Delete(out, at, min(at+1+r.IntN(8), len(out)))
	}
	return out
}

func difference(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	around := func(s []byte) []byte { return s[max(0, i-60):min(len(s), i+60)] }
	return fmt.Sprintf("%q became %q", around(a), around(b))
}

func works(t *testing.T, rpc string, err error) {
	t.Helper()
	if c := status.Code(err); c == codes.Internal || c == codes.DataLoss || c == codes.Unknown || c == codes.Unavailable {
		t.Errorf("%s of an imported conversation: %v", rpc, err)
	}
}

// usableContents makes the calls about contents, and takes in and lets go one more.
func (w *world) usableContents(t *testing.T, id string) {
	t.Helper()
	sources, err := w.Contents.ListSources(w.ctx, &pb.ListSourcesRequest{ConversationId: id})
	works(t, "ListSources", err)
	for _, s := range sources.GetSources() {
		found := &pb.RetrieveContentRequest{ConversationId: id, ContentId: s.GetContentId(), Selection: &pb.RetrieveContentRequest_Excerpts{Excerpts: looking("harbour")}}
		works(t, "RetrieveContent", w.send(t, found))
		all, err := w.Stream(w.ctx, &pb.StreamContentRequest{ConversationId: id, ContentId: s.GetContentId()})
		if works(t, "StreamContent", err); err == nil && sumOf(all) != s.GetSha256() {
			t.Errorf("%v streams %d bytes of another hash", s, len(all))
		}
	}
	works(t, "SearchContent", w.send(t, &pb.SearchContentRequest{ConversationId: id, Excerpts: looking("harbour")}))
	works(t, "SearchMessages", w.send(t, &pb.SearchMessagesRequest{ConversationId: id, Query: "harbour"}))
	works(t, "AnswerToolCall", w.send(t, answering(id, "search_conversation", `{"query":"harbour"}`)))
	works(t, "StoreContent", w.send(t, []*pb.StoreContentRequest{storing(&pb.StoreContentHeader{ConversationId: id, RunId: keptRun}), storedBytes([]byte("one more"))}))
	works(t, "EndRun", w.send(t, &pb.EndRunRequest{ConversationId: id, RunId: keptRun}))
}

// usable makes the calls that read all of a conversation, and appends to it and builds.
func (w *world) usable(t *testing.T, id string) {
	t.Helper()
	for rpc, err := range map[string]error{
		"BuildContext":         w.send(t, &pb.BuildContextRequest{ConversationId: id}),
		"BuildContext smaller": w.send(t, &pb.BuildContextRequest{ConversationId: id, Format: 3, Budget: &pb.Budget{MaxContextTokens: new(int32(2000))}}),
		"AppendMessage":        w.send(t, &pb.AppendMessageRequest{ConversationId: id, Message: user("more")}),
		"ListManifests":        w.send(t, &pb.ListManifestsRequest{ConversationId: id}),
		"ExpandMessage":        w.send(t, &pb.ExpandMessageRequest{ConversationId: id, Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: 2}}),
		"ExpandMessage, text":  w.send(t, &pb.ExpandMessageRequest{ConversationId: id, Target: &pb.ExpandMessageRequest_MessageIndex{MessageIndex: 4}, MaxTokens: 50}),
		"GetManifest":          w.send(t, &pb.GetManifestRequest{ConversationId: id, ManifestId: "b1"}),
		"ListMessages":         w.send(t, &pb.ListMessagesRequest{ConversationId: id, View: pb.ListView_LIST_VIEW_CURRENT}),
		"CountMessages":        w.send(t, &pb.CountMessagesRequest{ConversationId: id}),
	} {
		works(t, rpc, err)
	}
	w.usableContents(t, id)
	again := must[[]byte](t)(w.Export(w.ctx, id))
	if _, err := w.Import(w.ctx, id+"-again", again, 1<<20); err != nil {
		t.Errorf("the export of an imported conversation is refused: %v", err)
	}
}
