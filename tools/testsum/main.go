// Command testsum runs `go test` and says in one line what came of it.
//
//	testsum run [-o FILE] -- GO_TEST_ARGUMENTS     run, print, append outcomes to FILE
//	testsum script [-o FILE] NAME -- COMMAND...    run a script as one test
//	testsum total FILE                             one line over all that was appended
//
// Several runs (plain, race, other languages) share one FILE, so that the last
// line of a long build is the count of everything and not of its last step.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: testsum run [-o FILE] -- ARGS | script [-o FILE] NAME -- COMMAND | total FILE")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet("testsum", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "", "append the outcome of each test to this file")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	rest := flags.Args()
	switch args[0] {
	case "run":
		return runGoTest(ctx, rest, *out, stdout, stderr)
	case "script":
		if len(rest) < 2 {
			return errUsage
		}
		name, command := rest[0], rest[1:]
		if command[0] == "--" {
			command = command[1:]
		}
		if len(command) == 0 {
			return errUsage
		}
		return runScript(ctx, name, command, *out, stdout, stderr)
	case "total":
		if len(rest) != 1 {
			return errUsage
		}
		return printTotal(rest[0], stdout)
	}
	return errUsage
}

// runGoTest fails if a test failed, and also if go test did: a crash between
// two tests has no test to its name.
func runGoTest(ctx context.Context, args []string, out string, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	outcomes := read(pipe, stdout)
	waitErr := cmd.Wait()
	if waitErr != nil && outcomes.counts().failed == 0 {
		outcomes["go test "+fmt.Sprint(args)] = failed
	}
	return finish(outcomes, out, stdout)
}

func runScript(ctx context.Context, name string, command []string, out string, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	outcome := passed
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(stdout, "FAIL %s: %v\n", name, err)
		outcome = failed
	}
	return finish(outcomes{name: outcome}, out, stdout)
}

func printTotal(file string, stdout io.Writer) error {
	all, err := load(file)
	if err != nil {
		return err
	}
	return finish(all, "", stdout)
}

func finish(all outcomes, out string, stdout io.Writer) error {
	if out != "" {
		if err := all.appendTo(out); err != nil {
			return err
		}
	}
	counts := all.counts()
	fmt.Fprintln(stdout, counts)
	if counts.failed > 0 {
		return fmt.Errorf("%d failed", counts.failed)
	}
	if counts.passed+counts.skipped == 0 {
		return errors.New("no test ran") // what checks nothing must not look green
	}
	return nil
}
