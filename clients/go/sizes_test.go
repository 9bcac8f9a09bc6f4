package palimpsest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func small(c *Conversation) *Conversation {
	c.limits = limits{request: 2_000, item: 4_000, items: 7, elements: 5, long: 500}
	return c
}

func TestConversation_WhatWaits_GoesInPartsInOrder(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := small(p.Conversation("c1"))
	for n := range 40 {
		c.User(fmt.Sprintf("%d %s", n, strings.Repeat("x", n*97%900)))
	}
	if _, err := c.OpenAI(t.Context(), Request{}); err != nil {
		t.Fatal(err)
	}
	for n, item := range f.items {
		if text := item.GetMessage().GetParts()[0].GetText(); !strings.HasPrefix(text, fmt.Sprint(n, " ")) {
			t.Errorf("at %d stands %.9s", n, text)
		}
	}
	if len(f.items) != 40 || len(f.ids) < 8 {
		t.Errorf("%d on record with %d requests", len(f.items), len(f.ids))
	}
}

func TestConversation_LargeResult_IsStored(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := small(p.Conversation("c1"))
	large := strings.Repeat("line\n", 2000)
	c.Result("a", large)
	c.Result("b", large)
	if err := c.Input(Gemini, json.RawMessage(`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"n":9007199254740993,"text":"`+strings.Repeat("y", 9000)+`"}}}]}`)); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	result := f.items[0].GetMessage().GetParts()[0].GetToolResult()
	if len(f.stored) != 2 || f.stored[0] != large || result.GetText() != "[c1-aaaaaaaa]" || result.GetRecalledFrom().GetContentId() != "c1-aaaaaaaa" {
		t.Errorf("%d stored, on record %v", len(f.stored), result)
	}
	if want := `{"parts":[{"functionResponse":{"name":"f","response":{"output":"[c2-aaaaaaaa]"}}}],"role":"user"}`; f.items[2].GetProviderInput().GetJson() != want ||
		!strings.HasPrefix(f.stored[1], `{"n":9007199254740993,"text":"yyy`) {
		t.Errorf("sent %v", f.items[2])
	}
}

