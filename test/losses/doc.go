// Package losses plays recorded conversations into an engine whose windows are too small for them, and looks in every summary for
// what it must not lose unnoticed (behaviour §8): open calls, the user's rules, paths and ids that came up more than once. What
// those are is found here, apart from the implementation.
package losses
