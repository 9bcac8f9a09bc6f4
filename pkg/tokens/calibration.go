package tokens

import "math"

// The bounds and the grain of a calibrated factor.
const (
	MinFactor  = 0.5
	MaxFactor  = 2.0
	FactorStep = 0.02
)

const (
	// minDifference is the smallest difference of counts, in tokens, that says anything about a ratio: below it frames and rounding
	// dominate. Smaller differences are left to add up.
	minDifference = 64
	// priorMass is how many counted tokens the prior is worth.
	priorMass = 500.0
	// horizon is the number of counted tokens after which an observation weighs 1/e of what it did: a conversation that turns from prose to
	// code is followed within some dozens of steps.
	horizon = 40000.0
	// massShare caps the weight of a single difference at priorMass plus this
	// share of all that is known, so that no report outweighs the others.
	massShare = 1.0 / 16
	// maxSwing bounds how far a single difference may lie from the present
	// factor: it is moved to factor/maxSwing or factor*maxSwing if it is wilder.
	maxSwing = 1.5
)

// Calibration learns, for one conversation and one model, how the provider's tokens relate to ours. It is a plain value: store it, copy it,
// compare it. The zero value has no observations and starts at factor 1.
//
// It looks at the differences between successive reports only, since what a request always carries (the system prompt, tool definitions,
// frames) cancels in them. The factor is the ratio of the exponentially weighted sums of both sides, with the prior as an initial stake, so
// large steps speak louder than small ones and old ones fade.
type Calibration struct {
	// Prior is the factor before anything is known, from the model's profile; 0 means 1.
	Prior float64
	// Counted and Reported are the last accepted pair of totals, in tokens. Reported is 0 before the first.
	Counted, Reported int
	// CountedSum and ReportedSum are the weighted sums of the differences.
	CountedSum, ReportedSum float64
}

// Observe takes one report: counted is our unfactored count of the view that was sent, reported the provider's total for it (input, cache
// read and cache write). It returns the calibration after the report.
//
// Reports of zero or less, as aborted calls give, change nothing. A difference whose sides have different signs teaches nothing; the next
// one starts from this report. A view that shrank gives two negative sides, which are as good as positive ones.
func (c Calibration) Observe(counted, reported int) Calibration {
	if reported <= 0 || counted < 0 {
		return c
	}
	ours, theirs := float64(counted)-float64(c.Counted), float64(reported)-float64(c.Reported)
	first := c.Reported == 0
	if !first && math.Abs(ours) < minDifference {
		return c
	}
	if !first && ours*theirs > 0 {
		c = c.learn(math.Abs(ours), math.Abs(theirs))
	}
	c.Counted, c.Reported = counted, reported
	return c
}

// learn adds one difference, bounded in ratio and in weight, to the faded sums.
func (c Calibration) learn(ours, theirs float64) Calibration {
	now := c.estimate()
	ratio := min(max(theirs/ours, now/maxSwing), now*maxSwing)
	mass := min(ours, priorMass+c.CountedSum*massShare)
	keep := math.Exp(-mass / horizon)
	c.CountedSum = c.CountedSum*keep + mass
	c.ReportedSum = c.ReportedSum*keep + mass*ratio
	return c
}

// Factor returns what our counts must be multiplied by to predict the provider's: between MinFactor and MaxFactor, in steps of FactorStep,
// so that it does not move with every report.
func (c Calibration) Factor() float64 {
	const steps = 1 / FactorStep
	return math.Round(c.estimate()*steps) / steps
}

// estimate returns the factor before it is rounded to a step.
func (c Calibration) estimate() float64 {
	prior := c.Prior
	if !(prior > 0) {
		prior = 1
	}
	ratio := (prior*priorMass + c.ReportedSum) / (priorMass + c.CountedSum)
	if math.IsNaN(ratio) {
		return 1
	}
	return min(max(ratio, MinFactor), MaxFactor)
}
