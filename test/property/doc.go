// Package property holds the engine to its promises over generated histories: whatever an agent appends, in whatever order,
// every context that is built is legal for its provider, holds the newest unit and is in budget, or the build is refused for a
// reason that an independent model of the record confirms.
package property
