package models

import (
	"net/url"
	"testing"
	"time"
)

// TestProfiles_EachHasAllFiguresADateAndASource: a figure that nobody can look up again is a guess.
func TestProfiles_EachHasAllFiguresADateAndASource(t *testing.T) {
	entries, err := read()
	if err != nil {
		t.Fatal(err)
	}
	known, err := Profiles()
	if err != nil || len(known) != len(entries) || len(known) < 10 {
		t.Errorf("%d profiles of %d entries, %v", len(known), len(entries), err)
	}
	for i := range entries {
		e := &entries[i]
		if _, err := time.Parse(time.DateOnly, e.Checked); err != nil {
			t.Errorf("%s: %v", e.Model, err)
		}
		if u, err := url.Parse(e.Source); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%s: source %q", e.Model, e.Source)
		}
		if e.Model == "" || e.MaxOutput <= 0 || e.ContextWindow <= e.MaxOutput {
			t.Errorf("%+v", e)
		}
		if !(0 < e.CacheReadPrice && e.CacheReadPrice < e.InputPrice && e.InputPrice <= e.CacheWritePrice && e.InputPrice < e.OutputPrice) {
			t.Errorf("%s: prices %+v", e.Model, e)
		}
		if p := known[e.Model]; *p.ReservedOutputTokens > *p.ContextWindowTokens/4 {
			t.Errorf("%s: %d of %d are reserved", e.Model, *p.ReservedOutputTokens, *p.ContextWindowTokens)
		}
	}
}
