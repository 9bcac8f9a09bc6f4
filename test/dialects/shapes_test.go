package dialects

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

const leastShapes = 20 // of each provider

// shapes are short conversations, each with one kind of what a provider's types have.
type shapes struct {
	Source source `json:"source"`
	Format string `json:"format"`
	Model  string `json:"model"`
	Shapes []struct {
		Name     string            `json:"name"`
		Messages []json.RawMessage `json:"messages"`
	} `json:"shapes"`
}

// TestShapes_EveryTypeOfTheSDKs_GoesBack: what the newest SDKs have a type for comes back as it was, and is legal in all other formats. That
// it is of the type, test/interop says (judge/shapes.py).
func TestShapes_EveryTypeOfTheSDKs_GoesBack(t *testing.T) {
	w := start(t, filepath.Join(t.TempDir(), "palimpsest.db"))
	defer w.close()
	files, err := filepath.Glob("testdata/shapes/*.json")
	if err != nil || len(files) != len(formats)-1 {
		t.Fatalf("%d files for %d formats: %v", len(files), len(formats)-1, err)
	}
	for _, file := range files {
		all := read[shapes](t, file)
		if !all.Source.complete() || len(all.Shapes) < leastShapes || filepath.Base(file) != all.Format+".json" {
			t.Errorf("%s: %d shapes of %q, source %+v", file, len(all.Shapes), all.Format, all.Source)
		}
		for _, s := range all.Shapes {
			f := &fixture{Format: all.Format, Model: all.Model, Sent: s.Messages}
			for _, m := range s.Messages {
				f.Steps = append(f.Steps, step{Message: m})
			}
			name := strings.Join([]string{all.Format, s.Name}, "/")
			t.Run(name, func(t *testing.T) { wantSent(t, f, w.play(t, "shape "+name, f, hands["as dumped"]), "as dumped") })
		}
	}
}
