package archtest

import (
	"fmt"
	"go/ast"
	"slices"
)

const drawing = "internal/proptest"

// Of math/rand/v2, what is given its seed. All else differs from run to run.
var seededRandom = []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf"}

// checkTestsAreSeeded finds what makes a test another one each time it runs.
func checkTestsAreSeeded(t *tree) (found []string) {
	for _, f := range t.files {
		if within(f.dir, drawing) {
			continue
		}
		rapid, random := f.localName("pgregory.net/rapid"), f.localName("math/rand/v2")
		for _, imported := range f.imports() {
			if imported == "math/rand" {
				found = append(found, f.path+": math/rand: math/rand/v2 with a seed instead")
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := selector.X.(*ast.Ident)
			switch name := selector.Sel.Name; {
			case !ok || x.Name == "":
			case x.Name == rapid && (name == "Check" || name == "MakeCheck"):
				found = append(found, fmt.Sprintf("%s:%d: rapid.%s: proptest.Check draws the same every time", f.path, t.line(n), name))
			case x.Name == random && (f.test || within(f.dir, "pkg/store/storetest")) && !slices.Contains(seededRandom, name):
				found = append(found, fmt.Sprintf("%s:%d: rand.%s has no seed: draw from proptest.Seed", f.path, t.line(n), name))
			}
			return true
		})
	}
	return found
}
