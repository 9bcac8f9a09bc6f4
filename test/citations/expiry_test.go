package citations

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

func noGrace() *durationpb.Duration { return durationpb.New(0) }

func (c *client) endRun(t testing.TB, conversation, run string) *pb.EndRunResponse {
	t.Helper()
	return must[*pb.EndRunResponse](t)(c.contents.EndRun(t.Context(), &pb.EndRunRequest{ConversationId: conversation, RunId: run, Grace: noGrace()}))
}

// ended is a conversation one of whose runs is over: what went with it, and what did not.
type ended struct {
	conversation string
	gone         []string
	stays        map[string]string // text by handle
	index        int32             // of the message whose original went
}

// end lives a conversation to the end of a run. Some of what goes has the same bytes as what stays.
func (w *world) end(t testing.TB, conversation string) *ended {
	t.Helper()
	w.create(t, conversation, func(p *pb.Policy) { p.Citations.ReleaseOnEndRun = new(true) })
	same, small := textOf(7, 100_000), textOf(8, 2_000)
	e := &ended{conversation: conversation, stays: map[string]string{}}
	for _, text := range []string{same, small, textOf(9, 90_000)} {
		e.gone = append(e.gone, w.keep(t, conversation, "over", text))
	}
	over := must[*pb.Receipt](t)(w.append(t.Context(), conversation, outcome{id: "c1", tool: "read", arguments: "{}", run: "over", text: same}))
	e.gone, e.index = append(e.gone, over.GetCitations()[0].GetContentId()), over.GetIndex()
	for i, run := range []string{"", "goes on"} {
		e.stays[w.keep(t, conversation, run, same)] = same
		e.stays[w.keep(t, conversation, run, small)] = small
		cited := w.cite(t, conversation, outcome{id: fmt.Sprint("d", i), tool: "read", arguments: "{}", run: run, text: same})
		e.stays[cited.GetContentId()] = same
	}
	if n := w.endRun(t, conversation, "over").GetScheduledContents(); n != int32(len(e.gone)) {
		t.Errorf("%d contents are scheduled, %d belong to the run", n, len(e.gone))
	}
	w.sweep(t)
	return e
}

// check demands that what is gone is gone, to whoever asks and however, and that all else is there.
func (e *ended) check(t *testing.T, c *client) {
	t.Helper()
	for _, handle := range e.gone {
		for how, ask := range askings() {
			got := ask(t.Context(), c, e.conversation, handle)
			if how := strings.HasPrefix(how, "a model"); how && !strings.Contains(got, "do not retry") || !how && !strings.Contains(got, "NotFound CONTENT_EXPIRED") {
				t.Errorf("%v: what is gone answers %s", how, got)
			}
		}
	}
	for handle, want := range e.stays {
		if got, err := c.text(t.Context(), e.conversation, handle); err != nil || got != want {
			t.Errorf("what stays comes back with %d bytes of %d (%v)", len(got), len(want), err)
		}
	}
	sources := c.sources(t, e.conversation)
	expired := 0
	for _, s := range sources {
		if s.GetState() == pb.ContentState_CONTENT_STATE_EXPIRED {
			expired++
		}
	}
	if len(sources) != len(e.gone)+len(e.stays) || expired != len(e.gone) {
		t.Errorf("of %d sources %d are gone", len(sources), expired)
	}
	found := must[*pb.SearchContentResponse](t)(c.contents.SearchContent(t.Context(), &pb.SearchContentRequest{
		ConversationId: e.conversation, Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"line 9"}, MaxExcerpts: 100},
	}))
	for _, x := range found.GetExcerpts() {
		if _, ok := e.stays[x.GetContentId()]; !ok {
			t.Error("a search finds what is gone")
		}
	}
	if got := must[*pb.GetMessageResponse](t)(c.conversations.GetMessage(t.Context(), &pb.GetMessageRequest{ConversationId: e.conversation, MessageIndex: e.index})).GetMessage(); got.GetParts()[0].GetErasure() == nil {
		t.Error("the original of a message of the run is still there")
	}
}

