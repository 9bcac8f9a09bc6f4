// Package faults kills the sidecar at random moments, fills its store and damages its file, and holds it to the promise of
// behaviour §2: what was acknowledged is there, byte for byte, and nothing is half there. The same goes for contents that are stored
// or cited (behaviour §9): they are there, or their run was ended, and what is gone stays gone. A kill proves what a crash of the
// process does; whether a disk keeps what it has synced is for the store's own tests to doubt.
//
// PALIMPSEST_FAULT_ROUNDS says how many kills; a few without it.
package faults
