package record

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestFields_AnyOrder_IsRead: records lie in the order of their fields' numbers, and what writes protobuf need not keep to it.
func TestFields_AnyOrder_IsRead(t *testing.T) {
	for name, sample := range samples() {
		value := sample.encode(New())
		k := kind(value[5])
		if k == kindSlot || k == kindChunk {
			continue
		}
		want := payload(t, value)
		type field struct {
			number int
			raw    string
		}
		var all []field
		for r := (&reader{rest: string(want)}); r.next(); {
			all = append(all, field{r.field, r.raw})
		}
		slices.SortStableFunc(all, func(a, b field) int { return cmp.Compare(b.number, a.number) })
		var turned []byte
		for _, f := range all {
			turned = append(turned, f.raw...)
		}
		got, err := sample.decode(New(), New().seal(k, turned))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := gocmp.Diff(sample.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
