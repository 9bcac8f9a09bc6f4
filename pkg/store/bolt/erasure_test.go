package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/store"
)

// diary is a conversation with a secret for each message: in the message, in an edit that shows it, and in a content.
type diary struct {
	s    *Store
	conv int
	head store.Head
}

func newDiary(s *Store, conv int) *diary {
	return &diary{s: s, conv: conv, head: store.Head{Incarnation: ratioID(conv), Request: -1}}
}

// secretOf returns a secret that is too short to be compressed, and unlike anything else in the file.
func secretOf(conv int, n int32) string {
	return fmt.Sprintf("<secret %d of conversation %d: %x>", n, conv, noise(20+conv))
}

func contentOf(n int32) conversation.ID {
	var id conversation.ID
	binary.BigEndian.PutUint32(id[:], uint32(n)+1)
	return id
}

func (d *diary) next() *store.Change {
	c := &store.Change{Expect: d.head.Version, Head: d.head}
	c.Head.Version++
	c.Head.Revision++
	return c
}

func (d *diary) commit(ctx context.Context, c *store.Change) error {
	err := d.s.Commit(ctx, ratioKey(d.conv), c)
	if err == nil {
		d.head = c.Head
	}
	return err
}

func (d *diary) message(n int32, text conversation.Content, commit uint64) conversation.Message {
	return conversation.Message{Index: n, Role: conversation.RoleUser, Commit: commit, Parts: []conversation.Part{
		{Kind: conversation.PartText, Text: text},
	}}
}

// edit shows the whole of message n, or what is left of it.
func (d *diary) edit(n int32, text conversation.Content, commit uint64) conversation.Edit {
	return conversation.Edit{
		Seq: int64(n) + 1, Kind: conversation.EditParts, Range: conversation.Range{First: n, End: n + 1}, Commit: commit,
		Parts: []conversation.PartEdit{{Level: conversation.Shortened, Shown: conversation.Part{Kind: conversation.PartText, Text: text}}},
	}
}

func (d *diary) write(ctx context.Context) error {
	n, secret := d.head.Messages, secretOf(d.conv, d.head.Messages)
	err := d.s.Stage(ctx, ratioKey(d.conv), &store.Upload{Incarnation: d.head.Incarnation, ID: contentOf(n), Data: []byte(secret)})
	if err != nil {
		return err
	}
	c := d.next()
	c.Head.Messages, c.Head.EditSeq = n+1, int64(n)+1
	c.Uploads = []conversation.ID{contentOf(n)}
	c.Messages = []conversation.Message{d.message(n, conversation.Content{Inline: secret}, c.Head.Version)}
	c.Edits = []conversation.Edit{d.edit(n, conversation.Content{Inline: secret}, c.Head.Version)}
	return d.commit(ctx, c)
}

func (d *diary) erase(ctx context.Context, n int32) error {
	left := conversation.Content{Erased: &conversation.ErasedContent{Bytes: int64(len(secretOf(d.conv, n)))}}
	c := d.next()
	c.ReplaceMessages = []conversation.Message{d.message(n, left, d.head.Version)}
	c.ReplaceEdits = []conversation.Edit{d.edit(n, left, d.head.Version)}
	c.Release = []conversation.ID{contentOf(n)}
	return d.commit(ctx, c)
}

