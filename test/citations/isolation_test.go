package citations

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

// asked is one way to ask for a content: it says all that the caller gets to know.
type asked func(ctx context.Context, c *client, conversation, handle string) string

// told is what an error tells.
func told(err error) string {
	return fmt.Sprintf("%v %s %q", status.Code(err), process.Reason(err), status.Convert(err).Message())
}

// askings are all ways to name a content to the API.
func askings() map[string]asked {
	ranged := func(r *pb.ContentRange) asked {
		return func(ctx context.Context, c *client, conversation, handle string) string {
			got, err := c.part(ctx, conversation, handle, r)
			return fmt.Sprint(told(err), len(got.GetChunk()))
		}
	}
	span := &pb.Span{StartIndex: 3, EndIndex: new(int64(9))}
	return map[string]asked{
		"bytes": ranged(&pb.ContentRange{Unit: &pb.ContentRange_Bytes{Bytes: span}}),
		"chars": ranged(&pb.ContentRange{Unit: &pb.ContentRange_Chars{Chars: span}}),
		"lines": ranged(&pb.ContentRange{Unit: &pb.ContentRange_Lines{Lines: span}}),
		"items": ranged(&pb.ContentRange{Unit: &pb.ContentRange_Items{Items: span}}),
		"full": func(ctx context.Context, c *client, conversation, handle string) string {
			got, err := c.contents.RetrieveContent(ctx, &pb.RetrieveContentRequest{
				ConversationId: conversation, ContentId: handle, Selection: &pb.RetrieveContentRequest_Full{Full: &pb.FullContent{}},
			})
			return fmt.Sprint(told(err), len(got.GetChunk()))
		},
		"excerpts": func(ctx context.Context, c *client, conversation, handle string) string {
			found, err := c.excerpts(ctx, conversation, handle, "secret")
			return fmt.Sprint(told(err), len(found))
		},
		"stream": func(ctx context.Context, c *client, conversation, handle string) string {
			return told(c.fetch(ctx, conversation, handle, 2, io.Discard))
		},
		"a model": func(ctx context.Context, c *client, conversation, handle string) string {
			return answered(ctx, c, conversation, fmt.Sprintf(`{"content_id": %q, "search_terms": ["secret"]}`, handle))
		},
		"a model, for a range": func(ctx context.Context, c *client, conversation, handle string) string {
			return answered(ctx, c, conversation, fmt.Sprintf(`{"content_id": %q, "start": 0, "end": 9, "unit": "lines"}`, handle))
		},
	}
}

func answered(ctx context.Context, c *client, conversation, arguments string) string {
	got, err := c.recall(ctx, conversation, &pb.ToolCall{CallId: "x", Name: "retrieve_content", ArgumentsJson: arguments}, 0)
	r := got.GetToolResult()
	return fmt.Sprintf("%s %v %q %v", told(err), r.GetState(), r.GetText(), r.GetRecalledFrom())
}

// TestHandle_OfAnother_LooksAbsent: nobody learns from a handle whether it exists elsewhere.
func TestHandle_OfAnother_LooksAbsent(t *testing.T) {
	w := newWorld(t)
	const secret = "the secret of the other conversation"
	w.create(t, "mine", nil)
	w.create(t, "other", nil)
	own := w.keep(t, "mine", "", textOf(1, 5000))
	var foreign []string
	for i := range 3 { // numbers that the own conversation has, and that it has not
		foreign = append(foreign, w.keep(t, "other", "", fmt.Sprint(secret, textOf(uint64(i), 5000))))
	}
	expired := w.keep(t, "other", "over", secret)
	must[*pb.EndRunResponse](t)(w.contents.EndRun(t.Context(), &pb.EndRunRequest{ConversationId: "other", RunId: "over", Grace: noGrace()}))
	w.sweep(t)
	foreign = append(foreign, expired)
	for how, ask := range askings() {
		if got := ask(t.Context(), w.client, "mine", own); strings.Contains(got, "CONTENT_NOT_FOUND") {
			t.Fatalf("%s: the own content is not found: nothing is tested", how)
		}
		absent := strings.ReplaceAll(ask(t.Context(), w.client, "mine", "c77-aaaaaaaa"), "c77-aaaaaaaa", "HANDLE")
		if !strings.Contains(absent, "no content") {
			t.Fatalf("%s: an absent handle answers %s", how, absent)
		}
		for _, handle := range foreign {
			if got := strings.ReplaceAll(ask(t.Context(), w.client, "mine", handle), handle, "HANDLE"); got != absent {
				t.Errorf("%s: another's handle answers\n%s\nand an absent one\n%s", how, got, absent)
			}
		}
	}
}

