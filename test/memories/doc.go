// Package memories holds the engine and its embedded memory together to what people are promised of memory across conversations (behaviour
// §19), on every store: what is said is found elsewhere and by other processes, nothing that is recalled makes a context illegal, too large
// or late, no text leaves its block, and what is forgotten is nowhere.
package memories
