package upgrade

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "github.com/palimpsest-context/palimpsest/gen/palimpsest/v1"
)

// The files of a store, compressed, and what a client saw of it.
const (
	keptFolder   = "testdata"
	recordFolder = "record"
)

// TestKept_StoresOfEarlierVersions_Open: what earlier versions have left, this one serves.
func TestKept_StoresOfEarlierVersions_Open(t *testing.T) {
	t.Parallel()
	if name := os.Getenv("PALIMPSEST_KEEP_STORE"); name != "" {
		keep(t, filepath.Join(keptFolder, name))
	}
	stores, err := os.ReadDir(keptFolder)
	if err != nil || len(stores) == 0 {
		t.Fatalf("no store was kept: %v", err)
	}
	for _, store := range stores {
		t.Run(store.Name(), func(t *testing.T) {
			t.Parallel()
			folder, from := t.TempDir(), filepath.Join(keptFolder, store.Name())
			unpack(t, from, folder)
			p := begin(t, newer, folder)
			p.holds(readRecord(t, filepath.Join(from, recordFolder)))
			p.play(9)
			p.end()
			checkStore(t, newer, folder)
		})
	}
}

// keep plays a store and writes down what a client sees of it, once for each version.
func keep(t *testing.T, to string) {
	t.Helper()
	folder := t.TempDir()
	p := begin(t, newer, folder)
	p.play(1)
	seen := p.record()
	p.end()
	if err := os.MkdirAll(filepath.Join(to, recordFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(to, f.Name()+".gz"), content)
	}
	for conversation, messages := range seen.messages {
		page := &pb.ListMessagesResponse{Messages: messages}
		builds := &pb.ListManifestsResponse{Manifests: seen.builds[conversation]}
		write(t, filepath.Join(to, recordFolder, conversation+".messages.gz"), encode(t, page))
		write(t, filepath.Join(to, recordFolder, conversation+".manifests.gz"), encode(t, builds))
	}
}

func encode(t *testing.T, m proto.Message) []byte {
	t.Helper()
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(content)
	if err := errors.Join(err, w.Close(), os.WriteFile(path, out.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range []string{"palimpsest.db", "palimpsest.db.last"} {
		if err := os.WriteFile(filepath.Join(to, name), read(t, filepath.Join(from, name+".gz")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func readRecord(t *testing.T, folder string) record {
	t.Helper()
	r := record{messages: map[string][]*pb.Message{}, builds: map[string][]*pb.Manifest{}}
	for _, conversation := range conversations {
		var messages pb.ListMessagesResponse
		var builds pb.ListManifestsResponse
		err := errors.Join(
			proto.Unmarshal(read(t, filepath.Join(folder, conversation+".messages.gz")), &messages),
			proto.Unmarshal(read(t, filepath.Join(folder, conversation+".manifests.gz")), &builds))
		if err != nil {
			t.Fatal(err)
		}
		r.messages[conversation], r.builds[conversation] = messages.GetMessages(), builds.GetManifests()
	}
	return r
}
