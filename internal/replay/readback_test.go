package replay

import (
	"errors"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

func TestCommand_Run_Summaries_AreExpandedDownToMessages(t *testing.T) {
	r, err := played(t, &fake{chapters: taken()}, recorded)
	if err != nil || r.Unreachable != 0 || (r.Reached != report.Reached{Summaries: 2, Messages: 4}) {
		t.Errorf("%v, %+v, %+v", err, r.Reached, r.Examples)
	}
}

func TestCommand_Run_SummaryThatLoses_IsCounted(t *testing.T) {
	for name, lose := range map[string]func(*chapters){
		"a gap":              func(c *chapters) { c.children["s1"] = []any{1, 3} },
		"a message twice":    func(c *chapters) { c.children["s1"] = []any{1, 1, 2, 3} },
		"another order":      func(c *chapters) { c.children["s1"] = []any{2, 1, 3} },
		"no end":             func(c *chapters) { c.children["s2"] = []any{"s1"} },
		"too much":           func(c *chapters) { c.children["s2"] = []any{"s1", 4, 5} },
		"no beginning":       func(c *chapters) { c.children["s1"] = []any{2, 3} },
		"a child of another": func(c *chapters) { c.ranges["s1"] = [2]int32{0, 3} },
		"a backward range":   func(c *chapters) { c.ranges["s1"] = [2]int32{1, 0} },
		"a lost child":       func(c *chapters) { delete(c.children, "s1") },
	} {
		t.Run(name, func(t *testing.T) {
			c := taken()
			lose(c)
			r, err := played(t, &fake{chapters: c}, recorded)
			if r.Unreachable == 0 || !errors.Is(err, report.ErrJudged) {
				t.Errorf("%v, %+v", err, r.Reached)
			}
		})
	}
	if r, _ := played(t, &fake{chapters: taken(), expand: otherText}, recorded); r.Unreachable != 4 {
		t.Errorf("%d messages that came back other than they were appended are unreachable", r.Unreachable)
	}
}
