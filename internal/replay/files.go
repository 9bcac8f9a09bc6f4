package replay

// FileReport is what the recordings of one file came to.
type FileReport struct {
	File            string  `json:"file"`
	Conversations   int     `json:"conversations"`
	Builds          int     `json:"builds"`
	TokensWith      int64   `json:"tokens_with"`
	TokensWithout   int64   `json:"tokens_without"`
	CostWith        float64 `json:"cost_with"`
	CostWithout     float64 `json:"cost_without"`
	Rewrites        int     `json:"rewrites"`
	ReferenceRecall float64 `json:"reference_recall"`
	NewestKept      int     `json:"newest_kept"`

	references, recalled int
}

// addTo adds a conversation's figures to those of its file.
func (t *tally) addTo(files []FileReport) {
	for i := range files {
		f := &files[i]
		if f.File != t.file {
			continue
		}
		f.Conversations += t.Conversations
		f.Builds += t.Builds
		f.TokensWith += t.TokensWith
		f.TokensWithout += t.TokensWithout
		f.CostWith += t.CostWith
		f.CostWithout += t.CostWithout
		f.Rewrites += t.Rewrites
		f.NewestKept = leastOf(f.NewestKept, t.NewestKept)
		f.references += t.references
		f.recalled += t.recalled
		f.ReferenceRecall = share(f.recalled, f.references)
		return
	}
}

// leastOf is the smaller of two figures of which 0 says that there is none.
func leastOf(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
