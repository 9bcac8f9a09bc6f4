// Package models holds what is known of well known models: windows, prices, lifetimes of caches and bindings of reasoning, as data, each
// with the day on which it was looked up and where.
package models

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

//go:embed profiles.json
var profiles []byte

// vendor is a provider in the file, with the pages that say of all its models how long caches live, and what becomes of reasoning.
type vendor struct {
	Provider        string  `json:"provider"`
	Checked         string  `json:"checked"` // a day, such as 2026-11-22
	LifetimeSource  string  `json:"cache_lifetime_source"`
	ReasoningSource string  `json:"reasoning_binding_source"`
	Models          []entry `json:"models"`
}

// entry is a model in the file. Prices are in US dollars per million tokens, for text and standard processing; that of writing is for the
// lifetime that a cache has where the request names none.
type entry struct {
	Model           string  `json:"model"`
	ContextWindow   int32   `json:"context_window_tokens"`
	MaxInput        int32   `json:"max_input_tokens"` // where it is less than what the reserve leaves
	MaxOutput       int32   `json:"max_output_tokens"`
	InputPrice      float64 `json:"input_price"`
	CacheReadPrice  float64 `json:"cache_read_price"`
	CacheWritePrice float64 `json:"cache_write_price"`
	OutputPrice     float64 `json:"output_price"`
	CacheLifetime   string  `json:"cache_lifetime"`    // such as 30m; empty where the provider does not say it
	Reasoning       string  `json:"reasoning_binding"` // a key of bindings
	Checked         string  `json:"checked"`           // a day, such as 2026-11-22
	Source          string  `json:"source"`
	Note            string  `json:"note"`
}

// bindings are the words of the file for what becomes of reasoning behind changed text; empty where the provider does not say it.
var bindings = map[string]conversation.ReasoningBinding{
	"": conversation.BindingUnknown, "none": conversation.BindingNone, "drops": conversation.BindingDrops, "refuses": conversation.BindingRefuses,
}

// Profiles are the profiles that ship, by model.
func Profiles() (map[string]conversation.ModelProfile, error) {
	vendors, err := read()
	if err != nil {
		return nil, err
	}
	known := make(map[string]conversation.ModelProfile)
	for i := range vendors {
		for _, e := range vendors[i].Models {
			if known[e.Model], err = e.profile(); err != nil {
				return nil, err
			}
		}
	}
	return known, nil
}

func (e *entry) profile() (conversation.ModelProfile, error) {
	reserve := e.reserve()
	p := conversation.ModelProfile{
		Model: e.Model, ContextWindowTokens: &e.ContextWindow, ReservedOutputTokens: &reserve,
		InputPrice: &e.InputPrice, CacheReadPrice: &e.CacheReadPrice, CacheWritePrice: &e.CacheWritePrice, OutputPrice: &e.OutputPrice,
	}
	var known bool
	if p.ReasoningBinding, known = bindings[e.Reasoning]; !known {
		return p, fmt.Errorf("models: %s: unknown binding %q", e.Model, e.Reasoning)
	}
	if e.CacheLifetime != "" {
		kept, err := time.ParseDuration(e.CacheLifetime)
		if err != nil {
			return p, fmt.Errorf("models: %s: %w", e.Model, err)
		}
		p.CacheLifetime = &kept
	}
	return p, nil
}

// reserve is what is left for an answer: what the model may answer with, up to a quarter of the window, as for every default reserve. Where
// the provider takes less input than that leaves, it is the rest of the window.
func (e *entry) reserve() int32 {
	reserve := min(e.MaxOutput, e.ContextWindow/4)
	if e.MaxInput > 0 {
		reserve = max(reserve, e.ContextWindow-e.MaxInput)
	}
	return reserve
}

func read() ([]vendor, error) {
	var vendors []vendor
	if err := json.Unmarshal(profiles, &vendors); err != nil {
		return nil, fmt.Errorf("models: profiles.json: %w", err)
	}
	return vendors, nil
}
