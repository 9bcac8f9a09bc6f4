// Command mutants says how many small faults in a package its tests would see.
//
//	mutants draw -seed N -o FILE FOLDER         draw faults in a folder's code, and record them
//	mutants run [-only 1,5-7] FILE FOLDER -- PACKAGES, -- PACKAGES...
//	                                            put each into the code as it is now, and run the tests of packages, step by step
//
// A recorded fault names no file and no line: it is found again by the code around it, wherever below the folder that has moved to and
// whatever it is called there. The code itself is never touched: go test takes the faulty file in its place.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: mutants draw -seed N -o FILE FOLDER | run [-only 1,5-7] FILE FOLDER -- PACKAGES [-- PACKAGES]")

func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet("mutants "+args[0], flag.ContinueOnError)
	flags.SetOutput(stdout)
	switch args[0] {
	case "draw":
		seed, out := flags.Uint64("seed", 1, "what is drawn follows from it"), flags.String("o", "", "where the mutations go")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if flags.NArg() != 1 || *out == "" {
			return errUsage
		}
		return runDraw(ctx, *seed, *out, flags.Arg(0), stdout)
	case "run":
		only := flags.String("only", "", "numbers of mutations, such as 1,5-7; all if empty")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return runTests(ctx, *only, flags.Args(), stdout)
	}
	return errUsage
}

func runDraw(ctx context.Context, seed uint64, out, folder string, stdout io.Writer) error {
	code, err := read(folder)
	if err != nil {
		return err
	}
	check, err := newChecker(ctx, code, folder)
	if err != nil {
		return err
	}
	drawn, err := draw(code, seed, check.compiles)
	if err != nil {
		return err
	}
	kinds := map[string]int{}
	for i := range drawn {
		kinds[drawn[i].Kind]++
	}
	fmt.Fprintf(stdout, "%d mutations: %v\n", len(drawn), kinds)
	data, err := json.MarshalIndent(drawn, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(data, '\n'), 0o600)
}

func runTests(ctx context.Context, only string, args []string, stdout io.Writer) error {
	if len(args) < 4 || args[2] != "--" {
		return errUsage
	}
	recorded, err := load(args[0])
	if err != nil {
		return err
	}
	wanted, err := numbers(only, len(recorded))
	if err != nil {
		return err
	}
	code, err := read(args[1])
	if err != nil {
		return err
	}
	r := &runner{code: code, stdout: stdout, steps: steps(args[3:])}
	return r.run(ctx, recorded, wanted)
}

func load(file string) ([]mutation, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []mutation
	return all, json.Unmarshal(data, &all)
}

// steps are packages that are tested together, divided by "--": first all of them in short, which sees nearly everything in a quarter of
// the time.
func steps(args []string) (all []step) {
	full := []step{{}}
	for _, arg := range args {
		if last := &full[len(full)-1]; arg == "--" {
			full = append(full, step{})
		} else {
			last.packages = append(last.packages, arg)
		}
	}
	for _, s := range full {
		s.short = true
		all = append(all, s)
	}
	return append(all, full...)
}

// numbers are those that a list such as "1,5-7" names; without a list, all of them.
func numbers(list string, most int) (map[int]bool, error) {
	list = cmp.Or(list, "1-"+strconv.Itoa(most))
	wanted := map[int]bool{}
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err = errors.Join(err, err2); err != nil || from < 1 || to > most {
			return nil, fmt.Errorf("%q: no numbers between 1 and %d: %w", part, most, err)
		}
		for n := from; n <= to; n++ {
			wanted[n] = true
		}
	}
	return wanted, nil
}
