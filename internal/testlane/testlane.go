// Package testlane says which tests run where. Tests that measure time would be red beside others on a machine that has other work:
// `make test-speed` runs them, and nothing else with them.
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

// Alone says whether nothing else runs. What a test does then in full it may do in part beside others, where it says so.
func Alone() bool { return os.Getenv(Variable) != "" }

// Speed leaves a test out unless it runs alone. It is for tests that are about time and nothing else.
func Speed(t testing.TB) {
	t.Helper()
	if !Alone() {
		t.Skip("it measures time: make test-speed runs it, with nothing beside it")
	}
}

// OneCaller leaves a test out of short runs, which the race detector makes slow: where one caller does one thing after the other it has
// nothing to find.
func OneCaller(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("one caller does one thing after the other: the race detector has nothing to find, and it takes long under it")
	}
}

// ServersVariable is set where tests run again on servers of databases what others do without any.
const ServersVariable = "PALIMPSEST_TEST_SERVERS"

// OnServers leaves a test out unless the lane of stores runs it. It is for tests that repeat on Postgres and Redis what plain tests do in
// memory and on bolt: the servers take more time than the tests.
func OnServers(t testing.TB) {
	t.Helper()
	if os.Getenv(ServersVariable) == "" {
		t.Skip("it repeats a test on servers of databases: make test-stores runs it")
	}
}

// Slack is how much later than promised something may be: what a test gives it where it runs alone, and more beside other tests.
func Slack(alone time.Duration) time.Duration {
	if Alone() {
		return alone
	}
	return alone + Beside
}

// BarsVariable asks for the bars themselves: `make acceptance` sets it.
const BarsVariable = "PALIMPSEST_STORE_BARS"

// Bar is how many times as long something may take as what it is held against: one and a half times the bar, which a machine with other work
// does not miss, and a fault does; the bar itself where that is asked for.
func Bar(bar float64) float64 {
	if os.Getenv(BarsVariable) != "" {
		return bar
	}
	return 1.5 * bar
}
