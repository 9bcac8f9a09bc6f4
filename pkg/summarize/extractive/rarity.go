package extractive

import "math"

// rarity is how seldom something is that k of n have: 1 for one of many, 0 for all of them.
func rarity(k, n int) float64 {
	if n < 2 || k >= n {
		return 0
	}
	return math.Log(float64(n)/float64(max(k, 1))) / math.Log(float64(n))
}

// spread returns the numbers below n so that any beginning of them is spread over the whole: both ends, the middle, the
// quarters, and so on; at most most of them.
func spread(n, most int) []int {
	if n == 0 {
		return nil
	}
	order := []int{0}
	seen := map[int]bool{0: true}
	for parts := 1; len(order) < min(n, most) && parts < 2*n; parts *= 2 {
		for k := parts; k >= 1; k-- {
			at := k * (n - 1) / parts
			if !seen[at] && len(order) < most {
				seen[at] = true
				order = append(order, at)
			}
		}
	}
	return order
}