// erased says whether message n is erased; it fails if it is erased in part.
func (d *diary) erased(t *testing.T, n int32) bool {
	t.Helper()
	of := conversation.Range{First: n, End: n + 1}
	snap, err := d.s.Read(t.Context(), ratioKey(d.conv), store.Query{
		Ranges: []store.MessageRange{{Range: of}}, Edits: &store.EditRange{Of: []conversation.Range{of}},
		Contents: []store.ContentRange{{ID: contentOf(n), Length: -1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d.head = snap.Head
	if len(snap.Messages) != 1 || len(snap.Edits) != 1 {
		t.Fatalf("conversation %d, message %d: %d messages, %d edits", d.conv, n, len(snap.Messages), len(snap.Edits))
	}
	message := snap.Messages[0].Parts[0].Text.Erased != nil
	edit := snap.Edits[0].Parts[0].Shown.Text.Erased != nil
	content := snap.Contents[0] == nil
	if message != edit || edit != content {
		t.Fatalf("conversation %d, message %d is erased in part: message %v, edit %v, content %v", d.conv, n, message, edit, content)
	}
	return message
}

// TestStore_Erasure_FaultyDisk: an erasure with an unknown outcome was made as a whole or not at all, and can be repeated.
func TestStore_Erasure_FaultyDisk(t *testing.T) {
	for name, tc := range map[string]struct {
		fail func(commit func() error) error
		want bool
	}{
		"BeforeItStands": {func(func() error) error { return errDisk }, false},
		"AfterItStands":  {func(commit func() error) error { return errors.Join(commit(), errDisk) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := openFlaky(t, Options{})
			d := newDiary(f.Store, 1)
			if err := d.write(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.failOnce(tc.fail)
			if err := d.erase(t.Context(), 0); !errors.Is(err, store.ErrOutcomeUnknown) {
				t.Fatal(err)
			}
			if got := d.erased(t, 0); got != tc.want {
				t.Fatalf("erased: %v, wanted %v", got, tc.want)
			}
			if err := d.erase(t.Context(), 0); err != nil || !d.erased(t, 0) {
				t.Fatalf("again: %v", err)
			}
			reopened(t, f, func(f *flaky) {
				if !newDiary(f.Store, 1).erased(t, 0) {
					t.Error("it came back when the file was opened again")
				}
			})
		})
	}
}

// eraseForEver writes messages and erases every second one. It prints each erasure once that is acknowledged. Wiping is slow
// here, so that the process is often killed in the middle of it.
func eraseForEver(path, round string) {
	r := rand.New(rand.NewPCG(1, 1)) // one goroutine wipes
	s, err := Open(path, Options{Wipe: func(step func() error) error {
		time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
		return step()
	}})
	if err != nil {
		panic(err)
	}
	first, err := strconv.Atoi(round)
	if err != nil {
		panic(err)
	}
	for conv := first; conv < first+crashConversations; conv++ {
		go func() {
			d := newDiary(s, conv)
			for n := int32(1); ; n += 2 {
				err := errors.Join(d.write(context.Background()), d.write(context.Background()), d.erase(context.Background(), n))
				upload := store.Deletion{Incarnation: d.head.Incarnation, Upload: contentOf(n)}
				if _, failed := s.Delete(context.Background(), ratioKey(conv), upload); err != nil || failed != nil {
					panic(errors.Join(err, failed))
				}
				fmt.Println(conv, n)
			}
		}()
	}
	select {}
}

const crashConversations = 4

// TestStore_Crash_ErasureIsWhole kills the process at random moments, several times with one file. What was acknowledged as
// erased stays erased, nothing is erased in part, and everything else is there. Soon after the file is opened again, nothing of
// what was erased is left in it.
func TestStore_Crash_ErasureIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	acknowledged := make(map[int]int)
	for round := range 6 {
		maps.Copy(acknowledged, crashErasingIn(t, path, round))
		checked(t, path)
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var secrets []string
		for conv, last := range acknowledged {
			d := newDiary(s, conv)
			d.erased(t, 0) // loads the head
			for n := range d.head.Messages {
				switch {
				case n%2 == 0:
					d.intact(t, n)
				case d.erased(t, n): // in part it never is
				case n <= int32(last):
					t.Errorf("conversation %d, message %d was erased, and is back", conv, n)
				}
				if n%2 == 1 && n <= int32(last) {
					secrets = append(secrets, secretOf(conv, n))
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		raw := read(t, path)
		for _, secret := range secrets {
			if n := bytes.Count(raw, []byte(secret)); n > 0 {
				t.Errorf("%d copies of %.40q are left", n, secret)
			}
		}
	}
}

func crashErasingIn(t *testing.T, path string, round int) map[int]int {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashErasing+"="+path, crashRound+"="+strconv.Itoa(round*crashConversations))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := readAcknowledged(t, out, 40+rand.New(rand.NewPCG(uint64(round), 2)).IntN(40), func() { _ = child.Process.Kill() })
	_ = child.Wait() // it was killed
	return acknowledged
}

// TestStore_Erasure_NothingLiveKeepsIt: after an erasure and the sweep of its content, no record holds the words. The test looks
// at a compacted copy of the file; free pages are the subject of wipe_test.go.
func TestStore_Erasure_NothingLiveKeepsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := newDiary(s, 1)
	if err := errors.Join(d.write(t.Context()), d.write(t.Context()), d.erase(t.Context(), 0)); err != nil {
		t.Fatal(err)
	}
	done, err := s.Delete(t.Context(), ratioKey(1), store.Deletion{Incarnation: d.head.Incarnation, Upload: contentOf(0)})
	if err != nil || !done {
		t.Fatalf("swept: %v, %v", done, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	compact := compacted(t, path)
	if n := bytes.Count(compact, []byte(secretOf(1, 0))); n > 0 {
		t.Errorf("%d records hold what was erased", n)
	}
	if n := bytes.Count(compact, []byte(secretOf(1, 1))); n != 3 {
		t.Errorf("what was not erased is there %d times, in a message, an edit and a content", n)
	}
}

func compacted(t *testing.T, path string) []byte {
	t.Helper()
	from, err := bbolt.Open(path, fileMode, boltOptions(Options{}.withDefaults()))
	if err != nil {
		t.Fatal(err)
	}
	to, err := bbolt.Open(path+".compact", fileMode, boltOptions(Options{}.withDefaults()))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(bbolt.Compact(to, from, 1<<20), from.Close(), to.Close()); err != nil {
		t.Fatal(err)
	}
	return read(t, path+".compact")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