// TestEndRun_Gone_StaysGone: also in what is opened anew, exported and imported.
func TestEndRun_Gone_StaysGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "citations.db")
	var e *ended
	var export []byte
	t.Run("at once", func(t *testing.T) {
		w := worldOver(t, opened(t, path))
		e = w.end(t, "ending")
		e.check(t, w.client)
		w.sweep(t)
		e.check(t, w.client)
		must[*pb.BuildContextResponse](t)(w.agent.BuildContext(t.Context(), &pb.BuildContextRequest{ConversationId: "ending"}))
		export = w.export(t, "ending")
	})
	t.Run("opened anew", func(t *testing.T) {
		w := worldOver(t, opened(t, path))
		e.check(t, w.client)
		w.sweep(t)
		e.check(t, w.client)
	})
	t.Run("imported", func(t *testing.T) {
		w := newWorld(t)
		must[*pb.Conversation](t)(w.imported(t.Context(), "ending", export))
		e.check(t, w.client)
		w.sweep(t)
		e.check(t, w.client)
		if again := w.export(t, "ending"); string(again) != string(export) {
			t.Error("the export of an import is another")
		}
	})
}

func opened(t testing.TB, path string) *bolt.Store {
	t.Helper()
	return must[*bolt.Store](t)(bolt.Open(path, bolt.Options{}))
}

func (c *client) export(t testing.TB, conversation string) []byte {
	t.Helper()
	return must[[]byte](t)((&process.Client{Conversations: c.conversations}).Export(t.Context(), conversation))
}

func (c *client) imported(ctx context.Context, conversation string, export []byte) (*pb.Conversation, error) {
	return (&process.Client{Conversations: c.conversations}).Import(ctx, conversation, export, piece)
}

// TestEndRun_ManyContents_AllGoInOneSweep: the sweeper comes by every 20 seconds; a run of thousands is not to take hours.
func TestEndRun_ManyContents_AllGoInOneSweep(t *testing.T) {
	const contents = 1000
	w := newWorld(t)
	var last string
	for i := range contents {
		last = w.keep(t, "many", "run", fmt.Sprint("content ", i))
	}
	if n := w.endRun(t, "many", "run").GetScheduledContents(); n != contents {
		t.Errorf("%d contents are scheduled", n)
	}
	w.sweep(t)
	if _, err := w.text(t.Context(), "many", last); process.Reason(err) != "CONTENT_EXPIRED" {
		t.Errorf("after a sweep the last of %d contents answers %s", contents, told(err))
	}
}

// TestAppend_AfterItsRun_KeepsItsOriginal: an append is never refused for its run. A run that is over stays over: what comes late belongs
// to the conversation, and nothing ends it.
func TestAppend_AfterItsRun_KeepsItsOriginal(t *testing.T) {
	w := newWorld(t)
	w.create(t, "late", func(p *pb.Policy) { p.Citations.ReleaseOnEndRun = new(true) })
	w.keep(t, "late", "run", "early")
	w.endRun(t, "late", "run")
	w.sweep(t)
	text := textOf(1, 5000)
	late := w.cite(t, "late", outcome{id: "c", tool: "read", arguments: "{}", run: "run", text: text}).GetContentId()
	w.endRun(t, "late", "run")
	w.sweep(t)
	if got, err := w.text(t.Context(), "late", late); err != nil || got != text {
		t.Errorf("what came after its run was over answers %s", told(err))
	}
	for handle, s := range w.sources(t, "late") {
		if handle == late && s.GetExpireTime() != nil {
			t.Error("what nothing ends has a time when it goes")
		}
	}
}

// sources are all source records of a conversation.
func (c *client) sources(t testing.TB, conversation string) map[string]*pb.SourceRecord {
	t.Helper()
	out := map[string]*pb.SourceRecord{}
	request := &pb.ListSourcesRequest{ConversationId: conversation, PageSize: 1000}
	for {
		page := must[*pb.ListSourcesResponse](t)(c.contents.ListSources(t.Context(), request))
		for _, s := range page.GetSources() {
			out[s.GetContentId()] = s
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return out
		}
	}
}

// TestEndRun_SameBytesAtOnce_LeaveNothing: what several results of one batch say is stored once, and goes with the last of them.
func TestEndRun_SameBytesAtOnce_LeaveNothing(t *testing.T) {
	w := newWorld(t)
	w.create(t, "same", func(p *pb.Policy) { p.Citations.ReleaseOnEndRun = new(true) })
	text := textOf(1, 100_000)
	request := &pb.BatchAppendMessagesRequest{ConversationId: "same"}
	for i := range 3 {
		o := outcome{id: fmt.Sprint("c", i), tool: "read", arguments: "{}", run: "run", text: text}
		request.Items = append(request.Items, o.exchange()...)
	}
	must[*pb.BatchAppendMessagesResponse](t)(w.agent.BatchAppendMessages(t.Context(), request))
	for handle := range w.sources(t, "same") {
		if got, err := w.text(t.Context(), "same", handle); err != nil || got != text {
			t.Errorf("it comes back with %d bytes (%v)", len(got), err)
		}
	}
	w.endRun(t, "same", "run")
	w.sweep(t)
	left := must[*store.Snapshot](t)(w.kept.Read(t.Context(), store.Key{Namespace: "default", Conversation: "same"}, store.Query{SlotsOf: "content/bytes/"}))
	if n := len(left.Slots); n > 0 {
		t.Errorf("all that had them is gone, and the bytes of %d contents are kept", n)
	}
}

