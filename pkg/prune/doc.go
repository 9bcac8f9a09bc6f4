// Package prune decides which old tool results of a view are cleared, all at once, when that frees enough (behaviour §7). It is pure: it
// decides on what it is given and changes nothing.
package prune
