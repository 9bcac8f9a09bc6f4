package plan

import (
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/erasures"
	"github.com/palimpsest-context/palimpsest/pkg/engine/internal/plan/pass"
)

// Follow runs the passes of a build. around is called for each, and runs it.
func Follow(g *pass.Given, around func(name string, d *Decided, run func() error) error) (*Decided, error) {
	d, err := open(g)
	for _, s := range building {
		if err != nil {
			break
		}
		err = around(s.name, d, func() error { return s.run(d) })
	}
	return d, err
}

// Begun is the draft that a window begins.
func Begun(g *pass.Given, laidOut pass.Result) pass.Draft {
	return pass.Draft{Erased: erasures.New(g.Loaded)}.With(&laidOut)
}
