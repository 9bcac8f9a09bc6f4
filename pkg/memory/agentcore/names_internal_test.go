package agentcore

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/bedrockagentcore/types"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
)

func TestNewLayout_Templates(t *testing.T) {
	t.Parallel()
	s := memory.Scope{Namespace: "default", Kind: memory.ScopeUser, ID: "anna"}
	for template, path := range map[string]string{
		"/actors/{actorId}":                      "/actors/default:anna",
		"/actors/{actorId}/":                     "/actors/default:anna/",
		"/{actorId}":                             "/default:anna",
		"/strategies/facts-01/actors/{actorId}":  "/strategies/facts-01/actors/default:anna",
		"/a/{actorId}/facts":                     "/a/default:anna/facts",
		"/actors/{actorId}/sessions/{sessionId}": "/actors/default:anna/sessions/",
		"/actors/{actorId}/{sessionId}/facts/":   "/actors/default:anna/",
		"":                                       "",
		"/":                                      "",
		"/actors":                                "",
		"actors/{actorId}":                       "",
		"/actors//{actorId}":                     "",
		"/actors/{actorId}//":                    "",
		"/actors/user-{actorId}":                 "",
		"/actors/{actorId}/{actorId}":            "",
		"/sessions/{sessionId}/{actorId}":        "",
		"/actors/{actorId}/{sessionId}/{sessionId}": "",
		"/actors/{actorId}/*":                       "",
		"/actors/{memoryStrategyId}/{actorId}":      "",
		"/actors/{actorId}/a b":                     "",
		"/{actorId}/" + strings.Repeat("x", 500):    "",
	} {
		l, err := newLayout(template)
		switch {
		case (err == nil) != (path != ""):
			t.Errorf("%s: %v", template, err)
		case err == nil && *l.path(s) != path:
			t.Errorf("%s: %s", template, *l.path(s))
		case err == nil && l.sessions != strings.Contains(template, "{sessionId}"):
			t.Errorf("%s: sessions %t", template, l.sessions)
		}
	}
}

func FuzzNewLayout(f *testing.F) {
	for _, seed := range []string{DefaultNamespace, "/a/{actorId}/{sessionId}/", "//{actorId}", "/{sessionId}{actorId}"} {
		f.Add(seed)
	}
	form := regexp.MustCompile(`^[a-zA-Z0-9/*][a-zA-Z0-9-_/*]*(?::[a-zA-Z0-9-_/*]+)*[a-zA-Z0-9-_/*]*$`) // AWS's
	f.Fuzz(func(t *testing.T, template string) {
		l, err := newLayout(template)
		if err != nil {
			return
		}
		anna, anna2 := memory.Scope{Namespace: "n", Kind: memory.ScopeUser, ID: "anna"}, memory.Scope{Namespace: "n", Kind: memory.ScopeUser, ID: "anna2"}
		path := *l.path(anna)
		if !form.MatchString(path) || len(path) > 1024 {
			t.Errorf("%q is no namespace", path)
		}
		if _, ok := within(path, []string{path}); !ok {
			t.Errorf("%q is not in itself", path)
		}
		if _, ok := within(path, []string{*l.path(anna2)}); ok {
			t.Errorf("%q shows another", path)
		}
	})
}

func TestWithin_OnlyWhatIsBelow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path  string
		names []string
		below string
		ok    bool
	}{
		{"/a/n:anna", []string{"/a/n:anna"}, "", true},
		{"/a/n:anna/", []string{"/a/n:anna"}, "", true},
		{"/a/n:anna", []string{"/a/n:anna/x/y/"}, "x/y", true},
		{"/a/n:anna", []string{"/a/n:anna2"}, "", false},
		{"/a/n", []string{"/a/n:anna"}, "", false},
		{"/a/n:anna", []string{"/b/n:anna"}, "", false},
		{"/a/n:anna", []string{"/a"}, "", false},
		{"/a/n:anna", nil, "", false},
		{"/a/n:anna", []string{"/a/n:anna", "/a/n:bert"}, "", false},
	} {
		if below, ok := within(test.path, test.names); ok != test.ok || ok && below != test.below {
			t.Errorf("%+v: %q, %t", test, below, ok)
		}
	}
}

