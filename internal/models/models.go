// Package models holds what is known of well known models: windows and prices as their providers publish them, as data, each entry with
// the day on which it was looked up and where.
package models

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
)

//go:embed profiles.json
var profiles []byte

// entry is a model in the file. Prices are in US dollars per million tokens, for text and standard processing.
type entry struct {
	Model           string  `json:"model"`
	ContextWindow   int32   `json:"context_window_tokens"`
	MaxOutput       int32   `json:"max_output_tokens"`
	InputPrice      float64 `json:"input_price"`
	CacheReadPrice  float64 `json:"cache_read_price"`
	CacheWritePrice float64 `json:"cache_write_price"`
	OutputPrice     float64 `json:"output_price"`
	Checked         string  `json:"checked"` // a day, such as 2026-11-22
	Source          string  `json:"source"`
	Note            string  `json:"note"`
}

// Profiles are the profiles that ship, by model. What the model may answer with at most is what is left for its answer, up to a
// quarter of the window, as for every default reserve.
func Profiles() (map[string]conversation.ModelProfile, error) {
	entries, err := read()
	if err != nil {
		return nil, err
	}
	known := make(map[string]conversation.ModelProfile, len(entries))
	for i := range entries {
		e := &entries[i]
		reserve := min(e.MaxOutput, e.ContextWindow/4)
		known[e.Model] = conversation.ModelProfile{
			Model: e.Model, ContextWindowTokens: &e.ContextWindow, ReservedOutputTokens: &reserve,
			InputPrice: &e.InputPrice, CacheReadPrice: &e.CacheReadPrice, CacheWritePrice: &e.CacheWritePrice, OutputPrice: &e.OutputPrice,
		}
	}
	return known, nil
}

func read() ([]entry, error) {
	var entries []entry
	if err := json.Unmarshal(profiles, &entries); err != nil {
		return nil, fmt.Errorf("models: profiles.json: %w", err)
	}
	return entries, nil
}
