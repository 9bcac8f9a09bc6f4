package replay

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

const endsOpen = `{"id":"c","messages":[{"role":"user","content":"Go"},{"role":"assistant","content":"I do"},{"role":"user","content":"Go on"},
	{"role":"assistant","content":"","tool_calls":[{"id":"a","name":"read","arguments":"{}"}]}]}`

// parallel is a recording with two calls in a message, twice.
const parallel = `{"id":"c","messages":[{"role":"user","content":"Read both"},
	{"role":"assistant","content":"I do","tool_calls":[{"id":"a","name":"read","arguments":"{}"},{"id":"b","name":"list","arguments":"{}"}]},
	{"role":"tool","tool_call_id":"b","content":"two"},{"role":"tool","tool_call_id":"a","content":"one"},
	{"role":"assistant","content":"","tool_calls":[{"id":"a","name":"read","arguments":"{}"},{"id":"b","name":"list","arguments":"{}"}]},
	{"role":"tool","tool_call_id":"b","content":"two"},{"role":"tool","tool_call_id":"a","content":"one"},
	{"role":"assistant","content":"Read"}]}`

func splitting(c *Command) { c.SplitCalls = true }

func TestCommand_Run_End_IsBuiltAndNotMeasured(t *testing.T) {
	r, err := played(t, &fake{}, recorded)
	// Behind the last message, and in two larger windows.
	if err != nil || r.Builds != 3 || r.AtEnd.Builds != 3 || len(r.AtEnd.Refused) != 0 {
		t.Errorf("%v, %+v", err, r.AtEnd)
	}
	open, err := played(t, &fake{}, endsOpen)
	if err != nil || open.AtEnd.Builds != 4 || open.AtEnd.Refused[reasonPending] != 1 || len(open.Refused) != 0 {
		t.Errorf("%v, %+v", err, open)
	}
	late := &fake{report: func(r *pb.BuildContextResponse) {
		if r.GetTurn() == 4 {
			r.Rendered.ContentSha256 = "00"
		}
	}}
	// The window's, and the two of larger ones, which are of the same turn.
	if r, err := played(t, late, recorded); r.Errors != 3 || !errors.Is(err, report.ErrJudged) {
		t.Errorf("%v, %d errors", err, r.Errors)
	}
}

func TestCommand_Run_SplitCalls_PlaysTheSame(t *testing.T) {
	whole, err := played(t, &fake{}, parallel)
	if err != nil {
		t.Fatalf("%v, %+v", err, whole.Examples)
	}
	r, err := played(t, &fake{}, parallel, splitting)
	if err != nil || r.Messages != whole.Messages+2 || r.Builds != whole.Builds {
		t.Errorf("%v, %d messages, %d builds, %+v", err, r.Messages, r.Builds, r.Examples)
	}
}

func TestCommand_Run_AnswersLost_AreCounted(t *testing.T) {
	instead := func(text string) func([]*pb.Message) []*pb.Message {
		return func(m []*pb.Message) []*pb.Message {
			out := slices.Clone(m)
			if len(m) > 9 {
				out[3] = proto.CloneOf(m[3])
				out[3].Parts[0].GetToolResult().Output = &pb.ToolResult_Text{Text: text}
			}
			return out
		}
	}
	for name, show := range map[string]func([]*pb.Message) []*pb.Message{
		"never answered": instead(neverAnswered),
		"late": func(m []*pb.Message) []*pb.Message {
			return append([]*pb.Message{{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{wordsPart(lateResult + "read]\none")}}}, m...)
		},
	} {
		r, err := played(t, &fake{messages: show}, parallel, splitting)
		if r.AnswersLost == 0 || !errors.Is(err, report.ErrJudged) {
			t.Errorf("%s: %v, %+v", name, err, r.Examples)
		}
	}
	if r, _ := played(t, &fake{messages: instead("[Old tool result content cleared.]")}, parallel, splitting); r.AnswersLost != 0 {
		t.Errorf("a result that was cleared is taken for a call that was never answered: %+v", r.Examples)
	}
}

func TestCommand_Run_LargerWindow_ShowsNoLess(t *testing.T) {
	firstGone := func(m []*pb.Message) []*pb.Message { return m[1:] }
	shorter := func(m []*pb.Message) []*pb.Message {
		out := slices.Clone(m)
		out[3] = proto.CloneOf(m[3])
		out[3].Parts[0].GetToolResult().Output = &pb.ToolResult_Text{Text: "?"}
		return out
	}
	for name, c := range map[string]struct {
		small, large func([]*pb.Message) []*pb.Message
		want         int
		detail       string
	}{
		"the same":            {nil, nil, 0, ""},
		"lost in larger ones": {nil, firstGone, 2, "not in full any more"},
		"left out of all":     {firstGone, firstGone, 2, "left out or summarized"},
		"fewer tokens":        {compacting(7), shorter, 1, "are shown, then"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{messages: c.small, narrow: c.large, deaf: true}
			r, _ := played(t, f, recorded)
			at := slices.IndexFunc(r.Examples, func(e report.Example) bool { return e.Figure == "larger_shows_less" })
			if r.LargerShowsLess != c.want || c.want > 0 && !strings.Contains(r.Examples[at].Detail, c.detail) {
				t.Errorf("%d, %+v", r.LargerShowsLess, r.Examples)
			}
		})
	}
}

// A policy that bounds how many messages are shown does so in every window.
func TestCommand_Run_LargerWindow_OfSoManyMessages_IsNotHeldToTheSmaller(t *testing.T) {
	file := policyFile(t, "conversation: {compaction: {strategy: sliding_window, threshold_messages: 24}}")
	f := &fake{narrow: func(m []*pb.Message) []*pb.Message { return m[1:] }, deaf: true}
	r, err := played(t, f, recorded, func(c *Command) { c.Policy, c.Alone = []string{file}, true })
	if err != nil || r.LargerShowsLess != 0 {
		t.Errorf("%d, %v: %+v", r.LargerShowsLess, err, r.Examples)
	}
}

func TestCommand_Run_Restore_MustHaveAnEffect(t *testing.T) {
	gone := func(m []*pb.Message) []*pb.Message {
		if len(m) < 6 {
			return m
		}
		return append([]*pb.Message{m[0], m[1]}, m[4:]...)
	}
	for name, c := range map[string]struct {
		fake              *fake
		restored, refused int
		broken            int
	}{
		"restored":    {&fake{messages: gone}, 1, 0, 0},
		"no effect":   {&fake{messages: gone, deaf: true}, 1, 0, 1},
		"not edited":  {&fake{messages: gone, restore: refusal(reasonNotEdited)}, 0, 1, 1},
		"too large":   {&fake{messages: gone, restore: refusal("EXPANSION_TOO_LARGE")}, 0, 1, 0},
		"all in full": {&fake{}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := played(t, c.fake, recorded)
			refused := 0
			for _, n := range r.AtEnd.RestoresRefused {
				refused += n
			}
			if r.AtEnd.Restores != c.restored || refused != c.refused || r.RestoresWithoutEffect != c.broken || errors.Is(err, report.ErrJudged) != (c.broken > 0) {
				t.Errorf("%v, %+v, %d without effect, %+v", err, r.AtEnd, r.RestoresWithoutEffect, r.Examples)
			}
		})
	}
}
