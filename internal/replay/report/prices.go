package report

// Prices are those of a million tokens.
type Prices struct{ Read, Write float64 }

// DefaultPrices are those of behaviour §8's simulations, where uncached input
// costs 1.
var DefaultPrices = Prices{Read: 0.1, Write: 1.25}

// Of is what a context costs of which so many tokens are read from the cache
// and so many written to it, in millionths.
func (p Prices) Of(read, written int) float64 {
	return p.Read*float64(read) + p.Write*float64(written)
}
