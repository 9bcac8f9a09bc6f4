package proptest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// inChild says that a test runs in a process that it started itself, to be looked at from outside, where nothing is asked of rapid
// but what the test asks.
const inChild = "PALIMPSEST_TEST_CHILD"

// child runs a test again in a process of its own, and returns what it wrote.
func child(t *testing.T, environment []string, flags ...string) string {
	t.Helper()
	c := exec.Command(os.Args[0], append([]string{"-test.v", "-test.run", "^" + t.Name() + "$"}, flags...)...)
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "RAPID_") }), inChild+"=1")
	c.Env = append(c.Env, environment...)
	out, _ := c.CombinedOutput() // some fail because they are to
	return string(out)
}

// draw prints what a property is given, case by case.
func draw(t *testing.T) {
	var all []string
	CheckN(t, 30, func(rt *rapid.T) { all = append(all, fmt.Sprint(rapid.Int().Draw(rt, "n"))) })
	fmt.Printf("\ndrew %d: %s.\n", len(all), strings.Join(all, " "))
}

var drew = regexp.MustCompile(`drew (\d+): (.*)\.`)

func TestCheck_NothingAsked_DrawsTheSame(t *testing.T) {
	if os.Getenv(inChild) != "" {
		draw(t)
		draw(t)
		t.Run("of another name", draw)
		return
	}
	d := drew.FindAllString(child(t, nil), -1)
	if len(d) != 3 || !strings.HasPrefix(d[0], "drew 30:") || d[0] != d[1] || d[1] == d[2] {
		t.Fatalf("a test twice, and another: %q", d)
	}
	if again := drew.FindAllString(child(t, nil), -1); !slices.Equal(d, again) {
		t.Errorf("another process: %q", again)
	}
}

func TestCheck_Asked_DrawsWhatIsAskedFor(t *testing.T) {
	if os.Getenv(inChild) != "" {
		draw(t)
		return
	}
	plain := drew.FindStringSubmatch(child(t, nil))
	flags := drew.FindStringSubmatch(child(t, nil, "-rapid.seed=7", "-rapid.checks=100"))
	variables := drew.FindStringSubmatch(child(t, []string{"RAPID_SEED=7", "RAPID_CHECKS=3"}))
	if len(plain) == 0 || len(flags) == 0 || len(variables) == 0 || flags[1] != "100" || variables[1] != "3" {
		t.Fatalf("%q, by flags %q, by variables %q", plain, flags, variables)
	}
	if !strings.HasPrefix(flags[2], variables[2]) || strings.HasPrefix(plain[2], variables[2]) {
		t.Errorf("%q, by flags %q, by variables %q", plain, flags, variables)
	}
}

// command is how a failure is repeated.
var command = regexp.MustCompile(`repeat with: go test \./internal/proptest -run '\^(\w+)\$' -rapid\.seed=(\d+)`)

func TestCheck_Failure_SaysHowItIsRepeated(t *testing.T) {
	if os.Getenv(inChild) != "" {
		Check(t, func(rt *rapid.T) {
			if n := rapid.IntRange(0, 1000).Draw(rt, "n"); n > 980 {
				rt.Fatalf("%d is too much", n)
			}
		})
	}
	said := child(t, []string{"RAPID_SEED=12"})
	repeat := command.FindStringSubmatch(said)
	if len(repeat) == 0 || repeat[1] != t.Name() {
		t.Fatalf("it says nothing of how it is repeated: %s", said)
	}
	if again := child(t, nil, "-rapid.seed="+repeat[2]); !strings.Contains(again, "failed after 0 tests") {
		t.Errorf("it is not repeated: %s", again)
	}
	if left, _ := filepath.Glob("testdata/rapid/*"); len(left) > 0 {
		t.Errorf("%v would be tried in later runs of this machine alone", left)
	}
}

func TestSeed_Failure_SaysHowItIsRepeated(t *testing.T) {
	if os.Getenv(inChild) != "" {
		t.Fatalf("drew 1: %d.", rand.New(rand.NewPCG(Seed(t), 0)).Uint64())
	}
	plain := child(t, nil)
	repeat, seeded := command.FindStringSubmatch(plain), child(t, []string{"RAPID_SEED=12"})
	if len(repeat) == 0 || repeat[1] != t.Name() || !strings.Contains(seeded, "-rapid.seed=12\n") {
		t.Fatalf("it says nothing of how it is repeated: %s\n%s", plain, seeded)
	}
	again := child(t, nil, "-rapid.seed="+repeat[2])
	if drew.FindString(again) != drew.FindString(plain) || drew.FindString(seeded) == drew.FindString(plain) {
		t.Errorf("it is not repeated: %s\n%s", plain, again)
	}
}
