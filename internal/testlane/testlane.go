// Package testlane says which tests measure time. Beside others they would be red on a machine that has other work, so that plain tests
// leave them out: `make test-speed` runs them, and nothing else with them.
package testlane

import (
	"os"
	"testing"
	"time"
)

// Variable is set where tests that measure time run alone.
const Variable = "PALIMPSEST_TEST_SPEED"

// Beside is how much later anything may be where other tests run too. What waits for what never comes is later still.
const Beside = 30 * time.Second

// Speed leaves a test out unless it runs alone. It is for tests that are about time and nothing else.
func Speed(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) == "" {
		t.Skip("it measures time: make test-speed runs it, with nothing beside it")
	}
}

// Slack is how much later than promised something may be: what a test gives it where it runs alone, and more beside other tests.
func Slack(alone time.Duration) time.Duration {
	if os.Getenv(Variable) == "" {
		return alone + Beside
	}
	return alone
}
