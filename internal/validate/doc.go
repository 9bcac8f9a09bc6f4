// Package validate judges contexts from outside: is what the sidecar rendered
// legal for the provider, what does it weigh, and could a refused context have
// been built?
//
// It is written from the table of legality (behaviour §11) and the providers'
// public documentation, and shares no code with the renderers, the counting or
// the fitting that it judges: two implementations that agree are worth more
// than one that agrees with itself. Parsing is strict. A key that the
// documentation does not name, a value of another type than it names, a key
// that stands twice: each is a [Violation].
//
// A [Checker] judges the successive contexts of one conversation and reads what
// it has seen before only once, so that judging costs little beside building.
// [History] is the independent model of the record: which unit is the newest,
// what a refusal must answer, and the least that any context of it can weigh
// ([History.Bone]).
package validate
