// Command replaybars prints the results of `sidecar replay --json` as a table
// and fails if one misses a bar.
//
//	replaybars FILE...      FILE is WINDOW-FORMAT.json
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "replaybars:", err)
		os.Exit(1)
	}
}

// zero are the figures that must be there and must be 0: each counts a promise
// broken on a real conversation.
var zero = []string{"wrong_refusals", "illegal_contexts", "over_budget", "newest_unit_missing", "errors"}

// shown are figures without a bar.
var shown = []string{"mean_fill", "stable_prefix_share", "reference_recall"}

func run(files []string, stdout io.Writer) error {
	if len(files) == 0 {
		return errors.New("no result to judge")
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	columns := append([]string{"window", "format", "conversations", "builds", "refused"}, append(zero, shown...)...)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	var missed []string
	for _, file := range files {
		window, format, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "-")
		window = strings.TrimLeft(window, "0")
		figures, err := read(file)
		if err != nil {
			missed = append(missed, fmt.Sprintf("%s %s: no result: %v", window, format, err))
			continue
		}
		for _, fault := range judge(figures) {
			missed = append(missed, fmt.Sprintf("%s %s: %s", window, format, fault))
		}
		row := []string{window, format, show(figures["conversations"]), show(figures["builds"]), show(refused(figures))}
		for _, name := range append(append([]string{}, zero...), shown...) {
			row = append(row, show(figures[name]))
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, line := range missed {
		fmt.Fprintln(stdout, "missed:", line)
	}
	if len(missed) > 0 {
		return fmt.Errorf("%d bars missed", len(missed))
	}
	fmt.Fprintf(stdout, "all bars met in %d replays\n", len(files))
	return nil
}

func read(file string) (map[string]any, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var figures map[string]any
	return figures, json.Unmarshal(data, &figures)
}

// judge returns the bars that a result misses. A figure that is not reported
// misses its bar: what nobody counted is not zero.
func judge(figures map[string]any) (missed []string) {
	if builds, ok := figures["builds"].(float64); !ok || builds == 0 {
		missed = append(missed, "nothing was built")
	}
	for _, name := range zero {
		switch n, ok := figures[name].(float64); {
		case !ok:
			missed = append(missed, name+" is not reported")
		case n != 0:
			missed = append(missed, fmt.Sprintf("%s is %v, must be 0", name, n))
		}
	}
	return missed
}

// refused adds up the refusals of all reasons.
func refused(figures map[string]any) any {
	byReason, ok := figures["refused"].(map[string]any)
	if !ok {
		return figures["refused"]
	}
	total := 0.0
	for _, n := range byReason {
		if n, ok := n.(float64); ok {
			total += n
		}
	}
	return total
}

func show(figure any) string {
	switch n := figure.(type) {
	case nil:
		return "-"
	case float64:
		if n == float64(int64(n)) {
			return strconv.FormatInt(int64(n), 10)
		}
		return strconv.FormatFloat(n, 'f', 3, 64)
	}
	return fmt.Sprint(figure)
}
