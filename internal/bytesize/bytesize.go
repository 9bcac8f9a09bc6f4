// Package bytesize reads and writes numbers of bytes with units.
package bytesize

import (
	"errors"
	"strconv"
	"strings"
)

// Size is a number of bytes, written with a unit or without.
type Size int64

// UnmarshalText reads 1048576, 512KiB, 256MiB or 10GiB.
func (s *Size) UnmarshalText(b []byte) error {
	digits, unit := string(b), int64(1)
	for suffix, factor := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40} {
		if rest, ok := strings.CutSuffix(digits, suffix); ok {
			digits, unit = rest, factor
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return errors.New("must be a number of bytes, such as 1048576, 512KiB, 256MiB or 10GiB")
	}
	*s = Size(n * unit)
	return nil
}

// String writes the size with the largest unit that divides it.
func (s Size) String() string {
	for _, u := range []struct {
		suffix string
		factor Size
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if s > 0 && s%u.factor == 0 {
			return strconv.FormatInt(int64(s/u.factor), 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