func TestActorOf_KindsAndOddNames_AreApart(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9-_/]*(?::[a-zA-Z0-9-_/]+)*[a-zA-Z0-9-_/]*$`) // AWS's
	seen := map[string]memory.Scope{}
	for _, space := range []string{"default", "session", "agent", "-", "_x", "h-", "", "a:b", strings.Repeat("x", 100), "é"} {
		for _, id := range []string{"anna", "session", "-", "_", "default:anna", "", strings.Repeat("y", 100), "é"} {
			for kind := memory.ScopeUser; kind <= memory.ScopeOrg; kind++ {
				s := memory.Scope{Namespace: space, Kind: kind, ID: id}
				if kind == memory.ScopeOrg {
					s.ID = ""
				}
				actor := actorOf(s)
				if other, ok := seen[actor]; ok && other != s {
					t.Errorf("%+v and %+v are both %s", s, other, actor)
				}
				if seen[actor] = s; len(actor) > 255 || !form.MatchString(actor) {
					t.Errorf("%+v is %s", s, actor)
				}
			}
		}
	}
	if got := actorOf(memory.Scope{Namespace: "default", Kind: memory.ScopeUser, ID: "anna"}); got != "default:anna" {
		t.Error(got)
	}
}

func TestSessionOf_BeginsWithItsConversation(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9-_]*$`) // AWS's
	seen := map[string]bool{}
	for _, name := range []string{"talk", "talk ", "é", ""} {
		for _, id := range []conversation.ID{{1}, {2}} {
			for _, session := range []string{"1", "2", strings.Repeat("s", 100), "a b", ""} {
				got := sessionOf(&memory.Batch{Conversation: name, Incarnation: id, Session: session})
				if seen[got] || len(got) > 100 || !form.MatchString(got) || !strings.HasPrefix(got, ofIncarnation(name, id)) || !strings.HasPrefix(got, ofConversation(name)) {
					t.Errorf("%q, %q: %s", name, session, got)
				}
				seen[got] = true
			}
		}
	}
}

func FuzzLabels_Pack(f *testing.F) {
	for _, seed := range []string{"", "a talk/1", strings.Repeat("é", 900), "\x00\xff", `{"a":1}`} {
		f.Add(seed)
	}
	form := regexp.MustCompile(`^[a-zA-Z0-9\s._:/=+@-]{1,256}$`) // AWS's
	f.Fuzz(func(t *testing.T, text string) {
		l := labels{}
		l.pack(jsonLabel, text)
		if len(l) <= maxLabels && l.unpack(jsonLabel) != text {
			t.Errorf("%q came back as %q", text, l.unpack(jsonLabel))
		}
		for name := range l {
			if !form.MatchString(l.get(name)) || !form.MatchString(name) {
				t.Errorf("%s: %q", name, l.get(name))
			}
		}
	})
}

func FuzzRangeOf(f *testing.F) {
	f.Add("0", "0")
	f.Add("3", "1")
	f.Add("-1", "2147483647")
	f.Fuzz(func(t *testing.T, first, last string) {
		if r := rangeOf(first, last); r.First < 0 || r.End < r.First {
			t.Errorf("%+v", r)
		}
	})
}

func TestExpiryOf_IsAtLeastWhatTheServiceTakes(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for after, days := range map[time.Duration]int32{time.Minute: 31, 31 * 24 * time.Hour: 32, 40*24*time.Hour - 1: 40, math.MaxInt64: 106752} {
		got, ok := expiryOf(&memory.Note{Time: begin, ExpireTime: begin.Add(after)}).(*types.RecordExpirySpecificationMemberRecordExpiryDurationDays)
		if !ok || got.Value != days {
			t.Errorf("%v: %+v", after, got)
		}
	}
	if expiryOf(&memory.Note{Time: begin}) != nil {
		t.Error("a note that does not expire does")
	}
}
