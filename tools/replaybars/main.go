// Command replaybars prints the results of `sidecar replay --json` as a table
// and fails if one misses a bar.
//
//	replaybars FILE...              FILE is WINDOW-FORMAT.json, under none and under any other policy
//	replaybars lifecycle FILE...    FILE is none.json, MODE-TURNS.json or the result of any other policy
//	replaybars policies FILE...     FILE is money.json, half-*.json, session.json, service.json, joined-*.json, long-WINDOW.json or any other result under several policies
//	replaybars page PAGE FILE...    writes the tables of policies into a page, between its marks
//	replaybars citations FILE...    FILE is coding-raw.json, long.json or any other result with citations
//	replaybars frontier FILE...     draws cost against recall under all policies of the files, as SVG
package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/palimpsest-context/palimpsest/internal/replay/report"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "replaybars:", err)
		os.Exit(1)
	}
}

// shown are figures without a bar.
var shown = []string{"mean_fill", "stable_prefix_share", "reference_recall"}

const (
	// meanFill is what builds that leave something out must use of their
	// budgets, pooled over all results.
	meanFill = 0.65
	// stablePrefix is the share of tokens that must stand in the previous
	// context already, at the window of stablePrefixWindow.
	stablePrefix       = 0.90
	stablePrefixWindow = "32768"
)

func run(files []string, stdout io.Writer) error {
	if len(files) == 0 {
		return errors.New("no result to judge")
	}
	switch files[0] {
	case "lifecycle":
		return lifecycle(files[1:], stdout)
	case "policies":
		return policies(files[1:], stdout)
	case "page":
		if len(files) < 3 {
			return errors.New("page wants a page and results")
		}
		return page(files[1], files[2:])
	case "citations":
		return citations(files[1:], stdout)
	case "frontier":
		return frontier(files[1:], stdout)
	}
	return grid(files, stdout)
}

// grid judges replays at several windows and in several formats.
func grid(files []string, stdout io.Writer) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(append([]string{"window", "format", "policy", "conversations", "builds", "refused", "not 0"}, shown...), "\t"))
	var missed []string
	var tokens, room float64
	for _, file := range files {
		window, format, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "-")
		window = strings.TrimLeft(window, "0")
		all, err := readPlayed(file)
		if err != nil {
			missed = append(missed, fmt.Sprintf("%s %s: no result: %v", window, format, err))
		}
		for _, p := range all {
			if p.name() == none {
				tokens, room = tokens+number(p.figures["filled_tokens"]), room+number(p.figures["filled_room"])
			}
			faults := p.judge(window)
			for _, fault := range faults {
				missed = append(missed, fmt.Sprintf("%s %s %s: %s", window, format, p.name(), fault))
			}
			fmt.Fprintln(table, window+"\t"+format+"\t"+p.row(len(faults)))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "pooled mean fill under none %.3f\n", tokens/max(room, 1))
	if room > 0 && tokens/room < meanFill {
		missed = append(missed, fmt.Sprintf("pooled mean fill is under %g", meanFill))
	}
	return verdict(stdout, missed, len(files))
}

// verdict says which bars were missed.
func verdict(stdout io.Writer, missed []string, replays int) error {
	for _, line := range missed {
		fmt.Fprintln(stdout, "missed:", line)
	}
	if len(missed) > 0 {
		return fmt.Errorf("%d bars missed", len(missed))
	}
	fmt.Fprintf(stdout, "all bars met in %d replays\n", replays)
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// judge returns the bars that a result misses. A policy that edits old text has
// none for its prefix.
func (p *played) judge(window string) (missed []string) {
	missed = judgeZero(p.figures)
	if share := number(p.figures["stable_prefix_share"]); p.name() == none && window == stablePrefixWindow && share < stablePrefix {
		missed = append(missed, fmt.Sprintf("stable_prefix_share is %.3f, must be %g", share, stablePrefix))
	}
	return missed
}

// row is what the table says of a result, beside where it comes from.
func (p *played) row(faults int) string {
	row := p.name() + "\t" + show(p.figures["conversations"]) + "\t" + show(p.figures["builds"]) + "\t" + show(refused(p.figures)) + "\t" + strconv.Itoa(faults)
	for _, name := range shown {
		row += "\t" + show(p.figures[name])
	}
	return row
}

// judgeZero returns which figures are not 0. One that is not reported misses
// its bar: what nobody counted is not zero.
func judgeZero(figures map[string]any) (missed []string) {
	if builds, ok := figures["builds"].(float64); !ok || builds == 0 {
		missed = append(missed, "nothing was built")
	}
	for _, name := range report.MustBeZero() {
		switch n, ok := figures[name].(float64); {
		case !ok:
			missed = append(missed, name+" is not reported")
		case n != 0:
			missed = append(missed, fmt.Sprintf("%s is %v, must be 0%s", name, n, example(name, figures)))
		}
	}
	return missed
}

// example says where a figure was found first.
func example(figure string, figures map[string]any) string {
	all, _ := figures["examples"].([]any)
	for _, e := range all {
		if e, ok := e.(map[string]any); ok && e["figure"] == figure {
			return fmt.Sprintf(", as in conversation %v, message %v: %v", e["conversation"], e["message"], e["detail"])
		}
	}
	return ""
}

// number is a figure, or 0 if it is not there.
func number(figure any) float64 {
	n, _ := figure.(float64)
	return n
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
