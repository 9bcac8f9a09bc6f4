package terminal

import (
	"bytes"
	"os"
	"testing"
)

func TestNumber_GroupsByThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestUnicode_TheFirstOfThreeVariablesDecides(t *testing.T) {
	for _, c := range []struct {
		all, kind, lang string
		want            bool
	}{{"", "", "", false}, {"", "", "en_US.UTF-8", true}, {"C", "", "en_US.UTF-8", false}, {"", "de_DE.utf8", "C", true}} {
		t.Setenv("LC_ALL", c.all)
		t.Setenv("LC_CTYPE", c.kind)
		t.Setenv("LANG", c.lang)
		if got := Unicode(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestWidth_NoTerminal_IsThatOfColumnsOr100(t *testing.T) {
	t.Setenv("COLUMNS", "")
	if got := Width(&bytes.Buffer{}); got != 100 || Is(os.NewFile(^uintptr(0), "none")) {
		t.Errorf("%d", got)
	}
	t.Setenv("COLUMNS", "72")
	if got := Width(&bytes.Buffer{}); got != 72 {
		t.Errorf("%d", got)
	}
}

func TestBytes_SizesForPeople(t *testing.T) {
	for n, want := range map[int]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 1536: "1.5 KB", 5 << 20: "5.0 MB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}
