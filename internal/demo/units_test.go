package demo

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/inspect/sheet"
)

func list(path string) call { return call{Tool: "list", Path: path} }
func read(path string) call { return call{Tool: "read", Path: path} }
func excerpt(path string, from, lines int) call {
	return call{Tool: "read", Path: path, From: from, Lines: lines}
}
func search(pattern, path string) call { return call{Tool: "search", Pattern: pattern, Path: path} }
func again(of call) call               { return call{Tool: expandTool, Of: of.String()} }

func says(words string, calls ...call) step { return step{Says: words, Calls: calls} }

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
	explored, err := openFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(explored.close)
	return explored
}

func TestTree_Run_ToolsReadWhatIsThere(t *testing.T) {
	explored := testTree(t)
	for _, c := range []struct {
		call call
		want string
	}{
		{read("a.go"), "one\ntwo two\nthree\n"},
		{excerpt("a.go", 2, 1), "two two\n"},
		{excerpt("a.go", 9, 5), ""},
		{search("two", "."), "a.go:2:two two\nb/broken.txt:1:\uFFFDtwo\nb/c.go:1:two\n"},
		{search("two", "a.go"), "a.go:2:two two\n"},
		{read("b/broken.txt"), "\uFFFDtwo"},
	} {
		got, err := explored.run(t.Context(), c.call)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.call, got, err, c.want)
		}
	}
}

func TestTree_Run_FailuresAreErrors(t *testing.T) {
	explored := testTree(t)
	for _, c := range []call{read("absent"), list("absent"), read("../a.go"), search("x", "absent"), {Tool: "fly"}} {
		if said, err := explored.run(t.Context(), c); err == nil {
			t.Errorf("%s said %q", c, said)
		}
	}
}

func TestAgent_Strip_ShowsGapsAndRoles(t *testing.T) {
	a := &agent{entries: []entry{
		{role: pb.Role_ROLE_SYSTEM}, {role: pb.Role_ROLE_USER}, {role: pb.Role_ROLE_ASSISTANT},
		{role: pb.Role_ROLE_TOOL, shown: pb.DecisionKind_DECISION_KIND_CLIPPED},
		{role: pb.Role_ROLE_TOOL}, {role: pb.Role_ROLE_USER},
		{role: pb.Role_ROLE_TOOL, shown: pb.DecisionKind_DECISION_KIND_COMPACTED},
		{role: pb.Role_ROLE_TOOL, shown: pb.DecisionKind_DECISION_KIND_CLEARED},
		{role: pb.Role_ROLE_TOOL, shown: pb.DecisionKind_DECISION_KIND_PRUNED},
		{shown: pb.DecisionKind_DECISION_KIND_SUMMARIZED}, {shown: pb.DecisionKind_DECISION_KIND_SUMMARIZED},
		{role: pb.Role_ROLE_ASSISTANT},
	}}
	var view []*pb.ContextMessage
	for _, i := range []int32{0, 3, 4, 6, 7, 8} {
		view = append(view, &pb.ContextMessage{Origin: &pb.Origin{Source: &pb.Origin_MessageIndex{MessageIndex: i}}})
	}
	if row, n := a.strip(view); row != "s·2·Tt·1·c--[2]·1·" || n != 6 {
		t.Errorf("got %q with %d", row, n)
	}
}

func TestLedger_Pay_AddsUp(t *testing.T) {
	var l ledger
	l.pay(1, 100, 0, 150)
	l.pay(2, 200, 100, 150)
	if want := 100*writePrice + 100*readPrice + 100*writePrice; l.cost != want || l.sent != 300 || l.largest != 200 || l.overflow != 2 {
		t.Errorf("got %+v, want a cost of %v", l, want)
	}
}

func TestScreen_Bar_FillsItsShare(t *testing.T) {
	s := &screen{Labels: &sheet.Labels{Sheet: &sheet.Sheet{}}}
	for part, want := range map[int64]string{0: "░░░░", 50: "██░░", 100: "████", 500: "████"} {
		if got := s.bar(part, 100, 4); got != want {
			t.Errorf("%d: %s, want %s", part, got, want)
		}
	}
}