func TestConversation_View_OfAnySize(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := small(p.Conversation("c1"))
	elements := []string{`{"role":"user","content":"go"}`, `{"role":"tool","tool_call_id":"a","content":"` + strings.Repeat("z", 9000) + `"}`}
	for n := range 10 {
		elements = append(elements, fmt.Sprintf(`{"role":"assistant","content":"%d %s"}`, n, strings.Repeat("w", 700)))
	}
	f.view = []*pb.ViewPiece{
		{Kind: pb.ViewPieceKind_VIEW_PIECE_KIND_WHOLE, ListIndexes: []int32{0, 1, 2, 3}},
		{Kind: pb.ViewPieceKind_VIEW_PIECE_KIND_MADE_UP, Json: `[{"role":"user","content":"Continue."}]`},
	}
	f.forgets = true
	pieces, err := c.View(t.Context(), OpenAI, json.RawMessage("["+strings.Join(elements, ",")+"]"), Request{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	var sent []json.RawMessage
	last := f.builds[len(f.builds)-1].GetAppend().GetProviderInput()
	for _, part := range append(f.parts, last) {
		var some []json.RawMessage
		if err := json.Unmarshal([]byte(part.GetJson()), &some); err != nil || int(part.GetHistory().GetKnownCount()) != len(sent) {
			t.Errorf("%v: a part behind %d of %d", err, part.GetHistory().GetKnownCount(), len(sent))
		}
		sent = append(sent, some...)
	}
	if len(sent) != len(elements) || len(f.parts) < 4 || !last.GetHistory().GetByPlace() || f.parts[0].GetHistory().GetByPlace() {
		t.Errorf("%d elements in %d parts", len(sent), len(f.parts)+1)
	}
	if last.GetHistory().GetOnCut() != pb.OnCut_ON_CUT_HIDE || last.GetHistory().GetOnDivergence() != pb.OnDivergence_ON_DIVERGENCE_NEW {
		t.Errorf("sent %v", last.GetHistory())
	}
	var got []string
	for _, piece := range pieces {
		got = append(got, fmt.Sprint(piece.Kind, piece.Indexes, string(piece.Shown)))
	}
	want := []string{
		"whole[0]", `changed[1][{"content":"[c1-aaaaaaaa]","role":"tool","tool_call_id":"a"}]`, "whole[2 3]",
		`made_up[][{"role":"user","content":"Continue."}]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("pieces %q", got)
	}
}

func TestConversation_Refused_IsGivenBackAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	named := func(n int) error {
		return refusal(codes.InvalidArgument, "INVALID_FIELD", &errdetails.BadRequest{
			FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: fmt.Sprintf("items[%d].message", n), Description: "no"}},
		})
	}
	f.fails = []error{named(1), named(2)}
	c := p.Conversation("c1")
	for _, said := range []string{"one", "bad", "two", "worse", "three"} {
		c.User(said)
	}
	var e *Error
	if err := c.Flush(t.Context()); !errors.As(err, &e) {
		t.Fatal(err)
	}
	if len(e.Refused) != 2 || e.Refused[0].Index != 1 || e.Refused[1].Index != 3 || len(f.items) != 3 || len(c.pending) != 0 {
		t.Errorf("given back %v, %d on record", e.Refused, len(f.items))
	}
}

func away(n int) (fails []error) {
	for range n {
		fails = append(fails, status.Error(codes.Unavailable, "gone"))
	}
	return fails
}

func TestConversation_Add_WhileTheSidecarIsAway_Waits(t *testing.T) {
	t.Parallel()
	f, p := newFake(t, WithTimeout(200*time.Millisecond))
	c := p.Conversation("c1")
	c.format, f.fails = OpenAI, away(50)
	reply := json.RawMessage(`{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`)
	calls, err := c.Add(t.Context(), reply)
	if err != nil || len(calls) != 1 || calls[0].ID != "a" {
		t.Fatalf("%v: %v", err, calls)
	}
	c.Result("a", "ok")
	f.fails = nil
	if _, err := c.OpenAI(t.Context(), Request{}); err != nil || len(f.items) != 2 {
		t.Errorf("%v, %d on record", err, len(f.items))
	}
}

// A conversation that begins with the reply to a list has lost the list: the next one begins another.
func TestConversation_Sync_OfALostRecord_BeginsAnew(t *testing.T) {
	t.Parallel()
	f, p := newFake(t)
	c := p.Conversation("c1")
	list := json.RawMessage(`[{"role":"user","content":"q"}]`)
	for _, want := range []pb.OnDivergence{pb.OnDivergence_ON_DIVERGENCE_REFUSE, pb.OnDivergence_ON_DIVERGENCE_NEW} {
		if _, err := c.Sync(t.Context(), OpenAI, list, Request{}); err != nil {
			t.Fatal(err)
		}
		if got := f.builds[len(f.builds)-1].GetAppend().GetProviderInput().GetHistory().GetOnDivergence(); got != want {
			t.Errorf("it was sent with %v, want %v", got, want)
		}
		f.goesOn = "c1~2"
		if _, err := c.Add(t.Context(), json.RawMessage(`{"choices":[]}`)); err != nil {
			t.Fatal(err)
		}
	}
	if c.opened != "c1~2" {
		t.Errorf("lists are looked for in %s", c.opened)
	}
}

func TestConversation_Lists_PassWhileTheSidecarIsAway(t *testing.T) {
	t.Parallel()
	f, p := newFake(t, WithOnUnavailable(UnavailablePass), WithTimeout(time.Second))
	c, fresh := p.Conversation("c1"), p.Conversation("c2")
	first := `{"role":"user","content":"q"}`
	f.view = []*pb.ViewPiece{{Kind: pb.ViewPieceKind_VIEW_PIECE_KIND_SUMMARY, Json: `[1]`}}
	if _, err := c.View(t.Context(), OpenAI, json.RawMessage("["+first+"]"), Request{}); err != nil {
		t.Fatal(err)
	}
	f.fails = away(1000)
	more := json.RawMessage("[" + first + `,{"role":"assistant","content":"a"}]`)
	pieces, err := c.View(t.Context(), OpenAI, more, Request{})
	if err != nil || len(pieces) != 2 || pieces[0].Kind != "summary" || !pieces[1].Whole() || !slices.Equal(pieces[1].Indexes, []int{1}) {
		t.Errorf("%v: %v", err, pieces)
	}
	body, err := fresh.Sync(t.Context(), OpenAI, json.RawMessage("["+first+"]"), Request{Model: "m", System: "s"})
	if want := `{"messages":[{"content":"s","role":"system"},` + first + `],"model":"m"}`; err != nil || string(body) != want {
		t.Errorf("%v: %s", err, body)
	}
	for name, unknown := range map[string]*Conversation{"after a restart": p.Conversation("c1"), "raising": p.Conversation("c3", OnUnavailableOf(UnavailableRaise))} {
		if _, err := unknown.View(t.Context(), OpenAI, more, Request{}); err == nil {
			t.Errorf("%s, a list passed", name)
		}
	}
	if _, err := c.View(t.Context(), OpenAI, json.RawMessage(`[{"role":"assistant","content":"other"}]`), Request{}); err == nil {
		t.Error("another list passed for one whose view was changed")
	}
}
