package conversation

import "testing"

func TestModelProfile_CallCost_ByPricesOrDefaults(t *testing.T) {
	t.Parallel()
	two, ten := 2.0, 10.0
	for name, c := range map[string]struct {
		profile ModelProfile
		priced  bool
		want    float64
	}{
		"both prices":  {ModelProfile{InputPrice: &two, OutputPrice: &ten}, true, 3*2 + 4*10},
		"input alone":  {ModelProfile{InputPrice: &two}, true, 3*2 + 4*5},
		"output alone": {ModelProfile{OutputPrice: &ten}, true, 3*1 + 4*10},
		"none":         {ModelProfile{}, false, 3*1 + 4*5},
	} {
		if got := c.profile.CallCost(CallTokens{Input: 3_000_000, Output: 4_000_000}); got != c.want || c.profile.IsPriced() != c.priced {
			t.Errorf("%s: %v, priced %v; want %v, %v", name, got, c.profile.IsPriced(), c.want, c.priced)
		}
	}
}

func TestModelProfile_CallCost_CachedInput_AtItsOwnPrices(t *testing.T) {
	t.Parallel()
	two, half, three := 2.0, 0.5, 3.0
	calls := CallTokens{Input: 10_000_000, CacheRead: 6_000_000, CacheWrite: 3_000_000}
	for name, c := range map[string]struct {
		profile ModelProfile
		want    float64
	}{
		"its own":             {ModelProfile{InputPrice: &two, CacheReadPrice: &half, CacheWritePrice: &three}, 2 + 6*0.5 + 3*3},
		"shares of its input": {ModelProfile{InputPrice: &two}, 2 + 6*0.2 + 3*2.5},
		"none":                {ModelProfile{}, 1 + 6*0.1 + 3*1.25},
	} {
		if got := c.profile.CallCost(calls); got-c.want > 1e-9 || c.want-got > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
