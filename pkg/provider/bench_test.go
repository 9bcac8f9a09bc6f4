package provider_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/palimpsest-context/palimpsest/pkg/conversation"
	"github.com/palimpsest-context/palimpsest/pkg/provider"
)

// longRecord is about 600 KB of a coding agent's conversation.
func longRecord() []conversation.Unit {
	r := newRecord().system("You are an agent.")
	output := strings.Repeat("line of \"output\" with text\n", 110)
	for range 200 {
		r.user("Go on.").assistant(text("Looking."), call("read", `{"path":"/a/b/c.go"}`)).tool(result(r.ordinals, "read", output))
	}
	return r.units()
}

func BenchmarkFormat_Unit_Cold600KB(b *testing.B) {
	units := longRecord()
	for _, f := range formats() {
		b.Run(f.Traits().Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compose(f, units, "", func(string) int { return 1 })
			}
		})
	}
}

func BenchmarkAssembly_With_Warm600KB(b *testing.B) {
	units := longRecord()
	for _, f := range formats() {
		blocks := compose(f, units, "", chars4).blocks
		warm := provider.NewAssembly(f.Traits()).With(blocks)
		b.Run(f.Traits().Name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				next := provider.Block{Role: "user", JSON: fmt.Appendf(nil, `{"n":%d}`, i)}
				_ = warm.With(slices.Concat(blocks, []provider.Block{next})).Messages()
			}
		})
		b.Run(f.Traits().Name+"/from nothing", func(b *testing.B) {
			for b.Loop() {
				_ = provider.NewAssembly(f.Traits()).With(blocks).Messages()
			}
		})
	}
}

func BenchmarkAppendString(b *testing.B) {
	s := strings.Repeat("line of \"output\" with text\n", 1000)
	b.SetBytes(int64(len(s)))
	dst := make([]byte, 0, 2*len(s))
	for b.Loop() {
		dst = provider.AppendString(dst[:0], s)
	}
}
