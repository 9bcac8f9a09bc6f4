package recording

import (
	"strings"
	"testing"
)

// run is a recorded run with a system prompt.
func run(id, prompt, said string) string {
	return `{"id":"` + id + `","messages":[{"role":"system","content":"` + prompt + `"},{"role":"user","content":"` + said + `"},{"role":"assistant","content":"ok"}]}` + "\n"
}

func TestLoad_Join_SharesPromptAndLeavesOutTheRest(t *testing.T) {
	file := fileWith(t, run("a", "s", "1")+run("b", "s", "2")+run("c", "s", "3")+run("d", "other", "4")+run("e", "s", "5"))
	got, err := Load([]string{file}, Options{Sample: 1, Join: 2})
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %d recordings", err, len(got))
	}
	for i, want := range []string{
		"system: text=s; user: text=1; assistant: text=ok; user: text=2; assistant: text=ok",
		"system: text=s; user: text=3; assistant: text=ok; system: text=other; user: text=4; assistant: text=ok",
	} {
		if shape(got[i]) != want {
			t.Errorf("got %s, want %s", shape(got[i]), want)
		}
	}
	if got[0].Name != "a and 1 more" || got[0].File != file {
		t.Errorf("%s of %s", got[0].Name, got[0].File)
	}
}

func TestLoad_Join_SplitCalls_AskOnce(t *testing.T) {
	const calls = `[{"role":"system","content":"s"},{"role":"assistant","content":"","tool_calls":[{"id":"a","name":"f","arguments":"{}"},{"id":"b","name":"f","arguments":"{}"}]}]`
	got, err := Load([]string{fileWith(t, calls+calls)}, Options{Sample: 1, Join: 2, Split: true})
	if err != nil {
		t.Fatal(err)
	}
	var asks []int
	for i := range got[0].Messages {
		if got[0].Asks(i) {
			asks = append(asks, i)
		}
	}
	if len(got[0].Messages) != 5 || len(asks) != 2 || asks[0] != 1 || asks[1] != 3 {
		t.Errorf("%s, asked before %v", shape(got[0]), asks)
	}
}

func TestLoad_Join_OtherTools_IsRefused(t *testing.T) {
	_, err := Load([]string{fileWith(t, `{"id":"a","tools":[{"name":"f"}],"messages":[]}{"id":"b","messages":[]}`)}, Options{Sample: 1, Join: 2})
	if err == nil || !strings.Contains(err.Error(), "b has other tools than a") {
		t.Error(err)
	}
	if _, err := Load([]string{fileWith(t, run("a", "s", "1"))}, Options{Sample: 1, Join: 2}); err == nil {
		t.Error("one conversation alone was joined")
	}
}

func TestLoad_Offset_IsTheOtherHalf(t *testing.T) {
	file := fileWith(t, run("a", "s", "1")+run("b", "s", "2")+run("c", "s", "3"))
	for offset, want := range []string{"ac", "b"} {
		got, err := Load([]string{file}, Options{Sample: 2, Offset: offset})
		names := ""
		for _, r := range got {
			names += r.Name
		}
		if err != nil || names != want {
			t.Errorf("offset %d: %v, %s", offset, err, names)
		}
	}
}
