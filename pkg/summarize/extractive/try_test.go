package extractive

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	f := os.Getenv("TRY")
	if f == "" {
		t.Skip("x")
	}
	n, _ := strconv.Atoi(os.Getenv("N"))
	b, _ := os.ReadFile(f)
	s := time.Now()
	out := Extract(string(b), n)
	fmt.Printf("---- %s %d -> %d runes %v\n%s\n", f, n, len([]rune(out)), time.Since(s), out)
}
