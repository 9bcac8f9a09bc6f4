package bolt

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestCheck_Sound_FindsNothing, and counts what is there.
func TestCheck_Sound_FindsNothing(t *testing.T) {
	path := populated(t)
	var pages, of uint64
	r, err := Check(path, Options{}, func(p, o uint64) { pages, of = p, o })
	must(t, err)
	if !r.OK() || r.Conversations != 16 || r.Records < 16+12*20*4 || r.Pages == 0 {
		t.Errorf("%+v", r)
	}
	if pages != r.Pages || of < pages {
		t.Errorf("progress: %d of %d", pages, of)
	}
}

// TestCheck_DamagedValue_NamesConversationAndKind, and nothing of what it says.
func TestCheck_DamagedValue_NamesConversationAndKind(t *testing.T) {
	path := populated(t)
	raw, secret := read(t, path), []byte(secretOf(3, 7))
	for at := bytes.Index(raw, secret); at >= 0; at = bytes.Index(raw, secret) {
		raw[at] ^= 1
	}
	must(t, os.WriteFile(path, raw, 0o600))
	r, err := Check(path, Options{}, nil)
	must(t, err)
	all := strings.Join(r.Damages, "\n")
	for _, want := range []string{"conversation-000003", "1 damaged: message", "1 damaged: edit", "1 damaged: content"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
	if strings.Contains(all, "secret 7") || len(r.Damages) != 3 {
		t.Errorf("%s", all)
	}
}
