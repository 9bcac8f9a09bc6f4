//go:build !linux && !darwin

package bolt

// diskFree is unknown.
func diskFree(string) int64 { return -1 }
