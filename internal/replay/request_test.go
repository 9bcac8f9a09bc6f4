package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

// essay is a text of so many different words.
func essay(words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()
}

// talk is a recording of an opening, a call, a request and another call.
func talk(opening, request string) string {
	return fmt.Sprintf(`{"id":"c","messages":[{"role":"user","content":%q},
		{"role":"assistant","content":"","tool_calls":[{"id":"a","name":"read","arguments":"{}"}]},{"role":"tool","tool_call_id":"a","content":"one"},
		{"role":"assistant","content":"Done"},{"role":"user","content":%q},
		{"role":"assistant","content":"","tool_calls":[{"id":"b","name":"read","arguments":"{}"}]},{"role":"tool","tool_call_id":"b","content":"two"},
		{"role":"assistant","content":"Done too"}]}`, opening, request)
}

// judgedFrom is how many messages of a talk there are when the words of one are
// neither in the newest unit nor another kind of words.
func judgedFrom(i int) int { return map[int]int{0: 5, 4: 7}[i] }

// without leaves a message out as soon as its words are judged.
func without(i int) func([]*pb.Message) []*pb.Message {
	return func(m []*pb.Message) []*pb.Message {
		if len(m) < judgedFrom(i) {
			return m
		}
		return slices.Delete(slices.Clone(m), i, i+1)
	}
}

// cutTo shows so many characters of a message's head and as many of its tail as
// soon as its words are judged.
func cutTo(i, chars int) func([]*pb.Message) []*pb.Message {
	return func(m []*pb.Message) []*pb.Message {
		if len(m) < judgedFrom(i) {
			return m
		}
		out := slices.Clone(m)
		text := m[i].GetParts()[0].GetText()
		out[i] = proto.CloneOf(m[i])
		out[i].Parts[0] = wordsPart(text[:chars] + "\n[... cut ...]\n" + text[len(text)-chars:])
		return out
	}
}

func TestCommand_Run_WordsOfTheUser_AreDemanded(t *testing.T) {
	short, long := "Fix the parser", essay(400)
	for name, c := range map[string]struct {
		talk   string
		show   func([]*pb.Message) []*pb.Message
		window int32
		want   string // the only figure that is broken
	}{
		"all is shown":                     {talk(short, long), nil, 16384, ""},
		"no request":                       {talk(short, long), without(4), 16384, "request_missing"},
		"no opening":                       {talk(long, short), without(0), 16384, "opening_missing"},
		"cut request that fits":            {talk(short, long), cutTo(4, 150), 16384, "request_cut"},
		"cut opening that fits":            {talk(long, short), cutTo(0, 150), 16384, "opening_cut"},
		"cut request over its half":        {talk(short, long), cutTo(4, 150), 860, ""},
		"line of a request over its half":  {talk(short, long), cutTo(4, 60), 860, "request_missing"},
		"cut opening over its tenth":       {talk(essay(1000), short), cutTo(0, 150), 2000, ""},
		"line of an opening":               {talk(essay(1000), short), cutTo(0, 60), 2000, "opening_missing"},
		"no room for a line of an opening": {talk(long, short), without(0), 700, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{messages: c.show, report: func(r *pb.BuildContextResponse) {
				r.Tokens.SavedByFit, r.Tokens.SavedByExpiry = r.GetTokens().GetSavedByExpiry(), 0
			}}
			r, err := played(t, f, c.talk, func(cmd *Command) { cmd.Window = c.window })
			// The fake takes no notice of a budget, and restores only what is left out.
			got := slices.DeleteFunc(r.Broken(), func(fault string) bool {
				return strings.HasPrefix(fault, "over_budget") || strings.HasPrefix(fault, "restores")
			})
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want+" ")) {
				t.Errorf("%v, %+v, want %q", got, r.Examples, c.want)
			}
			if c.want != "" && !errors.Is(err, report.ErrJudged) {
				t.Error(err)
			}
		})
	}
}

func TestCommand_Run_AnOpeningThatMayLeave_IsNotDemanded(t *testing.T) {
	for fit, demanded := range map[string]bool{`{}`: true, `{"keep_opening":true}`: true, `{"keep_opening":false}`: false} {
		file := filepath.Join(t.TempDir(), "policy.json")
		if err := os.WriteFile(file, []byte(`{"conversation":{"fit":`+fit+`}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := played(t, &fake{messages: without(0)}, talk(essay(400), "Fix the parser"), func(cmd *Command) {
			cmd.Window, cmd.Policy, cmd.Alone = 16384, []string{file}, true
		})
		if err != nil && !errors.Is(err, report.ErrJudged) {
			t.Fatal(err)
		}
		if r.OpeningMissing > 0 != demanded {
			t.Errorf("%s: %d openings are missing", fit, r.OpeningMissing)
		}
	}
}

func TestConversation_Hear_TakesAUsersOwnWordsAlone(t *testing.T) {
	c := &conversation{session: &session{policy: &policy{}, count: func(string) int { return 1 }}, Tally: report.NewTally(nil)}
	for i, m := range []*pb.Message{
		{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{wordsPart("r")}, MessageType: pb.MessageType_MESSAGE_TYPE_ACTION_RESULT},
		{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{wordsPart("first")}},
		{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{wordsPart("second")}, MessageType: pb.MessageType_MESSAGE_TYPE_USER_INPUT},
		{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{wordsPart(" \n")}},
		{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{wordsPart("r")}, MessageType: pb.MessageType_MESSAGE_TYPE_SUB_AGENT_RESULT},
		{Role: pb.Role_ROLE_USER, Parts: []*pb.Part{wordsPart("r")}, MessageType: pb.MessageType_MESSAGE_TYPE_RETRY_CONTEXT},
		{Role: pb.Role_ROLE_ASSISTANT, Parts: []*pb.Part{wordsPart("a")}},
	} {
		c.appended = append(c.appended, m)
		c.trackUserWords(m)
		if i > 0 && c.opening.message != 1 {
			t.Fatalf("after message %d the opening is %d", i, c.opening.message)
		}
	}
	if c.inForce.message != 2 || c.inForce.chars != 6 {
		t.Errorf("%+v is in force", c.inForce)
	}
}

func TestEdges_CountsHeadAndTail(t *testing.T) {
	text := essay(100)
	for name, c := range map[string]struct {
		shown string
		want  int
	}{
		"whole":            {"> " + text, len(text)},
		"head and tail":    {text[:100] + " ... " + text[len(text)-50:], 150},
		"head alone":       {text[:300], 0},
		"tail alone":       {text[len(text)-300:], 0},
		"the other way":    {text[len(text)-50:] + text[:100], 0},
		"something of it":  {text[200:400], 0},
		"nothing":          {"", 0},
		"not much of both": {text[:10] + text[len(text)-10:], 0},
	} {
		if got := edges(c.shown, text); got != c.want {
			t.Errorf("%s: %d characters, want %d", name, got, c.want)
		}
	}
	if edges("yes, all of it", "yes") != 0 || edges("yes", "yes") != 3 {
		t.Error("a short text must stand alone")
	}
}