// TestSearch_OverManyConversations_ReturnsNothingForeign: all say almost the same, under names that look alike.
func TestSearch_OverManyConversations_ReturnsNothingForeign(t *testing.T) {
	const conversations = 500
	w := newWorld(t)
	name := func(i int) string { return fmt.Sprintf("conversation-%d", i) }
	own := make([]string, conversations)
	for i := range own {
		w.create(t, name(i), nil)
		said := fmt.Sprintf("The harbour ledger belongs to owner%dx.\n%s", i, textOf(uint64(i), 1500))
		own[i] = w.cite(t, name(i), outcome{id: "c", tool: "read", arguments: "{}", text: said}).GetContentId()
	}
	owners := regexp.MustCompile(`owner\d+x`)
	for i, handle := range own {
		mark := fmt.Sprintf("owner%dx", i)
		got := must[*pb.SearchContentResponse](t)(w.contents.SearchContent(t.Context(), &pb.SearchContentRequest{
			ConversationId: name(i), Excerpts: &pb.ExcerptQuery{SearchTerms: []string{"harbour ledger owner", "owner7x"}, MaxExcerpts: 100},
		}))
		if len(got.GetExcerpts()) == 0 || got.GetSearchedContents() != 1 {
			t.Fatalf("%d excerpts of %d contents", len(got.GetExcerpts()), got.GetSearchedContents())
		}
		for _, x := range got.GetExcerpts() {
			if x.GetContentId() != handle || owners.FindString(x.GetText()) != "" && owners.FindString(x.GetText()) != mark {
				t.Errorf("conversation %d is shown a passage of %s", i, x.GetContentId())
			}
		}
		hits := must[*pb.SearchMessagesResponse](t)(w.conversations.SearchMessages(t.Context(), &pb.SearchMessagesRequest{
			ConversationId: name(i), Query: "harbour ledger owner owner7x", MaxHits: 100,
		}))
		if len(hits.GetHits()) == 0 || hits.GetSearchedMessages() != 2 {
			t.Fatalf("conversation %d has %d hits in %d messages", i, len(hits.GetHits()), hits.GetSearchedMessages())
		}
		for _, h := range hits.GetHits() {
			if owner := owners.FindString(h.GetSnippet()); owner != "" && owner != mark || h.GetIndex() > 1 {
				t.Errorf("conversation %d is shown a snippet of another", i)
			}
		}
		sources := must[*pb.ListSourcesResponse](t)(w.contents.ListSources(t.Context(), &pb.ListSourcesRequest{ConversationId: name(i)}))
		if len(sources.GetSources()) != 1 || sources.GetSources()[0].GetContentId() != handle {
			t.Errorf("conversation %d has %d sources", i, len(sources.GetSources()))
		}
	}
}

