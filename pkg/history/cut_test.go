package history_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/palimpsest-context/palimpsest/internal/proptest"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/history"
)

// asked is a call with its result.
func asked(id, argument, output string) []conversation.Message {
	return []conversation.Message{assistant(call(id, "f", argument)), tool(result(id, output))}
}

func of(messages []conversation.Message, indexes ...int) []conversation.Message {
	var out []conversation.Message
	for _, i := range indexes {
		out = append(out, messages[i])
	}
	return out
}

func TestFind_Hide_TakesOutWhatIsMissing(t *testing.T) {
	t.Parallel()
	record := slices.Concat(
		[]conversation.Message{user(text("q")), assistant(text("a")), user(text("yes"))}, asked("x", "1", "poll"), asked("y", "1", "done"),
		[]conversation.Message{assistant(text("b")), user(text("yes")), assistant(text("c"))},
	)
	fresh := user(text("new"))
	for _, c := range []struct {
		name    string
		list    []conversation.Message
		takeOut []int32
		rest    []string
	}{
		{name: "nothing", list: record},
		{name: "the front", list: of(record, 2, 3, 4, 5, 6, 7, 8, 9), takeOut: []int32{0, 1}},
		{name: "a pair", list: of(record, 0, 1, 8, 9), takeOut: []int32{2, 3, 4, 5, 6, 7}},
		{name: "a message of the user's", list: of(record, 0, 1, 3, 4, 5, 6, 7, 8, 9), takeOut: []int32{2}},
		{name: "the same call, asked before", list: of(record, 0, 1, 2, 5, 6, 7, 8, 9), takeOut: []int32{3, 4}},
		{name: "the same call, asked later", list: of(record, 0, 1, 2, 3, 4, 7, 8, 9), takeOut: []int32{5, 6}},
		{name: "several", list: of(record, 1, 2, 5, 6, 9), takeOut: []int32{0, 3, 4, 7, 8}},
		{name: "of equal messages, those before", list: of(record, 0, 1, 2, 9), takeOut: []int32{2, 3, 4, 5, 6, 7}},
		{name: "a call alone at the front: its result keeps it", list: of(record, 4, 5, 6, 7, 8, 9), takeOut: []int32{0, 1, 2}},
		{name: "all but the last message", list: of(record, 9), takeOut: []int32{0, 1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		for _, more := range [][]conversation.Message{nil, {fresh}} {
			for _, rewind := range []bool{false, true} {
				q := query(recorded(record...), given(slices.Concat(c.list, more)...))
				q.Hide, q.Rewind = true, rewind
				r, err := history.Find(q)
				if err != nil || !slices.Equal(r.TakeOut, c.takeOut) || len(r.PutBack) > 0 || r.Rewind != -1 || len(r.Rest) != len(more) {
					t.Errorf("%s: %v, %+v, want %v", c.name, err, r, c.takeOut)
				}
			}
		}
	}
}

// TestFind_Hide_OrElse: what is missing at the end, or has something else in its place, is a difference as ever, and what may be another
// conversation's takes nothing out.
func TestFind_Hide_OrElse(t *testing.T) {
	t.Parallel()
	record := slices.Concat([]conversation.Message{user(text("q")), assistant(text("a"))}, asked("x", "1", "poll"), []conversation.Message{assistant(text("b")), user(text("go on"))})
	for _, c := range []struct {
		name   string
		list   []conversation.Message
		rewind int32 // -1: it is refused
	}{
		{"the end is missing", of(record, 0, 1, 2, 3, 4), 5},
		{"the end and a middle are missing", of(record, 0, 4), 1},
		{"the end and the front are missing", of(record, 1, 2, 3, 4), -1},
		{"an edited message", []conversation.Message{record[0], assistant(text("other")), record[4], record[5]}, 1},
		{"a shortened result", slices.Concat(of(record, 0, 1, 2), []conversation.Message{tool(result("x", "po"))}, of(record, 4, 5)), 3},
		{"a lost result", of(record, 0, 1, 2, 4, 5), 3},
		{"a summary of the front", append([]conversation.Message{user(text("in short"))}, of(record, 4, 5)...), -1},
		{"something else", []conversation.Message{user(text("new"))}, -1},
		{"nothing", nil, -1},
	} {
		q := query(recorded(record...), given(c.list...))
		q.Hide = true
		if r, err := history.Find(q); kindOf(err) != conversation.HistoryDiverged {
			t.Errorf("%s: %v, %+v", c.name, err, r)
		}
		q.Rewind = true
		switch r, err := history.Find(q); {
		case c.rewind < 0 && kindOf(err) != conversation.HistoryDiverged:
			t.Errorf("%s: %v, %+v", c.name, err, r)
		case c.rewind >= 0 && (err != nil || r.Rewind != c.rewind || len(r.TakeOut) > 0):
			t.Errorf("%s: %v, %+v, want a rewind to %d", c.name, err, r, c.rewind)
		}
	}
}

func TestFind_Hide_BehindAKnownPrefix(t *testing.T) {
	t.Parallel()
	record := recorded(user(text("q")), assistant(text("a")), user(text("r")))[1:]
	q := query(record, given(user(text("r")), user(text("s"))))
	q.Known, q.Hide, q.Rewind = true, true, true
	if r := find(t, q); !slices.Equal(r.TakeOut, []int32{1}) || r.Rewind != -1 || !slices.Equal(words(r.Rest), []string{"user: s"}) {
		t.Errorf("%+v", r)
	}
}

// TestFind_TakenOut_ComesBackOrStaysAway: also for who keeps what is cut.
func TestFind_TakenOut_ComesBackOrStaysAway(t *testing.T) {
	t.Parallel()
	messages := []conversation.Message{user(text("q")), assistant(text("a")), user(text("r")), assistant(text("b")), user(text("s")), assistant(text("c"))}
	for _, c := range []struct {
		name    string
		list    []conversation.Message
		putBack []int32
		rewind  int32
		rest    []string
	}{
		{name: "away", list: of(messages, 0, 5), rewind: -1},
		{name: "back", list: messages, putBack: []int32{1, 2, 3, 4}, rewind: -1},
		{name: "some are back", list: append(of(messages, 0, 3, 4, 5), user(text("t"))), putBack: []int32{3, 4}, rewind: -1, rest: []string{"user: t"}},
		{name: "back, and the end is another", list: append(of(messages, 0, 1, 2, 3, 4), assistant(text("d"))), putBack: []int32{1, 2, 3, 4}, rewind: 5, rest: []string{"assistant: d"}},
		{name: "away, and the end is another", list: append(of(messages, 0), assistant(text("d"))), rewind: 5, rest: []string{"assistant: d"}},
	} {
		for _, hide := range []bool{false, true} {
			record := recorded(messages...)
			for i := 1; i < 5; i++ {
				record[i].TakenOut = true
			}
			q := query(record, given(c.list...))
			q.Hide, q.Rewind = hide, c.rewind >= 0
			r, err := history.Find(q)
			if err != nil || !slices.Equal(r.PutBack, c.putBack) || len(r.TakeOut) > 0 || r.Rewind != c.rewind || !slices.Equal(words(r.Rest), c.rest) {
				t.Errorf("%s: %v, %+v", c.name, err, r)
			}
		}
	}
}

// TestFind_Hide_OfAView: a summary stands for its range, and what a build left out is not taken out.
func TestFind_Hide_OfAView(t *testing.T) {
	t.Parallel()
	record := recorded(user(text("q")), assistant(text("a")), user(text("r")), assistant(text("b")), user(text("s")), assistant(text("c")))
	summary := history.Entry{Index: -1, Role: conversation.RoleAssistant, Parts: []history.Part{{Forms: []conversation.Part{text("in short")}}}}
	q := query(record, given(assistant(text("in short")), user(text("s")), assistant(text("c")), user(text("t"))))
	q.Hide, q.Views = true, views(append([]history.Entry{summary}, record[2:]...))
	if r := find(t, q); !slices.Equal(r.TakeOut, []int32{2, 3}) || !slices.Equal(words(r.Rest), []string{"user: t"}) {
		t.Errorf("%+v", r)
	}
	q.List = given(user(text("s")), assistant(text("c")))
	if r := find(t, q); !slices.Equal(r.TakeOut, []int32{0, 1, 2, 3}) { // the summary is gone, and all that it stands for
		t.Errorf("%+v", r)
	}
}

// TestFind_Hide_AnyRemovals_AreTheListThen: units go from anywhere, of messages that repeat.
func TestFind_Hide_AnyRemovals_AreTheListThen(t *testing.T) {
	t.Parallel()
	proptest.CheckN(t, 400, func(t *rapid.T) {
		happened := conversations().Draw(t, "happened")
		record, list := recorded(happened...), []conversation.Message(nil)
		ends := len(happened) == 0 // so that nothing but removals was done
		for i := 0; i < len(happened); {
			end := i + 1
			for end < len(happened) && happened[end].Role == conversation.RoleTool {
				end++
			}
			if ends = rapid.IntRange(0, 2).Draw(t, "removed") > 0; ends {
				list = append(list, happened[i:end]...)
			}
			i = end
		}
		more := conversations().Draw(t, "more")
		f := frameworks().Draw(t, "framework")
		f.Cut = false
		list, _ = f.list(t, append(list, more...))
		q := query(record, given(list...))
		q.Hide, q.Rewind = true, rapid.Bool().Draw(t, "rewind")
		r, err := history.Find(q)
		if err != nil {
			if ends {
				t.Fatalf("%v, of\n%s\nwas:\n%s", err, normal(list), normal(happened))
			}
			return
		}
		var got []conversation.Message
		for i := range happened {
			if !slices.Contains(r.TakeOut, int32(i)) && (r.Rewind < 0 || int32(i) < r.Rewind) {
				got = append(got, happened[i])
			}
		}
		for i := range r.Rest {
			got = append(got, r.Rest[i].Message)
		}
		if a, b := normal(withoutSideWords(got)), normal(withoutSideWords(list)); a != b {
			t.Fatalf("on record then:\n%s\nthe list:\n%s\nwas:\n%s\n%+v", a, b, normal(happened), r)
		}
	})
}
