package proptest

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Check fails the test unless a property holds of all cases that are drawn: as many as rapid's default.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	check(t, nil, property)
}

// CheckN is Check with another number of cases, for a property whose cases take long. What the caller of the tests asks for stands
// above it.
func CheckN(t *testing.T, cases int, property func(*rapid.T)) {
	t.Helper()
	check(t, map[string]string{checksFlag: strconv.Itoa(cases)}, property)
}

// Seed is what a test draws from that draws by other means than rapid's. A failure says how to draw the same again.
func Seed(t *testing.T) uint64 {
	t.Helper()
	seed := seedOf(t.Name())
	if asked := given()[seedFlag]; asked != "" {
		seed, _ = strconv.ParseUint(asked, 0, 64) // the flag has parsed it before
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(repeating(t.Name(), strconv.FormatUint(seed, 10)))
		}
	})
	return seed
}

const (
	seedFlag   = "rapid.seed"
	checksFlag = "rapid.checks"
	filesFlag  = "rapid.nofailfile"
)

// drawing guards rapid's flags, which all tests of a process share.
var drawing sync.Mutex

func check(t *testing.T, settings map[string]string, property func(*rapid.T)) {
	t.Helper()
	drawing.Lock()
	defer drawing.Unlock()
	set := map[string]string{
		seedFlag: strconv.FormatUint(seedOf(t.Name()), 10),
		// A file with a failure would be tried before all else from then on, on one machine and on no other.
		filesFlag: "true",
	}
	for name, value := range settings {
		set[name] = value
	}
	for name, value := range set {
		if _, asked := given()[name]; asked {
			continue
		}
		defer restore(t, name, flag.Lookup(name).Value.String())
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(reporter{t}, property)
}

func restore(t *testing.T, name, value string) {
	if err := flag.Set(name, value); err != nil {
		t.Error(err)
	}
}

// given are the values of rapid's flags that the command line or the environment gave.
var given = sync.OnceValue(func() map[string]string {
	values := map[string]string{}
	flag.Visit(func(f *flag.Flag) {
		values[f.Name] = f.Value.String()
	})
	for _, name := range []string{seedFlag, checksFlag, filesFlag} {
		variable := strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
		if _, ok := os.LookupEnv(variable); ok {
			values[name] = flag.Lookup(name).Value.String()
		}
	}
	return values
})

// seedOf is the seed of a test of this name: never zero, which asks rapid for one at random.
func seedOf(test string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(test))
	return max(1, h.Sum64())
}

// reporter is a test that adds to what rapid says of a failure the command that repeats it.
type reporter struct{ *testing.T }

// repeat is how rapid says it: with the flag alone.
var repeat = regexp.MustCompile(`To (?:try to )?reproduce, specify .*-rapid\.seed=(\d+).*`)

// Errorf is how rapid reports.
func (r reporter) Errorf(format string, args ...any) {
	r.Helper()
	text := fmt.Sprintf(format, args...)
	r.T.Errorf("%s", repeat.ReplaceAllStringFunc(text, func(line string) string {
		return repeating(r.Name(), repeat.FindStringSubmatch(line)[1])
	}))
}

// repeating is the command that runs a test again with a seed, from the top of the repository.
func repeating(test, seed string) string {
	levels := strings.Split(test, "/")
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return fmt.Sprintf("repeat with: go test %s -run '%s' -rapid.seed=%s", packageFolder(), strings.Join(levels, "/"), seed)
}

// packageFolder is the folder of the package under test, as the go command takes it. Go runs tests in it.
func packageFolder() string {
	folder, err := os.Getwd()
	if err != nil {
		return "."
	}
	for top := folder; top != filepath.Dir(top); top = filepath.Dir(top) {
		if _, err := os.Stat(filepath.Join(top, "go.mod")); err == nil {
			inside, _ := filepath.Rel(top, folder) // top is above it
			return "./" + filepath.ToSlash(inside)
		}
	}
	return "."
}
