package stores

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/palimpsest-context/palimpsest/cmd/sidecar/internal/command"
	"github.com/palimpsest-context/palimpsest/pkg/store/bolt"
)

// FileCommands are what is for the file of the embedded store.
type FileCommands struct {
	Check   CheckCommand   `cmd:"" help:"Read all of a store, and write nothing. Exits with 1 if anything is damaged (structure, checksums, whether records belong together), and says what."`
	Salvage SalvageCommand `cmd:"" help:"Copy what can be read of a damaged store into a new one. Exits with 1 if anything is lost, and says what."`
}

// CheckCommand is `sidecar store check`.
type CheckCommand struct {
	DataDir string `help:"Folder of the store's file." env:"PALIMPSEST_DATA_DIR" default:"${state_dir}" placeholder:"DIR"`
}

// SalvageCommand is `sidecar store salvage`.
type SalvageCommand struct {
	DataDir string `help:"Folder of the store's file, which stays as it is." env:"PALIMPSEST_DATA_DIR" default:"${state_dir}" placeholder:"DIR"`
	To      string `help:"Folder for the new store, made if it is missing; it must hold none yet." required:"" placeholder:"NEWDIR"`
}

// errDamaged is the answer where what was found has been said already.
var errDamaged = errors.New("the store is damaged")

// Run reads the store.
func (c *CheckCommand) Run(out *command.Output) error {
	shown := newProgressLine(out)
	report, err := bolt.Check(filepath.Join(c.DataDir, File), bolt.Options{}, shown.pages("checked"))
	return tell(out, report, inFolder(err, elsewhere(dataDirFlag)), shown)
}

// inFolder adds to an error which flags name the folders.
func inFolder(err error, flags string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; %s", err, flags)
}

// Run copies the store.
func (c *SalvageCommand) Run(out *command.Output) error {
	if err := makeDataDir(newDirFlag, c.To); err != nil {
		return err
	}
	shown := newProgressLine(out)
	report, err := bolt.Salvage(filepath.Join(c.DataDir, File), filepath.Join(c.To, File), bolt.Options{}, shown.pages("read"))
	return tell(out, report, inFolder(err, dataDirFlag+" names the folder to read, "+newDirFlag+" the new one"), shown)
}

func tell(out *command.Output, r *bolt.Report, err error, shown *progressLine) error {
	shown.end()
	if err != nil {
		return err
	}
	for _, damage := range r.Damages {
		_, _ = fmt.Fprintln(out.Stdout, damage)
	}
	if r.Unlisted > 0 {
		_, _ = fmt.Fprintf(out.Stdout, "and %d more\n", r.Unlisted)
	}
	_, err = fmt.Fprintf(out.Stdout, "%d conversations, %d records, %d pages, %d damages\n", r.Conversations, r.Records, r.Pages, len(r.Damages)+r.Unlisted)
	if err == nil && !r.OK() {
		err = errDamaged
	}
	return err
}
