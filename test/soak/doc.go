// Package soak lets agents of all kinds work on one sidecar for as long as PALIMPSEST_SOAK says (10m; a few seconds without
// it), and holds what the sidecar takes to bounds, and what it has in the end to what it was given.
package soak
