package models

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

// TestProfiles_EachHasAllFiguresADateAndASource: a figure that nobody can look up again is a guess.
func TestProfiles_EachHasAllFiguresADateAndASource(t *testing.T) {
	known, err := Profiles()
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, v := range vendors(t) {
		lookedUp(t, v.Provider, v.Checked)
		for i := range v.Models {
			e, p := &v.Models[i], known[v.Models[i].Model]
			rows++
			lookedUp(t, e.Model, e.Checked, e.Source)
			if e.CacheLifetime != "" {
				lookedUp(t, e.Model, v.Checked, v.LifetimeSource)
			}
			if e.Reasoning != "" {
				lookedUp(t, e.Model, v.Checked, v.ReasoningSource)
			}
			e.holds(t, &p)
		}
	}
	if len(known) != rows || rows < 50 {
		t.Errorf("%d profiles of %d rows", len(known), rows)
	}
}

// holds says whether the figures of a row can be true, and fit together.
func (e *entry) holds(t *testing.T, p *conversation.ModelProfile) {
	t.Helper()
	if e.Model == "" || e.MaxOutput <= 0 || e.ContextWindow <= e.MaxOutput || e.MaxInput < 0 || e.MaxInput >= e.ContextWindow {
		t.Errorf("%+v", e)
	}
	if !(0 < e.CacheReadPrice && e.CacheReadPrice < e.InputPrice && e.InputPrice <= e.CacheWritePrice && e.InputPrice < e.OutputPrice) {
		t.Errorf("%s: prices %+v", e.Model, e)
	}
	room := *p.ContextWindowTokens - *p.ReservedOutputTokens
	if e.MaxInput > 0 && room > e.MaxInput || e.MaxInput == 0 && room < *p.ContextWindowTokens/4*3 {
		t.Errorf("%s: %d of %d are for input", e.Model, room, *p.ContextWindowTokens)
	}
	if kept := p.CacheLifetime; kept != nil && (*kept < time.Minute || *kept > 24*time.Hour) {
		t.Errorf("%s: its cache lives for %s", e.Model, kept)
	}
}

// lookedUp says whether there is a day, and where.
func lookedUp(t *testing.T, what, day string, sources ...string) {
	t.Helper()
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	for _, source := range sources {
		if u, err := url.Parse(source); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%s: source %q", what, source)
		}
	}
}

// TestProfiles_Table_IsSortedAndHoldsNothingElse: a row is found where one looks for it, and a member that nobody reads is a misspelled one.
func TestProfiles_Table_IsSortedAndHoldsNothingElse(t *testing.T) {
	providers := []string{}
	for _, v := range vendors(t) {
		providers = append(providers, v.Provider)
		for i := 1; i < len(v.Models); i++ {
			if v.Models[i-1].Model >= v.Models[i].Model {
				t.Errorf("%s stands before %s", v.Models[i-1].Model, v.Models[i].Model)
			}
		}
	}
	if !slices.IsSorted(providers) {
		t.Errorf("the providers are %q", providers)
	}
	strict := json.NewDecoder(bytes.NewReader(profiles))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new([]vendor)); err != nil {
		t.Error(err)
	}
}

func vendors(t *testing.T) []vendor {
	t.Helper()
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
