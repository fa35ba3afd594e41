package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"

	"halfspace/cmd/internal/flags"
	"halfspace/internal/humanize"
)

type convertOptions struct {
	text        flags.Text
	memory      flags.Size
	workers     int
	progress    flags.Choice
	keep        []string
	exclude     []string
	label       string
	compression flags.Choice
	groupRows   int64
	out         string
	json        bool
}

// Convert returns the command that writes data in another format.
func Convert(a *console.App) *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert DATA... --out FILE [options]",
		Short: "Write data in another format",
		Long: `Convert writes the rows of DATA, files of one format, to another format. The
extension of FILE chooses it: .parquet, .csv, .arrow or .svm. Columns keep their
names and types. Only a part of the rows is in memory at a time. Only .parquet
and .arrow files can hold lists of numbers. If a column can't be written, leave
it out with --exclude, or choose others with --keep.

In a .svm file the label comes first. Features named f1, f2, ... keep these
numbers; otherwise features are numbered from 1.`,
		Example: `  halfspace convert train.csv.gz --out train.parquet
  halfspace convert a9a.svm --out a9a.parquet --compression zstd
  halfspace convert train.parquet --keep 'x*,y' --label y --out train.svm
  halfspace convert train.arrow --out - | head`,
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "`FILE` File to write: .parquet, .csv, .arrow or .svm, or - for CSV on standard output. (required)")
	f.StringSliceVar(&o.keep, "keep", nil, "`COLUMN,...` Columns to write, by name or glob. (default all)")
	f.StringSliceVar(&o.exclude, "exclude", nil, "`COLUMN,...` Columns to leave out, by name or glob.")
	f.StringVar(&o.label, "label", "", "`COLUMN` Column with the labels of a .svm file. (default label)")
	flags.AddChoice(cmd, &o.compression, "compression", "`snappy|none|zstd|gzip` Compression of a .parquet file.", "snappy", "none", "zstd", "gzip")
	f.Int64Var(&o.groupRows, "row-group-rows", 0, "`NUMBER` Most rows in a row group of a .parquet file. A row group also ends at 64 MiB of values. "+
		"(default 131,072, or fewer with many columns)")
	f.BoolVar(&o.json, "json", false, "Print a report as one JSON object.")
	o.text.AddTo(cmd)
	o.memory.AddTo(cmd)
	f.IntVar(&o.workers, "workers", 0, "`NUMBER` Most threads to use. (default one for each core)")
	flags.AddProgress(cmd, &o.progress)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(args); err != nil {
			return err
		}
		paths, err := dataset.Expand(args)
		if err != nil {
			return err
		}
		if err := console.Claim(a, o.out, paths); err != nil {
			return err
		}
		return convertTo(cmd.Context(), a, &o, paths)
	}
	return cmd
}

func (o *convertOptions) check(args []string) error {
	switch {
	case len(args) == 0:
		return console.Usagef("no data: name a file, a glob or a directory")
	case o.out == "":
		return console.Usagef("--out is missing: name the file to write, or - for CSV on standard output")
	case o.json && console.ToStdout(o.out):
		return console.Usagef("--json and --out %s both write to standard output: choose one", o.out)
	case o.workers < 0:
		return console.Usagef("--workers is %d: use 1 or more, or 0 for one for each core", o.workers)
	case o.groupRows < 0:
		return console.Usagef("--row-group-rows is %d: use 1 or more, or 0 for the default", o.groupRows)
	}
	return o.text.Check()
}

// A convertReport is the JSON object of convert --json.
type convertReport struct {
	Out     string  `json:"out"`
	Rows    int64   `json:"rows"`
	Seconds float64 `json:"seconds"`
}

func convertTo(ctx context.Context, a *console.App, o *convertOptions, paths []string) error {
	start := time.Now()
	bar := a.NewProgress(o.progress.Value)
	defer bar.End()
	memory, undo := o.memory.Hold()
	defer undo()
	rows, err := dataset.Convert(ctx, paths, o.out, dataset.Options{
		Keep: o.keep, Exclude: o.exclude, Workers: o.workers, Text: o.text.Options(), Memory: memory,
		Progress: bar.Reading("converting"),
		Warn:     func(s string) { a.Note("%s", s) },
	}, dataset.WriterOptions{Compression: o.compression.Value, RowGroupRows: o.groupRows, Label: o.label})
	if err != nil {
		return err
	}
	bar.End()
	r := convertReport{o.out, rows, time.Since(start).Seconds()}
	switch {
	case o.json:
		return a.PrintJSON(r)
	case console.ToStdout(o.out):
		return nil
	}
	return a.PrintLine("%s: %s in %s", r.Out, humanize.Plural(r.Rows, "row"), humanize.Seconds(r.Seconds))
}
