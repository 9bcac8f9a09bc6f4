// Package erase erases what goes with what a build has erased (behaviour §2).
package erase

import "github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"

// Erase erases contents that were cited of what a build has erased, and the facts that summaries keep of it.
func Erase(g *pass.Given, d pass.Draft) (pass.Result, error) {
	if len(d.Erased.Messages) == 0 {
		return pass.Result{}, nil
	}
	s := g.Sketch(d)
	s.Erased = d.Erased.Clone()
	err := s.Erased.Complete(s.Add)
	return s.Result(), err
}