func TestScreen_ASCII_KeepsColumns(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out, 0, true)
	s.Rule("turn 1")
	s.Row("tool", sheet.Red, "list . → 12 B · ✓ ü %s", strings.Repeat("a long word ", 30))
	s.Put("bar", s.bar(1, 2, 4)+"·✓ü")
	for line := range strings.Lines(out.String()) {
		if n := len(strings.TrimSuffix(line, "\n")); n > s.Width {
			t.Errorf("%d bytes in %d columns: %s", n, s.Width, line)
		}
	}
	if !strings.Contains(out.String(), "bar       ##...+?\n") || !strings.Contains(out.String(), "-- turn 1 --") || !strings.Contains(out.String(), "list . > 12 B . + ? a") {
		t.Errorf("shown:\n%s", out.String())
	}
}

func TestChangesOf_GroupsAndShowsRemovedOnce(t *testing.T) {
	event := func(kind pb.EventType, index int32, saved int64) *pb.LifecycleEvent {
		return &pb.LifecycleEvent{Type: kind, MessageIndex: index, TokensSaved: saved}
	}
	got := changesOf([]*pb.LifecycleEvent{
		event(pb.EventType_EVENT_TYPE_CLIPPED, 1, 9),
		event(pb.EventType_EVENT_TYPE_COMPACTED, 2, 10),
		event(pb.EventType_EVENT_TYPE_EXPIRED, 3, 0),
		event(pb.EventType_EVENT_TYPE_REMOVED, 3, 5),
		event(pb.EventType_EVENT_TYPE_EXPIRED, 4, 7),
		event(pb.EventType_EVENT_TYPE_COMPACTED, 5, 20),
	})
	summary := event(pb.EventType_EVENT_TYPE_SUMMARIZED, 1, 99)
	summary.EndIndex, summary.SummaryId = 8, "s3"
	if c := changesOf([]*pb.LifecycleEvent{summary})[0]; c.which() != "#1 to #7" || c.saved != 99 {
		t.Errorf("got %+v", c)
	}
	want := []change{
		{kind: pb.EventType_EVENT_TYPE_COMPACTED, messages: []int32{2, 5}, saved: 30},
		{kind: pb.EventType_EVENT_TYPE_REMOVED, messages: []int32{3}, saved: 5},
		{kind: pb.EventType_EVENT_TYPE_EXPIRED, messages: []int32{4}, saved: 7},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := (change{messages: []int32{1, 2, 3, 4, 5, 6, 7, 8}}).which(); got != "#1, #2, #3, #4, #5, #6 and 2 more" {
		t.Error(got)
	}
}

func TestAgent_Resolve_MeansTheNewestAnswer(t *testing.T) {
	a := &agent{entries: []entry{{label: "x"}, {label: "list ."}, {label: "list ."}}}
	got := []call{again(list(".")), list("."), again(list("b"))}
	a.resolve(got)
	if got[0].Index == nil || *got[0].Index != 2 || got[1].Index != nil || got[2].Index != nil {
		t.Errorf("got %v", got)
	}
	if got[0].arguments() != `{"id":"2"}` || got[0].String() != "expand_message #2 (list .)" {
		t.Errorf("got %s, %s", got[0].arguments(), got[0])
	}
}

func TestStep_Fleeting_OnlyLooksAround(t *testing.T) {
	for _, c := range []struct {
		step step
		want bool
	}{{says("x"), false}, {says("x", list(".")), true}, {says("x", list("."), read("a")), false}} {
		if got := c.step.fleeting(); got != c.want {
			t.Errorf("%+v: %v", c.step, got)
		}
	}
}

func TestFingerprint_LeavesPluginsOut(t *testing.T) {
	bare := &pb.Message{Parts: text("a")}
	noted := &pb.Message{Parts: append(text("a"), text("b")...)}
	noted.Parts[1].Plugin = "coach"
	one, _ := fingerprint(bare)
	two, size := fingerprint(noted)
	if one != two || size != 1 {
		t.Errorf("%x, %x, %d", one, two, size)
	}
}
