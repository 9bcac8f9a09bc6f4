package demo

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

func testTree(t *testing.T) *tree {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{
		"a.go": "one\ntwo two\nthree\n", "b/c.go": "two", "b/d.bin": "two\x00", ".git/config": "two", "b/broken.txt": "\xfftwo",
	} {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &tree{files: inside(folder)}
}

func TestTree_Run_ToolsReadWhatIsThere(t *testing.T) {
	explored := testTree(t)
	for call, want := range map[string]string{
		"read a.go":         "one\ntwo two\nthree\n",
		`search "two" .`:    "a.go:2:two two\nb/broken.txt:1:\uFFFDtwo\nb/c.go:1:two\n",
		`search "two" a.go`: "a.go:2:two two\n",
		`search "o t" .`:    "a.go:2:two two\n",
		"read b/broken.txt": "\uFFFDtwo",
	} {
		got, err := explored.run(t.Context(), call)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", call, got, err, want)
		}
	}
}

func TestTree_Run_FailuresAreErrors(t *testing.T) {
	explored := testTree(t)
	for _, call := range []string{"read absent", "list absent", "read ../a.go", `search "x" absent`, "fly"} {
		if said, err := explored.run(t.Context(), call); err == nil {
			t.Errorf("%s said %q", call, said)
		}
	}
}

func TestTree_List_NamesWhatIsThere(t *testing.T) {
	said, err := testTree(t).run(t.Context(), "list b")
	for _, want := range []string{" 4 broken.txt\n", " 3 c.go\n", " 4 d.bin\n"} {
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("%q, %v; want %q", said, err, want)
		}
	}
}

func TestPlayer_Strip_ShowsGapsAndRoles(t *testing.T) {
	p := &player{entries: []entry{
		{role: pb.Role_ROLE_SYSTEM}, {role: pb.Role_ROLE_USER}, {role: pb.Role_ROLE_ASSISTANT},
		{role: pb.Role_ROLE_TOOL}, {role: pb.Role_ROLE_TOOL}, {role: pb.Role_ROLE_USER}, {role: pb.Role_ROLE_TOOL}, {role: pb.Role_ROLE_TOOL},
		{role: pb.Role_ROLE_TOOL}, {role: pb.Role_ROLE_TOOL}, {role: pb.Role_ROLE_USER}, {role: pb.Role_ROLE_ASSISTANT},
	}}
	for _, i := range []int32{0, 3, 4, 6, 7, 8, 10} {
		p.view = append(p.view, &pb.ContextMessage{Origin: &pb.Origin{Source: &pb.Origin_MessageIndex{MessageIndex: i}}})
	}
	decided := func(kind pb.DecisionKind, start, end int32) *pb.Decision {
		return &pb.Decision{Kind: kind, StartIndex: start, EndIndex: end}
	}
	if row := p.strip([]*pb.Decision{
		decided(pb.DecisionKind_DECISION_KIND_CLIPPED, 3, 4), decided(pb.DecisionKind_DECISION_KIND_COMPACTED, 6, 7),
		decided(pb.DecisionKind_DECISION_KIND_CLEARED, 7, 8), decided(pb.DecisionKind_DECISION_KIND_PRUNED, 8, 9),
		decided(pb.DecisionKind_DECISION_KIND_SUMMARIZED, 9, 12), // of which the message 10 is shown all the same
	}); row != "s··Tt·c--=u=" {
		t.Errorf("got %q", row)
	}
}

func TestWay_Pay_AddsUp(t *testing.T) {
	var w way
	w.pay(100, 0, 150)
	w.pay(200, 100, 150)
	if want := 100*writePrice + 100*readPrice + 100*writePrice; w.cost != want || w.sent != 300 || w.largest != 200 || w.fitting != 1 {
		t.Errorf("got %+v, want a cost of %v", w, want)
	}
}

