package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/palimpsest-context/palimpsest/test/faults/process"
)

func TestUpgrade_OldNewOld_NothingIsLost(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()

	first := begin(t, older, folder)
	first.play(1)
	old := first.record()
	first.end()

	second := begin(t, newer, folder)
	second.holds(old)
	if !second.append(conversations[0], "1-0-0", turnOf(1, 0)[0]) {
		t.Error("the new version does not know a request id of the old one")
	}
	second.play(2)
	both := second.record()
	second.end()
	checkStore(t, newer, folder)

	third := begin(t, older, folder)
	third.holds(old)
	third.holds(both)
	if !third.append(conversations[0], "2-0-0", turnOf(2, 0)[0]) {
		t.Error("the old version does not know a request id of the new one")
	}
	third.play(3)
	third.end()
	checkStore(t, older, folder)
}

// TestUpgrade_LayoutFromLater_Refused: what a later version may do to the file, an older one does not guess at.
func TestUpgrade_LayoutFromLater_Refused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first := begin(t, newer, folder)
	first.play(1)
	first.end()
	db, err := bbolt.Open(filepath.Join(folder, "palimpsest.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(t *bbolt.Tx) error { return t.Bucket([]byte("meta")).Put([]byte("layout"), []byte("9")) })
	if err := closeAfter(db, err); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(folder, "palimpsest.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, binary := range []string{older, newer} {
		sidecar, err := process.Launch(binary, folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := sidecar.Ended(); err == nil || !strings.Contains(sidecar.Log(), `it has layout "9", and this version knows "1"`) {
			t.Errorf("%s ended with %v, saying:\n%s", binary, err, sidecar.Log())
		}
	}
	if after, err := os.ReadFile(filepath.Join(folder, "palimpsest.db")); err != nil || string(after) != string(before) {
		t.Errorf("the file of a later version was changed (%v)", err)
	}
}

func closeAfter(db *bbolt.DB, err error) error {
	if closed := db.Close(); err == nil {
		return closed
	}
	return err
}
