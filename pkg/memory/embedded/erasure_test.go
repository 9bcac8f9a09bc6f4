package embedded_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/internal/testlane"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/memory"
	"github.com/palimpsest-context/palimpsest/pkg/memory/embedded"
	"github.com/palimpsest-context/palimpsest/pkg/search"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// secret is what is said, drawn, put, and made to go. Its codes are looked for as well as its words.
const secret = "My passphrase is zanzibar quetzal marmalade 4471."

func traces() map[string][]byte {
	return map[string][]byte{
		"words": []byte("zanzibar"), "codes": search.NewLine(secret, nil).Codes[9:], "conversation": []byte("secret talk"), "key": []byte("secret key"),
		"metadata": []byte("secret metadata"),
	}
}

// fill puts the secret in every place there is, and others beside it.
func fill(t *testing.T, target memory.Target, s memory.Scope) (note string) {
	t.Helper()
	add(t, target, talk(s, "talk", 0, day(0), "The bees are in the hall.", "I prefer tea over coffee."))
	add(t, target, talk(s, "secret talk", 0, day(0), "Hello there.", secret, "I prefer coffee over tea."))
	add(t, target, talk(s, "talk", 2, day(0), "They make honey."))
	note, err := target.Put(t.Context(), s, &memory.Note{Key: "secret key", Text: secret, Metadata: `{"of":"secret metadata"}`})
	must(t, err)
	return note
}

// ways are how all of the secret goes.
func ways(s memory.Scope, note string) map[string]func(t *testing.T, target memory.Target) {
	return map[string]func(t *testing.T, target memory.Target){
		"Forget": func(t *testing.T, target memory.Target) {
			f, err := target.Forget(t.Context(), s, time.Now().AddDate(10, 0, 0))
			must(t, err)
			if f.More || f.Deleted != 10 || len(f.Residue) > 0 {
				t.Errorf("%+v", f)
			}
		},
		"Retract and Delete": func(t *testing.T, target memory.Target) {
			f, err := target.Retract(t.Context(), s, &memory.Retraction{
				Conversation: "secret talk", Incarnation: incarnationOf("secret talk"), Range: conversation.Range{End: 100},
			})
			must(t, err)
			n, err := target.Delete(t.Context(), s, []string{note})
			if err != nil || len(n) != 1 || f.Deleted != 5 {
				t.Errorf("%v, %v, %+v", n, err, f)
			}
		},
	}
}

func TestErasure_Slots_HoldNothingOfWhatWent(t *testing.T) {
	t.Parallel()
	for name := range ways(memory.Scope{}, "") {
		w, s := memoryWorld(t), user("anna")
		target := w.process()
		note := fill(t, target, s)
		for what, trace := range traces() {
			if !holds(t, w.store, s, trace) {
				t.Errorf("the %s are nowhere to begin with", what)
			}
		}
		ways(s, note)[name](t, target)
		for what, trace := range traces() {
			if holds(t, w.store, s, trace) {
				t.Errorf("%s: the %s are still there", name, what)
			}
		}
		if found := find(t, w.process(), s, secret); len(found) > 0 {
			t.Errorf("%s: %q are found", name, textsOf(found))
		}
	}
}

// holds says whether any slot of a scope has some bytes.
func holds(t *testing.T, s store.Store, scope memory.Scope, trace []byte) bool {
	t.Helper()
	snap, err := s.Read(t.Context(), embedded.Partition(scope), store.Query{AllSlots: true})
	must(t, err)
	for name, value := range snap.Slots {
		if strings.Contains(name, string(trace)) || bytes.Contains(value, trace) {
			return true
		}
	}
	return false
}

// In bolt's file neither, as soon as its free pages are written over.
func TestErasure_BoltFile_HoldsNothingOfWhatWent(t *testing.T) {
	t.Parallel()
	for name := range ways(memory.Scope{}, "") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store")
			w, s := newWorld(openBolt(t, path)), user("anna")
			target := w.process()
			note := fill(t, target, s)
			if !inFile(t, path, []byte("zanzibar")) {
				t.Error("the file does not hold it to begin with: it says nothing")
			}
			ways(s, note)[name](t, target)
			deadline := time.Now().Add(testlane.Slack(10 * time.Second))
			for what, trace := range traces() {
				for inFile(t, path, trace) {
					if time.Now().After(deadline) {
						t.Fatalf("the %s are still in the file", what)
					}
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
}

func inFile(t *testing.T, path string, trace []byte) bool {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return bytes.Contains(content, trace)
}
