package stores

import (
	"fmt"
	"os"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
)

// The flags that name folders of a store.
const (
	dataDirFlag = "--data-dir"
	newDirFlag  = "--to"
)

// elsewhere is what every sentence about a folder that cannot be used ends with.
func elsewhere(flag string) string { return flag + " names another folder" }

func makeDataDir(flag, folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("cannot make the data directory %s: %s; %s", folder, command.Refusal(err), elsewhere(flag))
	}
	return nil
}
