// Command replaybars prints the results of `sidecar replay --json` as tables
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
	"os"
	"strings"
	"text/tabwriter"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "replaybars:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("no result to judge")
	}
	switch args[0] {
	case "lifecycle":
		return judge(lifecycle, args[1:], stdout)
	case "policies":
		return judge(policies, args[1:], stdout)
	case "citations":
		return judge(citations, args[1:], stdout)
	case "page":
		if len(args) < 3 {
			return errors.New("page wants a page and results")
		}
		return page(args[1], args[2:])
	case "frontier":
		return frontier(args[1:], stdout)
	}
	return judge(grid, args, stdout)
}

// judge reads results, in which nothing must be broken. What prints them says which other bars they miss.
func judge(prints func(io.Writer, plays) ([]string, error), files []string, stdout io.Writer) error {
	all, missed := read(files)
	for _, p := range all {
		for _, fault := range p.faults() {
			missed = append(missed, p.where()+": "+fault)
		}
	}
	more, err := prints(stdout, all)
	missed = append(missed, more...)
	for _, line := range missed {
		fmt.Fprintln(stdout, "missed:", line)
	}
	if len(missed) > 0 {
		return errors.Join(err, fmt.Errorf("%d bars missed", len(missed)))
	}
	if err == nil {
		fmt.Fprintf(stdout, "all bars met in %d replays\n", len(files))
	}
	return err
}

// columns is a table with a heading, whose cells tabs divide.
func columns(w io.Writer, heading string) *tabwriter.Writer {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, heading)
	return table
}

// grid prints replays at several windows and in several formats. A policy that edits old text has no bar for its prefix.
func grid(w io.Writer, all plays) (missed []string, err error) {
	table := columns(w, "window\tformat\tpolicy\tconversations\tbuilds\trefused\tnot 0\tmean_fill\tstable_prefix_share\treference_recall")
	var tokens, room int64
	for _, p := range all {
		window, format, _ := strings.Cut(strings.TrimLeft(p.play, "0"), "-")
		faults := len(p.faults())
		if p.Name() == none {
			tokens, room = tokens+p.FilledTokens, room+p.FilledRoom
			if window == stablePrefixWindow && p.StablePrefixShare < leastStablePrefix {
				faults++
				missed = append(missed, fmt.Sprintf("%s: stable_prefix_share is %.3f, must be %g", p.where(), p.StablePrefixShare, leastStablePrefix))
			}
		}
		refused := 0
		for _, n := range p.Refused {
			refused += n
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", window, format, p.Name(), p.Conversations, p.Builds, refused, faults,
			short(p.MeanFill), short(p.StablePrefixShare), short(p.ReferenceRecall))
	}
	_ = table.Flush()
	fill := float64(tokens) / float64(max(room, 1))
	fmt.Fprintf(w, "pooled mean fill under none %.3f\n", fill)
	if room > 0 && fill < leastFill {
		missed = append(missed, fmt.Sprintf("pooled mean fill is under %g", leastFill))
	}
	return missed, nil
}

// short is a share without decimals where it is all or nothing.
func short(share float64) string {
	if share == float64(int64(share)) {
		return fmt.Sprint(share)
	}
	return fmt.Sprintf("%.3f", share)
}
