package demo

import (
	"bytes"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

func TestLandmark_IsBeyondTheMiddleAndHasAName(t *testing.T) {
	begin := strings.Repeat("1 2 3\n", 20)
	for text, want := range map[string]string{
		begin + "1, 2, 3\nfunc handleRequests(w, r) { return }\nmore": "func handleRequests(w, r) { return }",
		begin + "one\nsingleword\nconfiguration of a b c d e f\n":     "configuration of a b c d",
		begin + "1 2\n3 4\n": "",
		begin + strings.Repeat("x", 40) + " configuration\n": "",
		"the beginning of everything\n" + begin:              "",
		"":                                                   "",
		"one line":                                           "",
	} {
		if got := landmark(text); got != want {
			t.Errorf("%q of %q, want %q", got, text[min(len(text), len(begin)):], want)
		}
	}
}

func TestAgent_ShowCitations_NothingToAskFor(t *testing.T) {
	var out bytes.Buffer
	a := &agent{screen: newScreen(&out, 0, true), cited: []citedResult{
		{phrase: "", citation: &pb.Citation{TotalBytes: 9}},
		{phrase: "a page", citation: &pb.Citation{TotalBytes: 9, ContentType: "text/html"}},
	}}
	if a.showCitations(t.Context()); a.err != nil || out.Len() > 0 {
		t.Errorf("%q is shown of nothing, %v", out.String(), a.err)
	}
}

func TestAgent_LargestCited_IsTheLargestWithWords(t *testing.T) {
	a := &agent{cited: []citedResult{
		{index: 1, phrase: "x", citation: &pb.Citation{TotalBytes: 7}},
		{index: 2, phrase: "x", citation: &pb.Citation{TotalBytes: 9}},
		{index: 3, citation: &pb.Citation{TotalBytes: 99}},
	}}
	if got := a.largestCited(); got.index != 2 {
		t.Errorf("%+v", got)
	}
}

func TestHolds_FoldsWhiteSpace(t *testing.T) {
	if !holds("one  two\n\tthree four", "two three") || holds("one two", "two one") {
		t.Error("words are not found in their order")
	}
}
