package testlane

import (
	"testing"
	"time"
)

func TestSpeed_BesideOthers_IsLeftOut(t *testing.T) {
	t.Setenv(Variable, "")
	ran := false
	t.Run("measures", func(t *testing.T) {
		defer func() { ran = !t.Skipped() }()
		Speed(t)
	})
	if ran || Alone() {
		t.Error("it ran beside other tests")
	}
	if got := Slack(time.Second); got != time.Second+Beside {
		t.Errorf("slack %v", got)
	}
}

func TestSpeed_Alone_Runs(t *testing.T) {
	t.Setenv(Variable, "1")
	Speed(t)
	if got := Slack(time.Second); got != time.Second || !Alone() {
		t.Errorf("slack %v", got)
	}
}

func TestBar_Asked_IsTheBarItself(t *testing.T) {
	t.Setenv(BarsVariable, "")
	if Bar(2) != 3 {
		t.Error("beside other work it is half as much again")
	}
	t.Setenv(BarsVariable, "1")
	if Bar(1.5) != 1.5 {
		t.Error("it is not the bar")
	}
}

func TestOnServers_ElsewhereThanInItsLane_IsLeftOut(t *testing.T) {
	for set, want := range map[string]bool{"": false, "1": true} {
		t.Setenv(ServersVariable, set)
		ran := false
		t.Run("repeats "+set, func(t *testing.T) {
			OnServers(t)
			ran = true
		})
		if ran != want {
			t.Errorf("set to %q, it ran: %t", set, ran)
		}
	}
}
