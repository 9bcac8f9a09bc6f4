package txn

import "fmt"

// Guard turns a panic of background work into an error: nothing above it recovers.
func Guard(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("background work: panic of type %T", p)
		}
	}()
	return work()
}
