// Package retention lays out what plugins add to messages, and decides which of their blocks are past their time (behaviour §6).
// It is pure.
package retention
