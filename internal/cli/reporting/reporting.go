// Package reporting has what verbs share that write a report in HTML.
package reporting

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/internal/beside"
	"halfspace/internal/cli/console"
	"halfspace/internal/cli/files"
	"halfspace/internal/say"
	"halfspace/metrics"
	"halfspace/report"
)

// Options say where a report is written.
type Options struct {
	File string // "": there is none

	command string // as it was typed
	options [][2]string
}

// AddFlag adds the flag.
func (o *Options) AddFlag(f *pflag.FlagSet) {
	f.StringVar(&o.File, "report", "", "`FILE` Write a report with pictures to this file of HTML, which a browser shows.")
}

// Check returns an error if the report can't be written. inputs are files that are read, and outputs others that are
// written.
func (o *Options) Check(a *console.App, cmd *cobra.Command, args, inputs, outputs []string) error {
	if o.File == "" {
		return nil
	}
	if ext := strings.ToLower(filepath.Ext(o.File)); ext != ".html" && ext != ".htm" {
		return console.Usagef("--report %s: a report is HTML: name a file that ends in .html", o.File)
	}
	if slices.Contains(outputs, o.File) {
		return console.Usagef("--report and another option write %s: name another file", o.File)
	}
	words := append([]string{cmd.CommandPath()}, quoted(args)...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			o.options = append(o.options, [2]string{"--" + f.Name, v})
			if f.Value.Type() == "bool" {
				words = append(words, strings.TrimSuffix("--"+f.Name+"="+v, "=true"))
			} else {
				words = append(words, "--"+f.Name, quote(v))
			}
		}
	})
	o.command = strings.Join(words, " ")
	return files.Claim(a, o.File, inputs)
}

func quoted(args []string) (all []string) {
	for _, a := range args {
		all = append(all, quote(a))
	}
	return all
}

// quote returns an argument as a shell takes it.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=,:+@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Asked returns the section of what was asked.
func (o *Options) Asked() report.Section {
	return report.Section{Heading: "What was asked", Facts: o.options}
}

// Repeat returns the section of how to repeat the run. hashes are names and values.
func (o *Options) Repeat(hashes ...[2]string) report.Section {
	hashes = append(hashes, [2]string{"halfspace", console.Version()})
	return report.Section{Heading: "How to repeat it", Code: o.command, Facts: hashes,
		Text: []string{"The same rows, options and version give the same figures, on every CPU and with any number of workers. This command was typed:"}}
}

// Data returns the section of the files, which names what was noted during the run.
func Data(a *console.App, paths []string, facts [][2]string) report.Section {
	s := report.Section{Heading: "Data", Facts: facts}
	bytes, known := int64(0), true
	for _, path := range paths {
		info, err := os.Stat(path)
		if known = known && err == nil && info.Mode().IsRegular(); known {
			bytes += info.Size()
		}
	}
	names := strings.Join(paths[:min(len(paths), 10)], ", ")
	if n := len(paths); n > 10 {
		names += fmt.Sprintf(" and %d more", n-10)
	}
	if known {
		names += ", " + say.Size(bytes)
	}
	s.Facts = append([][2]string{{"files", names}}, s.Facts...)
	for _, n := range a.Notes() {
		s.Facts = append(s.Facts, [2]string{"note", n})
	}
	return s
}

// Result returns the section of what a sheet says. captions name its tables in turn.
func Result(sheet *console.Sheet) report.Section {
	s := report.Section{Heading: "Result", Facts: sheet.Facts}
	for _, t := range sheet.Tables {
		if t.Caption == "" {
			t.Caption = "Classes"
		}
		s.Tables = append(s.Tables, report.Table{Caption: t.Caption, Head: t.Rows[0], Rows: t.Rows[1:]})
	}
	return s
}

// Write writes a page. An interrupt leaves it a grace time.
func (o *Options) Write(ctx context.Context, p *report.Page) error {
	grace, end := beside.After(ctx)
	defer end()
	if err := files.WriteText(grace, o.File, p.HTML()); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// Share returns a share of rows with its 95 % interval.
func Share(n, of int64) string {
	share := float64(n) / float64(of)
	ends := metrics.Wilson(share, float64(of))
	return fmt.Sprintf("%s (95 %% interval %s to %s)", say.Percent(share), say.Percent(ends[0]), say.Percent(ends[1]))
}
