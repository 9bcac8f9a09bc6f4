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
		if got := c.profile.CallCost(3_000_000, 4_000_000); got != c.want || c.profile.IsPriced() != c.priced {
			t.Errorf("%s: %v, priced %v; want %v, %v", name, got, c.profile.IsPriced(), c.want, c.priced)
		}
	}
}
