package extractive_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/internal/recordings"
	"github.com/palimpsest-context/palimpsest/pkg/summarize/extractive"
)

// lengths are those that an extract must serve at.
var lengths = []int{500, 2000, 8000}

func readFiles(t testing.TB, folder, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(recordings.Path(t, folder, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("nothing like %s in %s (%v)", pattern, folder, err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(text)
	}
	return texts
}

// planted are unique errors in the forms that programs report them in; # is a number that makes them unique.
var planted = []string{
	"2024-03-01 12:00:00 ERROR payment-gateway: charge ch_#kd8s failed: card network unreachable (E#)",
	"java.lang.IllegalStateException: ledger # out of balance",
	"FATAL: out of memory allocating # bytes for tile cache",
	"worker-# crashed with exit code 139",
	"[error] migration # aborted: column \"tenant_ref\" does not exist",
	"panic: runtime error: index out of range [#] with length 3",
	"Mar  3 11:04:#5 edge-7 proxyd[#]: upstream quux-backend refused the connection",
	"WARN retrying: request # timed out after 30s, disk quota exceeded",
}

func plantedLine(r *rand.Rand, k int) string {
	return strings.ReplaceAll(planted[k%len(planted)], "#", fmt.Sprint(1000+r.IntN(9000)))
}

func TestExtract_UniqueErrorInLog_SurvivesAtEveryLength(t *testing.T) {
	for name, log := range readFiles(t, "loghub", "*.log") {
		lines := strings.Split(strings.TrimRight(log, "\n"), "\n")
		for k := range 5 * len(planted) {
			r := rand.New(rand.NewPCG(uint64(k), 7))
			line := plantedLine(r, k)
			at := r.IntN(len(lines) + 1)
			text := strings.Join(lines[:at], "\n") + "\n" + line + "\n" + strings.Join(lines[at:], "\n")
			for _, n := range lengths {
				if got := extractive.Extract(text, n); !strings.Contains(got, line) {
					t.Errorf("%s, %d characters: %q planted at line %d is lost:\n%s", name, n, line, at+1, got)
				}
			}
		}
	}
}
