package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"halfspace/dataset"
	"halfspace/internal/say"
)

type convertOptions struct {
	text        textOptions
	memory      byteSize
	workers     int
	progress    choice
	keep        []string
	exclude     []string
	label       string
	compression choice
	groupRows   int64
	out         string
	json        bool
}

func (a *app) convert() *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert DATA... --out FILE [options]",
		Short: "Write data in another format",
		Long: `Convert writes the rows of DATA, files of one format, to FILE in the format of
its extension: .parquet, .csv, .arrow or .svm. It keeps names and types of
columns, and only a part of the rows in memory. Lists of numbers go to .parquet
and .arrow files. A column that can't be written is an error: leave it out with
--exclude, or choose others with --keep.

In a .svm file the label comes first, and a feature has the index in its name if
all are named f1, f2, ..., otherwise they are numbered from 1.`,
		Example: `  halfspace convert train.csv.gz --out train.parquet
  halfspace convert a9a.svm --out a9a.parquet --compression zstd
  halfspace convert train.parquet --keep 'x*,y' --label y --out train.svm
  halfspace convert train.arrow --out - | head`,
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "`FILE` to write: .parquet, .csv, .arrow, .svm, or - for CSV on standard output (required)")
	f.StringSliceVar(&o.keep, "keep", nil, "`COLUMNS` to write: names or globs, comma-separated (default all)")
	f.StringSliceVar(&o.exclude, "exclude", nil, "`COLUMNS` to leave out: names or globs, comma-separated")
	f.StringVar(&o.label, "label", "", "of a .svm file: `COLUMN` of the labels (default label)")
	addChoice(cmd, &o.compression, "compression", "of a .parquet file: `CODEC` of the pages: snappy, none, zstd or gzip", "snappy", "none", "zstd", "gzip")
	f.Int64Var(&o.groupRows, "row-group-rows", 0, "of a .parquet file: most rows of a row group, `N`; 0 is 131,072, or fewer with many columns; "+
		"a group also ends at 64 MiB of values")
	f.BoolVar(&o.json, "json", false, "print a report as one JSON object")
	o.text.addTo(cmd)
	o.memory.addTo(cmd)
	f.IntVar(&o.workers, "workers", 0, "most threads to work with, `N`; 0 is one for each core")
	addChoice(cmd, &o.progress, "progress", "`WHEN` to show a progress bar: auto (on a terminal), always or never", "auto", "always", "never")
	return a.verb(cmd, func(cmd *cobra.Command, args []string) error {
		if err := o.check(args); err != nil {
			return err
		}
		paths, err := dataset.Expand(args)
		if err != nil {
			return err
		}
		if err := checkOut(o.out, paths); err != nil {
			return err
		}
		return a.convertTo(cmd.Context(), &o, paths)
	})
}

func (o *convertOptions) check(args []string) error {
	switch {
	case len(args) == 0:
		return usagef("no data: name a file, a glob or a directory")
	case o.out == "":
		return usagef("--out is missing: name the file to write, or - for CSV on standard output")
	case o.json && toStdout(o.out):
		return usagef("--json and --out %s both write to standard output: choose one", o.out)
	case o.workers < 0:
		return usagef("--workers is %d: use 1 or more, or 0 for one for each core", o.workers)
	case o.groupRows < 0:
		return usagef("--row-group-rows is %d: use 1 or more, or 0 for the default", o.groupRows)
	}
	return o.text.check()
}

// A convertReport is what convert --json prints.
type convertReport struct {
	Out     string  `json:"out"`
	Rows    int64   `json:"rows"`
	Seconds float64 `json:"seconds"`
}

func (a *app) convertTo(ctx context.Context, o *convertOptions, paths []string) error {
	start := time.Now()
	bar := a.newProgress(o.progress.value)
	defer bar.end()
	memory, undo := o.memory.hold()
	defer undo()
	rows, err := dataset.Convert(ctx, paths, o.out, dataset.Options{
		Keep: o.keep, Exclude: o.exclude, Workers: o.workers, Text: o.text.options(), Memory: memory,
		Progress: func(rows, total int64) { bar.show("converting", "", rows, total) },
		Warn:     func(s string) { bar.end(); a.note("%s", s) },
	}, dataset.WriterOptions{Compression: o.compression.value, RowGroupRows: o.groupRows, Label: o.label})
	if err != nil {
		return err
	}
	bar.end()
	r := convertReport{o.out, rows, time.Since(start).Seconds()}
	switch {
	case o.json:
		return a.printJSON(r)
	case toStdout(o.out):
		return nil
	}
	return a.print(fmt.Appendf(nil, "%s: %s in %s\n", r.Out, say.Plural(r.Rows, "row"), say.Seconds(r.Seconds)))
}