// handles stores contents with the sidecar that ships, several callers at a time, and returns what they are called.
func handles(t *testing.T, n, callers int) []string {
	t.Helper()
	c, _ := started(t, "--store", "memory")
	all := make([][]string, callers)
	var storing sync.WaitGroup
	for k := range callers {
		storing.Go(func() {
			header := &pb.StoreContentHeader{ConversationId: fmt.Sprint("handles-", k)}
			for range n / callers {
				got, err := c.store(t.Context(), header, bytes.NewReader([]byte("the same for all")))
				if err != nil {
					t.Error(err)
					return
				}
				all[k] = append(all[k], got.GetCitation().GetContentId())
			}
		})
	}
	storing.Wait()
	var out []string
	for _, h := range all {
		out = append(out, h...)
	}
	return out
}

// TestHandle_Letters_AreOfChance: no two are equal, every letter is as frequent as any other at each place, and none follows from the
// handle before it.
func TestHandle_Letters_AreOfChance(t *testing.T) {
	figures(t)
	n := 4_000
	if exactly() {
		n = 100_000
	}
	all := handles(t, n, 8)
	const letters, places = "abcdefghijklmnopqrstuvwxyz234567", 8
	form := regexp.MustCompile(`^c[1-9][0-9]*-[a-z2-7]{8}$`)
	seen := map[string]bool{}
	var counts, follows [places][len(letters)]int
	before := strings.Repeat("a", places)
	for _, h := range all {
		if !form.MatchString(h) {
			t.Fatalf("a handle is of another form: %d bytes", len(h))
		}
		_, chance, _ := strings.Cut(h, "-")
		if seen[chance] {
			t.Error("the letters of two handles are the same")
		}
		seen[chance] = true
		for i := range places {
			at := strings.IndexByte(letters, chance[i])
			counts[i][at]++
			follows[i][(at-strings.IndexByte(letters, before[i])+len(letters))%len(letters)]++
		}
		before = chance
	}
	for i := range places {
		for what, of := range map[string][len(letters)]int{"letters": counts[i], "steps from the handle before": follows[i]} {
			if z := unevenness(of[:], len(all)); z > 6 {
				t.Errorf("at place %d the %s are unevenly spread: %.1f deviations", i, what, z)
			}
		}
	}
	t.Logf("%d handles, all different", len(seen))
}

// unevenness is how many standard deviations chi squared is away from what chance makes of it.
func unevenness(counts []int, n int) float64 {
	expected, sum := float64(n)/float64(len(counts)), 0.0
	for _, c := range counts {
		sum += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	free := float64(len(counts) - 1)
	return math.Abs(sum-free) / math.Sqrt(2*free)
}

// TestLog_Contents_SaysNothingOfThem: what is stored, looked for and found is nobody's business who reads the log.
func TestLog_Contents_SaysNothingOfThem(t *testing.T) {
	c, sidecar := started(t, "--log-level", "debug")
	const secret = "pl4nted-s3cret"
	c.create(t, "logged", nil)
	handle := c.cite(t, "logged", outcome{id: "c", tool: "read", arguments: `{"url": "https://x.test/` + secret + `"}`, text: secret + textOf(1, 5000)}).GetContentId()
	kept := c.keep(t, "logged", secret, secret+"\x00\xff")
	for how, ask := range askings() {
		for _, h := range []string{handle, kept, secret, "c1-" + secret} {
			if got := ask(t.Context(), c, "logged", h); strings.Contains(got, secret) && !strings.Contains(got, "Completed") && !strings.Contains(got, "COMPLETED") {
				t.Errorf("%s: an error tells of what is stored, or asked for: %s", how, strings.ReplaceAll(got, secret, "SECRET"))
			}
		}
	}
	_, _ = c.excerpts(t.Context(), "logged", handle, secret, strings.Repeat(secret, 1000))
	_, _ = c.recall(t.Context(), "logged", &pb.ToolCall{CallId: secret, Name: secret, ArgumentsJson: secret}, 0)
	if err := sidecar.Stop(); err != nil {
		t.Error(err)
	}
	if strings.Contains(sidecar.Log(), secret) {
		t.Error("the log tells of contents")
	}
	if len(sidecar.Log()) == 0 {
		t.Error("the log is empty: nothing is tested")
	}
}
