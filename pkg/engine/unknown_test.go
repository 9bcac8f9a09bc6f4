package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/engine"
	"github.com/palimpsest-context/palimpsest/pkg/store"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
	stored "github.com/palimpsest-context/palimpsest/pkg/store/record"
)

// newer is a field that no version has yet: number 2000, with four bytes.
const newer = "\x82\x7d\x04next"

// TestEngine_UnknownFields_SurviveRewrites: what a newer version wrote in records and slots is there when this one has changed them.
func TestEngine_UnknownFields_SurviveRewrites(t *testing.T) {
	s, err := bolt.Open(t.TempDir()+"/palimpsest.db", bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := lifeBench(s, nil)
	dropped := &conversation.Expiration{Turns: ptr(int32(1)), Mode: conversation.ExpirationRemove, PreserveOriginal: ptr(false)}
	b.append(t, "c", user("go"), call("k"), resultLiving("k", words(50), dropped))
	built := b.asked(t, "c", 5000, func(r *engine.BuildRequest) { r.Model = "m" })
	b.writtenByNewer(t, "c")
	b = lifeBench(s, nil) // nothing in memory

	if _, _, err := b.ReportUsage(ctx, keyOf("c"), built.Manifest.Seq, "", engine.Usage{Input: 500, Output: 9}); err != nil {
		t.Fatal(err)
	}
	later := *dropped
	later.Turns = ptr(int32(50))
	b.append(t, "c", call("l"), resultLiving("l", words(50), &later), user("and?"))
	for range 2 {
		b.asked(t, "c", 4000, func(r *engine.BuildRequest) { r.Model = "m" })
	}
	_, err = b.Update(ctx, engine.UpdateRequest{Key: keyOf("c"), Change: func(i engine.Info) (engine.Info, error) {
		i.Title, i.Policy.TTL = "title", ptr(time.Hour)
		return i, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	snap := b.everythingStored(t, "c")
	m := snap.Messages[2]
	if !conversation.Erased(m.Parts) || m.Unknown != newer || m.Parts[0].Unknown != "" {
		t.Errorf("the message whose result was erased has %q, the result %q", m.Unknown, m.Parts[0].Unknown)
	}
	for what, got := range map[string]string{
		"head": snap.Head.Unknown, "info": snap.Info.Unknown, "policy": snap.Info.Policy.Unknown, "manifest": snap.Manifests[len(snap.Manifests)-1].Unknown,
	} {
		if got != newer {
			t.Errorf("the %s has %q", what, got)
		}
	}
	for _, name := range []string{"build/fit", "build/erase", "build/usage/m"} {
		if value := string(snap.Slots[name]); strings.Count(value, newer) != 1 {
			t.Errorf("%s has %q", name, value)
		}
	}
}

func (b *bench) everythingStored(t *testing.T, id string) *store.Snapshot {
	t.Helper()
	snap, err := b.store.Read(ctx, keyOf(id), store.Query{
		Info: true, Ranges: []store.MessageRange{{Range: conversation.Range{End: 3}}}, Manifest: &store.ManifestRange{Limit: 10}, SlotsOf: "build/",
	})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// writtenByNewer adds an unknown field to what is stored.
func (b *bench) writtenByNewer(t *testing.T, id string) {
	t.Helper()
	snap := b.everythingStored(t, id)
	c := &store.Change{Expect: snap.Head.Version, Head: snap.Head, Info: snap.Info, Slots: map[string][]byte{}}
	c.Head.Version++
	c.Head.Unknown, c.Info.Unknown, c.Info.Policy.Unknown = newer, newer, newer
	for name, value := range snap.Slots {
		c.Slots[name] = append(value, newer...)
	}
	c.Slots["build/usage/m"] = append(stored.EncodeCalibration(&stored.Calibration{Prior: 1.5}, nil), newer...)
	c.ReplaceManifests, c.ReplaceMessages = snap.Manifests, snap.Messages[2:]
	c.ReplaceManifests[0].Unknown = newer
	m := &c.ReplaceMessages[0]
	m.Unknown, m.Parts[0].Unknown = newer, newer
	if err := b.store.Commit(ctx, keyOf(id), c); err != nil {
		t.Fatal(err)
	}
}