// TestSearchContent_RunsInTurns_IsLinear: ten times as many contents take ten times as long, also where two runs store in turns.
func TestSearchContent_RunsInTurns_IsLinear(t *testing.T) {
	testlane.Speed(t)
	const few, many, most = 200, 2000, 50 // what is quadratic takes a hundred times as long
	w := newWorld(t)
	took := map[int]time.Duration{}
	for _, n := range []int{few, many} {
		conversation := fmt.Sprint("turns-", n)
		w.create(t, conversation, func(p *pb.Policy) {
			p.Citations.ReleaseOnEndRun, p.Citations.ThresholdChars = new(true), new(int32(200))
		})
		text := textOf(1, 1900)
		for at := 0; at < n; at += few {
			request := &pb.BatchAppendMessagesRequest{ConversationId: conversation}
			for i := range few {
				o := outcome{id: fmt.Sprint("c", at+i), tool: "read", arguments: "{}", run: fmt.Sprint("run-", i%2), text: text}
				request.Items = append(request.Items, o.exchange()...)
			}
			must[*pb.BatchAppendMessagesResponse](t)(w.agent.BatchAppendMessages(t.Context(), request))
		}
		took[n] = time.Hour
		for range rounds {
			begun := time.Now()
			got := must[*pb.SearchContentResponse](t)(w.contents.SearchContent(t.Context(), &pb.SearchContentRequest{
				ConversationId: conversation, Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"zebra"}},
			}))
			took[n] = min(took[n], time.Since(begun))
			if int(got.GetSearchedContents()) != n {
				t.Fatalf("%d contents were searched", got.GetSearchedContents())
			}
		}
	}
	t.Logf("%d contents take %v, %d take %v", few, took[few], many, took[many])
	if took[many] > most*took[few] {
		t.Errorf("%d contents take %v, %d take %v", few, took[few], many, took[many])
	}
}

// TestEndRun_TimePassed_IsGoneBeforeTheSweeperComes: delete_time is a promise, not the sweeper's appointment.
func TestEndRun_TimePassed_IsGoneBeforeTheSweeperComes(t *testing.T) {
	w := newWorld(t)
	handle := w.keep(t, "passed", "run", textOf(1, 5000))
	due := w.endRun(t, "passed", "run").GetDeleteTime().AsTime()
	time.Sleep(time.Until(due) + time.Millisecond)
	for how, ask := range askings() {
		got := ask(t.Context(), w.client, "passed", handle)
		if !strings.Contains(got, "CONTENT_EXPIRED") && !strings.Contains(got, "do not retry") {
			t.Errorf("%s: a content that is past its time answers %.200s", how, got)
		}
	}
}

// TestEndRun_TheBinary_ForgetsAndKeeps: with the sidecar that ships, killed in between.
func TestEndRun_TheBinary_ForgetsAndKeeps(t *testing.T) {
	folder := t.TempDir()
	c, sidecar := startedOver(t, folder)
	gone, stays := c.keep(t, "c", "run", textOf(1, 200_000)), c.keep(t, "c", "", textOf(1, 200_000))
	c.endRun(t, "c", "run")
	sidecar.Kill()
	c, sidecar = startedOver(t, folder)
	deadline := time.Now().Add(10 * time.Second)
	for { // it sweeps when it starts
		_, err := c.text(t.Context(), "c", gone)
		if process.Reason(err) == "CONTENT_EXPIRED" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not gone: %s", told(err))
		}
		time.Sleep(20 * time.Millisecond)
	}
	sidecar.Kill()
	c, _ = startedOver(t, folder)
	if _, err := c.text(t.Context(), "c", gone); process.Reason(err) != "CONTENT_EXPIRED" {
		t.Errorf("it is back: %s", told(err))
	}
	if text, err := c.text(t.Context(), "c", stays); err != nil || text != textOf(1, 200_000) {
		t.Errorf("what was to stay is not there: %v", err)
	}
}
