// Package facts recognizes what a text says that must not be lost unnoticed (behaviour §8): the sentences that are rules; what a machine
// would name, such as paths, addresses, ids, numbers and errors; and how grave a line sounds. The lists of what a summary lacks are made
// of it, and extracts are chosen by it.
package facts