func TestPlayer_ShowChanges_GroupsAndShowsRemovedOnce(t *testing.T) {
	event := func(kind pb.EventType, index int32, saved int64) *pb.LifecycleEvent {
		return &pb.LifecycleEvent{Type: kind, MessageIndex: index, EndIndex: index + 1, TokensSaved: saved}
	}
	cleared := event(pb.EventType_EVENT_TYPE_EXPIRED, 4, 7)
	cleared.View = &pb.MessageView{Level: pb.ViewLevel_VIEW_LEVEL_CLEARED}
	summary := event(pb.EventType_EVENT_TYPE_SUMMARIZED, 1, 99)
	summary.EndIndex, summary.SummaryId = 8, "s3"
	events := []*pb.LifecycleEvent{
		event(pb.EventType_EVENT_TYPE_CLIPPED, 1, 9), event(pb.EventType_EVENT_TYPE_COMPACTED, 2, 10),
		event(pb.EventType_EVENT_TYPE_EXPIRED, 3, 0), event(pb.EventType_EVENT_TYPE_REMOVED, 3, 5),
		cleared, event(pb.EventType_EVENT_TYPE_COMPACTED, 5, 20), summary,
	}
	for i := range int32(8) {
		events = append(events, event(pb.EventType_EVENT_TYPE_PRUNED, i, 1))
	}
	var out bytes.Buffer
	p := &player{
		Labels:  &sheet.Labels{Sheet: sheet.New(&out, false, true), LabelWidth: 10},
		entries: []entry{{}, {call: "read a", tokens: 12}}, changed: map[string]int{},
		view: []*pb.ContextMessage{{
			Parts: text("a short form"), Origin: &pb.Origin{Source: &pb.Origin_MessageIndex{MessageIndex: 5}},
		}},
	}
	p.showChanges(events)
	want := `clipped   #1 read a of 12 tokens: head and tail are shown, 9 tokens fewer
compacted #2, #5: a short form stays, 30 tokens fewer
          a short form
removed   #3: with what was said about it, 5 tokens fewer
cleared   #4: a placeholder stays, 7 tokens fewer
pruned    #0, #1, #2, #3, #4, #5, 2 more: a placeholder stays, 8 tokens fewer
summary   s3 for #1 to #7: it stands for them, 99 tokens fewer
`
	if out.String() != want || p.changed["expiry"] != 4 || p.clippedOff != 9 {
		t.Errorf("got\n%s and %v", out.String(), p.changed)
	}
}

func TestPlayer_AnswerOf_IsTheNewest(t *testing.T) {
	p := &player{entries: []entry{{call: "x"}, {call: "list ."}, {call: "list ."}}}
	if newest, none := p.answerOf("list ."), p.answerOf("list b"); newest != 2 || none != -1 {
		t.Errorf("got %d and %d", newest, none)
	}
}

func TestPlayer_KeepLargest_IsTheLargestWithALineBeyondTheMiddle(t *testing.T) {
	begin := "the beginning\n" + strings.Repeat("1 2 3\n", 20)
	p := &player{}
	for i, c := range []struct {
		said string
		kind string
	}{
		{"short", ""}, {begin + "1 2\nfunc f(handleRequests)\n", ""}, {begin + begin + strings.Repeat("1 2 3\n", 300), ""},
		{begin + begin + begin + "\nthe configuration\n", "text/html"},
	} {
		p.keepLargest(int32(i), &pb.Citation{TotalBytes: int64(len(c.said)), ContentType: c.kind}, c.said)
	}
	if p.largest.index != 1 || p.largest.phrase != "func f(handleRequests)" {
		t.Errorf("%d, %q", p.largest.index, p.largest.phrase)
	}
}

func TestPlayer_ShowCited_NothingToAskFor(t *testing.T) {
	(&player{}).showCited(t.Context()) // which would fail if it asked
}

func TestFingerprint_LeavesPluginsOut(t *testing.T) {
	bare := &pb.Message{Parts: text("a")}
	noted := &pb.Message{Parts: append(text("a"), text("b")...)}
	noted.Parts[1].Plugin = "coach"
	other := &pb.Message{Parts: text("b")}
	if fingerprint(bare) != fingerprint(noted) || fingerprint(bare) == fingerprint(other) {
		t.Error("a plugin's words change the fingerprint, or the message's own do not")
	}
}

// TestTree_Run_LinksOutOfTheTree_AreNotFollowed: whoever names a folder shows that folder alone.
func TestTree_Run_LinksOutOfTheTree_AreNotFollowed(t *testing.T) {
	outside, folder := filepath.Join(t.TempDir(), "secret"), t.TempDir()
	if err := errors.Join(os.WriteFile(outside, []byte("secret"), 0o600), os.Symlink(outside, filepath.Join(folder, "link"))); err != nil {
		t.Fatal(err)
	}
	explored := &tree{files: inside(folder)}
	if said, err := explored.run(t.Context(), "read link"); err == nil {
		t.Errorf("it reads %q", said)
	}
}
