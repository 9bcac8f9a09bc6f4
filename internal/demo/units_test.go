package demo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	palimpsestv1 "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
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
	explored, err := openFolder(folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(explored.close)
	explored.sources = ".go"
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
		{biggest(".", 1), "       18 a.go\n"},
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
		{role: palimpsestv1.Role_ROLE_SYSTEM}, {role: palimpsestv1.Role_ROLE_USER}, {role: palimpsestv1.Role_ROLE_ASSISTANT},
		{role: palimpsestv1.Role_ROLE_TOOL, saved: 9}, {role: palimpsestv1.Role_ROLE_TOOL}, {role: palimpsestv1.Role_ROLE_USER},
	}}
	var view []*palimpsestv1.ContextMessage
	for _, i := range []int32{0, 3, 4} {
		view = append(view, &palimpsestv1.ContextMessage{Origin: &palimpsestv1.Origin{Source: &palimpsestv1.Origin_MessageIndex{MessageIndex: i}}})
	}
	if row, n := a.strip(view); row != "s·2·Tt·1·" || n != 3 {
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

func TestScreen_Narrow_StaysInside(t *testing.T) {
	t.Setenv("COLUMNS", "60")
	var out bytes.Buffer
	s := newScreen(&out, 0)
	s.rule("turn 1")
	s.line("tool", red, strings.Repeat("a long word ", 30))
	s.labelled("agent", cyan, strings.Repeat("a long word ", 30))
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 60 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("colours in a pipe")
	}
}

func TestNumber_GroupsThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		if got := number(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestScreen_Bar_FillsItsShare(t *testing.T) {
	s := &screen{}
	for part, want := range map[int64]string{0: "░░░░", 50: "██░░", 100: "████", 500: "████"} {
		if got := s.bar(part, 100, 4); got != want {
			t.Errorf("%d: %s, want %s", part, got, want)
		}
	}
}
