package faults

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
)

// path is the file of a data folder.
func path(folder string) string { return filepath.Join(folder, "palimpsest.db") }

// values are what a file that nobody has open holds under keys that are chosen.
func values(t *testing.T, file, bucket string, chosen func(key []byte) bool) (out [][]byte) {
	t.Helper()
	db, err := bbolt.Open(file, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(bucket)).ForEach(func(k, v []byte) error {
			if chosen(k) {
				out = append(out, append([]byte(nil), v...))
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// chunks is how many chunks of contents a file holds.
func chunks(t *testing.T, file string) int {
	t.Helper()
	return len(values(t, file, "chunks", func([]byte) bool { return true }))
}

// sweepAfter does to a file what the sidecar's sweeper does to it after a time. The hour cannot be waited for, and no setting shortens it.
func sweepAfter(t *testing.T, file string, after time.Duration) {
	t.Helper()
	s, err := bolt.Open(file, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	e := engine.New(engine.Options{
		Store: s, Clock: func() time.Time { return time.Now().Add(after) },
		IDs:     func() (id conversation.ID) { _, _ = rand.Read(id[:]); return id },
		OnError: func(err error) { t.Error(err) },
	})
	defer e.Close()
	if err := e.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// halfSend sends the header of a content and the first of its bytes, and does not end it.
func (f *fixture) halfSend(o *op, length int) {
	f.t.Helper()
	stream, err := f.Contents.StoreContent(f.ctx)
	f.need(err)
	header, err := o.header()
	f.need(err)
	f.need(stream.Send(&pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Header{Header: header}}))
	for content := o.content()[:length]; len(content) > 0; content = content[min(sip, len(content)):] {
		f.need(stream.Send(&pb.StoreContentRequest{Piece: &pb.StoreContentRequest_Chunk{Chunk: content[:min(sip, len(content))]}}))
	}
}

// TestKill_WhileAContentComesIn_LeavesNothing kills the sidecar when it has a part of a content, or all of it but its end: nothing is
// listed, a retry stores it once, and what was staged goes after its hour and not before.
func TestKill_WhileAContentComesIn_LeavesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.need(f.fill(storing, 5))
	f.need(f.fill(citing, 2))
	f.need(f.sidecar.Stop())
	file := path(f.folder)
	listed := chunks(t, file)
	for i, length := range []int{1 << 20, 2 << 20} {
		f.start()
		o := &op{kind: storing, conversation: f.ledger.conversation, request: []string{"half", "whole"}[i], seed: uint64(i)<<6 | long}
		f.halfSend(o, length)
		f.sidecar.Kill()
		staged := chunks(t, file) - listed
		if staged < length/2/store.ChunkBytes {
			t.Fatalf("%d chunks are staged: nothing is tested", staged)
		}
		f.start()
		f.need(f.ledger.check(f.ctx, f.Client))
		f.need(f.make(o))
		f.need(f.ledger.again(f.ctx, f.Client))
		f.need(f.ledger.check(f.ctx, f.Client))
		f.need(f.sidecar.Stop())

		listed += (len(o.content()) + store.ChunkBytes - 1) / store.ChunkBytes
		sweepAfter(t, file, store.UploadGrace/2)
		if n := chunks(t, file); n != listed+staged {
			t.Errorf("%d chunks are kept, %d are listed and %d wait: half an hour is enough for some", n, listed, staged)
		}
		sweepAfter(t, file, store.UploadGrace+time.Minute)
		if n := chunks(t, file); n != listed {
			t.Errorf("%d chunks are kept an hour later, and %d are listed", n, listed)
		}
	}
	f.start()
	f.need(f.ledger.check(f.ctx, f.Client))
}
