package txn

import "fmt"

// Guard recovers for background work: nobody above it does.
func Guard(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("background work: panic of type %T", p)
		}
	}()
	return work()
}
