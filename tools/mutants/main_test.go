package main

import (
	"bytes"
	"encoding/json"
	"go/format"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const before = `package p

import "errors"

// Limit is how many.
const limit = 10

type engine struct{ kept map[string]int }

func (e *engine) grow(name string, by int) (int, error) {
	if name == "" {
		return 0, errors.New("no name")
	}
	for i := range by {
		if i > limit && by != 7 {
			break
		}
		e.kept[name] += i
	}
	e.tell(name)
	return e.kept[name], nil
}

func (e *engine) tell(name string) { println(name, max(e.kept[name], 3)) }

func sum(a []int) (n int) {
	for _, x := range a {
		if x >= 5 {
			n += x
		}
	}
	return n
}

func total(a []int) (n int) {
	for _, x := range a {
		if x >= 5 {
			n += x
		}
	}
	return n
}
`

// after is the same, moved and renamed: what is exported, a receiver, a local name, a comment between.
const after = `package q

import "errors"

func (s *Store) Grow(name string, by int) (int, error) {
	if name == "" {
		return 0, errors.New("no name")
	}
	for i := range by { // as often
		if i > p.Limit && by != 7 {
			break
		}
		s.Kept[name] += i
	}
	s.tell(name)
	return s.Kept[name], nil
}

func (s *Store) tell(name string) { println(name, max(s.Kept[name], 3)) }
`

func parsed(t *testing.T, files map[string]string) *code {
	t.Helper()
	c := &code{sources: map[string][]byte{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := c.add(name, []byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func recordedIn(c *code) (all []mutation) {
	for i := range c.sites {
		m := c.sites[i].mutation
		m.Number = i + 1
		all = append(all, m)
	}
	return all
}

// TestCode_Sites_OfEveryKind: each is what it says, and leaves a file that parses.
func TestCode_Sites_OfEveryKind(t *testing.T) {
	c := parsed(t, map[string]string{"a.go": before})
	var got []string
	for i := range c.sites {
		s := &c.sites[i]
		if s.Function == "engine.grow" || s.Function == "limit" || s.Function == "engine.tell" {
			got = append(got, s.Kind+": "+strings.Join(strings.Fields(s.Old), " ")+" -> "+s.New)
		}
		mutated := s.apply(c.sources[s.file])
		if _, err := format.Source(mutated); err != nil || bytes.Equal(mutated, c.sources[s.file]) {
			t.Errorf("%s of %q: %v", s.Kind, s.Old, err)
		}
	}
	want := []string{
		`constant: 10 -> 11`,
		`condition: name == "" -> !(name == "")`, `branch: if name == "" { return 0, errors.New("no name") } -> `, `equality: == -> !=`,
		`error: errors.New("no name") -> nil`, `constant: 0 -> 1`,
		`condition: i > limit && by != 7 -> !(i > limit && by != 7)`, `branch: if i > limit && by != 7 { break } -> `, `logic: && -> ||`,
		`boundary: > -> >=`, `equality: != -> ==`, `constant: 7 -> 8`, `jump: break -> continue`,
		`arithmetic: += -> -=`, `statement: e.kept[name] += i -> `, `statement: e.tell(name) -> `,
		`statement: println(name, max(e.kept[name], 3)) -> `, `arithmetic: max -> min`, `constant: 3 -> 4`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLocate_SameCode_FindsEachInItsPlace(t *testing.T) {
	c := parsed(t, map[string]string{"a.go": before})
	for i, found := range locate(recordedIn(c), c.sites) {
		if found.site != &c.sites[i] || found.likeness != 1 {
			t.Errorf("%q in %s is found as %+v", c.sites[i].Old, c.sites[i].Function, found)
		}
	}
}

func TestLocate_MovedAndRenamed_FindsWhatIsLeft(t *testing.T) {
	c := parsed(t, map[string]string{"p/a.go": before})
	now := parsed(t, map[string]string{"q/b.go": after})
	for i, found := range locate(recordedIn(c), now.sites) {
		was := &c.sites[i]
		switch _, method, _ := strings.Cut(was.Function, "."); {
		case method == "":
			if found.site != nil {
				t.Errorf("%q of %s is gone, and found in %s", was.Old, was.Function, found.site.Function)
			}
		case found.site == nil:
			t.Errorf("%s %q of %s is lost", was.Kind, was.Old, was.Function)
		case !strings.EqualFold("Store."+method, found.site.Function) || found.site.Kind != was.Kind || found.likeness == 1:
			t.Errorf("%s %q of %s is found as %+v", was.Kind, was.Old, was.Function, found.site)
		}
	}
}

// TestLocate_OneOfTwins_IsNotFoundTwice: where one of two functions of the same text is gone, its mutation is lost.
func TestLocate_OneOfTwins_IsNotFoundTwice(t *testing.T) {
	c := parsed(t, map[string]string{"a.go": before})
	now := parsed(t, map[string]string{"a.go": strings.Split(before, "func total")[0]})
	counts := map[bool]int{}
	for i, found := range locate(recordedIn(c), now.sites) {
		if f := c.sites[i].Function; f == "sum" || f == "total" {
			if counts[found.site != nil]++; found.site != nil && f != "sum" {
				t.Errorf("%q of %s is found in %s", c.sites[i].Old, f, found.site.Function)
			}
		}
	}
	if counts[true] == 0 || counts[true] != counts[false] {
		t.Errorf("%v found and lost", counts)
	}
}

func TestNumbers_List_NamesThem(t *testing.T) {
	for list, want := range map[string][]int{"": {1, 2, 3, 4, 5}, "2": {2}, "1,3-5": {1, 3, 4, 5}} {
		got, err := numbers(list, 5)
		if err != nil || !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
			t.Errorf("%q: %v (%v)", list, got, err)
		}
	}
	for _, list := range []string{"0", "6", "x", "3-", "2-9"} {
		if _, err := numbers(list, 5); err == nil {
			t.Errorf("%q is taken", list)
		}
	}
}

func TestRun_Arguments_AreChecked(t *testing.T) {
	for _, args := range [][]string{nil, {"what"}, {"draw"}, {"draw", "-o", "x"}, {"run", "x", "y"}, {"run", "x", "y", "z"}} {
		if err := run(t.Context(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// small is a module whose tests see one fault of two; a third takes more memory than a mutation may.
var small = map[string]string{
	"go.mod": "module m\n\ngo 1.26\n",
	"a.go": "package m\n\nfunc seen(n int) bool { return n > 5 }\n\nfunc unseen(n int) bool { return n >= 5 }\n\n" +
		"func room(n int) []byte {\n\tif n >= 7 {\n\t\treturn nil\n\t}\n\treturn make([]byte, 6<<30)\n}\n",
	"a_test.go": "package m\n\nimport \"testing\"\n\nfunc TestSeen(t *testing.T) {\n\tif seen(5) || !unseen(9) || len(room(7)) == 1 {\n\t\tt.Fatal(1)\n\t}\n}\n",
}

func TestRun_Mutations_AreJudgedByTests(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "")
	for name, text := range small {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := read(".")
	if err != nil {
		t.Fatal(err)
	}
	var list []mutation
	for _, m := range recordedIn(c) {
		if m.Kind == "boundary" {
			m.Number = len(list) + 1
			list = append(list, m)
		}
	}
	list = append(list,
		mutation{Number: 4, Kind: "boundary", Function: "gone", Old: "<", New: "<=", Before: "func gone ( x", After: "y )"})
	data, _ := json.Marshal(list)
	if err := os.WriteFile("list.json", data, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"run", "list.json", ".", "--", "./..."}, &out); err != nil {
		t.Fatal(err, out.String())
	}
	for _, want := range []string{
		"1 caught   boundary in seen: > -> >= by TestSeen", "2 survived boundary in unseen: >= -> >",
		"3 caught   boundary in room: >= -> > by a crash", "4 lost     boundary in gone", "2 caught, 1 survived, 1 lost, 0 do not compile",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
}

// TestRun_TestsAreRed_JudgesNothing: all mutations would look caught.
func TestRun_TestsAreRed_JudgesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "")
	for name, text := range small {
		if err := os.WriteFile(name, []byte(strings.Replace(text, "seen(5)", "seen(6)", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("list.json", []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), []string{"run", "list.json", ".", "--", "./..."}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "TestSeen") {
		t.Errorf("%v", err)
	}
}

// TestList_Engine_IsWhole: what is recorded can be put into code again.
func TestList_Engine_IsWhole(t *testing.T) {
	list, err := load("engine.json")
	if err != nil || len(list) != 100 {
		t.Fatalf("%d mutations: %v", len(list), err)
	}
	kinds, functions := map[string]int{}, map[string]bool{}
	for i := range list {
		m := &list[i]
		kinds[m.Kind]++
		if m.Number != i+1 || m.Old == m.New || m.Before == "" || functions[m.Function] {
			t.Errorf("number %d: %+v", i+1, m)
		}
		functions[m.Function] = true
	}
	for _, share := range shares {
		if kinds[share.kind] != share.n {
			t.Errorf("%d of the kind %s", kinds[share.kind], share.kind)
		}
	}
}
