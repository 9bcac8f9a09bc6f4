package mem0_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0"
	"github.com/palimpsest-context/palimpsest/pkg/memory/mem0/mem0test"
	"github.com/palimpsest-context/palimpsest/pkg/memory/memorytest"
)

func realTarget(t testing.TB, s *mem0test.Server, key string) *mem0.Target {
	t.Helper()
	return target(t, mem0.Options{Kind: mem0.Server, BaseURL: s.URL, APIKey: func() string { return key }})
}

func TestTarget_RealServer_KeepsTheContract(t *testing.T) {
	t.Parallel()
	s := mem0test.Start(t)
	open := func(t testing.TB) memory.Target { return realTarget(t, s, mem0test.AdminKey) }
	memorytest.Run(t, open, memorytest.Options{Lose: lose(s.Faults)})
}

// The package's own code between its model's failures and our errors.
func TestTarget_RealServer_ItsModelFails(t *testing.T) {
	t.Parallel()
	s := mem0test.Start(t)
	tg := realTarget(t, s, mem0test.AdminKey)
	for status, want := range map[string]error{
		"400": memory.ErrRefused, "422": memory.ErrRefused, "401": memory.ErrDenied, "429": memory.ErrUnavailable, "500": memory.ErrUnavailable,
	} {
		for _, infer := range []bool{true, false} {
			b := batch("I always say MODEL_SAYS_" + status + " at noon.")
			b.Infer = infer
			if _, err := tg.Add(t.Context(), b); !errors.Is(err, want) {
				t.Errorf("%s: %v", status, err)
			}
		}
	}
	// A batch that is kept message by message, and breaks at the second.
	b := batch("I am allergic to walnuts.", "I always say MODEL_SAYS_500 at noon.")
	b.Infer = false
	if _, err := tg.Add(t.Context(), b); !errors.Is(err, memory.ErrOutcomeUnknown) {
		t.Errorf("in the middle: %v", err)
	}
	if n := len(list(t, tg)); n != 1 {
		t.Errorf("%d messages were kept", n)
	}
	if _, err := tg.Settle(t.Context(), b); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("in the middle: %v", err)
	}
	if n := len(list(t, tg)); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

func TestTarget_RealServer_Faults(t *testing.T) {
	t.Parallel()
	s := mem0test.Start(t)
	tg := realTarget(t, s, mem0test.AdminKey)
	s.BreakNext(1, mem0test.Fault{Status: 429, Header: http.Header{"Retry-After": {"3"}}}, http.MethodPost, "/memories")
	var away *memory.UnavailableError
	if _, err := tg.Add(t.Context(), batch(bees)); !errors.As(err, &away) || away.After != 3*time.Second {
		t.Errorf("throttled: %v", err)
	}
	if _, err := realTarget(t, s, "wrong").Add(t.Context(), batch(bees)); !errors.Is(err, memory.ErrDenied) {
		t.Errorf("a wrong secret: %v", err)
	}
	if n := len(list(t, tg)); n != 0 {
		t.Fatalf("%d memories of nothing", n)
	}
	s.LoseAdd()
	if _, err := tg.Add(t.Context(), batch(bees)); !errors.Is(err, memory.ErrOutcomeUnknown) {
		t.Errorf("a lost answer: %v", err)
	}
	if r, err := tg.Settle(t.Context(), batch(bees)); err != nil || len(r.IDs) != 1 {
		t.Errorf("a lost answer: %+v, %v", r, err)
	}
}

// What the target says of what is kept is so: the history has the text of what was deleted. A user's secret deletes as an administrator's.
func TestTarget_RealServer_ForgetsAndSaysWhatStays(t *testing.T) {
	t.Parallel()
	s := mem0test.Start(t)
	for _, key := range []string{mem0test.UserKey, mem0test.AdminKey} {
		tg := realTarget(t, s, key)
		if _, err := tg.Add(t.Context(), batch("My canary is called Zerberus-"+key+".")); err != nil {
			t.Fatal(err)
		}
		if n := len(list(t, tg)); n != 1 {
			t.Fatalf("%d memories", n)
		}
		f, err := tg.Forget(t.Context(), anna(), time.Now())
		if err != nil || f.More || f.Deleted != 1 || len(f.Residue) != 1 || len(list(t, tg)) > 0 {
			t.Errorf("%+v, %v", f, err)
		}
		history, err := os.ReadFile(filepath.Join(s.Folder, "history.db"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(history), "Zerberus-"+key) {
			t.Error("the history forgot it too: the residue is no more true")
		}
	}
}
