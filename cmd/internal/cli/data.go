package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"halfspace/bench"
	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/dataset"
	"halfspace/internal/humanize"
)

type convertOptions struct {
	flags.RowsFile
	data     flags.Data
	memory   flags.Size
	workers  int
	progress string
	label    string
}

func Convert(a *console.App) *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:         "convert DATA... --out FILE [options]",
		Annotations: console.ReadsData,
		Short:       "Write data in another format",
		Long: `Convert writes the rows of DATA, files of one format, to another format. The
extension of FILE chooses it: .parquet, .csv, .jsonl, .arrow, .npy or .svm.
Columns keep their names and types; a .npy file has numbers without names. Only
a part of the rows is in memory at a time. Only .parquet and .arrow files can
hold lists of numbers. If a column can't be written, leave it out with
--exclude, or choose others with --keep.

In a .svm file the label comes first. Features named f1, f2, ... keep these
numbers; otherwise features are numbered from 1.`,
		Example: `  halfspace convert train.csv.gz --out train.parquet
  halfspace convert a9a.svm --out a9a.parquet --compression zstd
  halfspace convert train.parquet --keep 'x*,y' --label y --out train.svm
  halfspace convert train.arrow --out - | head`,
	}
	f := cmd.Flags()
	o.AddOut(cmd)
	f.StringSliceVar(&o.data.Keep, "keep", nil, "`COLUMN,...` Columns to write, by name or glob. (default all)")
	f.StringSliceVar(&o.data.Exclude, "exclude", nil, "`COLUMN,...` Columns to leave out, by name or glob.")
	f.StringVar(&o.label, "label", "", "`COLUMN` Column with the labels of a .svm file. (default label)")
	o.data.AddLabels(cmd)
	o.data.AddWeights(cmd)
	o.AddGroups(cmd, "columns")
	o.AddJSON(cmd)
	o.data.AddRows(cmd)
	o.data.AddText(cmd)
	o.memory.AddTo(cmd)
	f.IntVar(&o.workers, "workers", 0, "`NUMBER` Most threads to use. (default one for each core)")
	flags.AddProgress(cmd, &o.progress)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return console.Usagef("no data: name a file, a glob or a directory")
		}
		if err := cmp.Or(o.Check(), flags.CheckWorkers(o.workers), o.data.Check()); err != nil {
			return err
		}
		paths, err := o.data.Expand(cmd.Context(), args, a.Warn)
		if err != nil {
			return err
		}
		if err := cmp.Or(console.Claim(a, o.Out, o.data.With(paths)), o.data.Claim(a, paths)); err != nil {
			return err
		}
		return convert(cmd.Context(), a, &o, paths)
	}
	return cmd
}

type convertReport struct {
	Out     string  `json:"out"`
	Rows    int64   `json:"rows"`
	Seconds float64 `json:"seconds"`
}

func convert(ctx context.Context, a *console.App, o *convertOptions, paths []string) error {
	start := time.Now()
	bar := a.NewProgress(o.progress)
	defer bar.End()
	memory, undo := o.memory.Hold()
	defer undo()
	opt := o.data.Options
	opt.Workers, opt.Memory, opt.Progress, opt.Warn = o.workers, memory, bar.Reading("converting"), a.Warn
	rows, err := dataset.Convert(ctx, paths, o.Out, opt, dataset.WriterOptions{Compression: o.Compression,
		RowGroupRows: o.GroupRows, Label: o.label})
	if err != nil {
		return err
	}
	bar.End()
	r := convertReport{o.Out, rows, time.Since(start).Seconds()}
	return o.Report(a, r, "%s: %s in %s", r.Out, humanize.Plural(r.Rows, "row"), humanize.Seconds(r.Seconds))
}

type genOptions struct {
	bench.Synthetic
	file     flags.RowsFile
	progress string
}

func Gen(a *console.App) *cobra.Command {
	var o genOptions
	cmd := &cobra.Command{
		Use:   "gen --margin NUMBER|--noise NUMBER|--conjunction NUMBER --out FILE [options]",
		Short: "Make data whose truth is known",
		Long: `Gen writes random rows to a .parquet, .csv, .arrow or .svm file. The columns are
the features x0, x1, ... and "label", which is -1 or 1. The same options give
the same rows on every machine.

Choose one kind of data:

  --margin NUMBER       a plane separates the classes: every row is at least
                        this far from a random hyperplane through the origin
  --noise NUMBER        no plane separates many rows: each label is wrong with
                        this probability
  --conjunction NUMBER  features are -1 or 1; the label is 1 if this many of
                        them have certain values`,
		Example: `  halfspace gen --rows 1000000 --features 28 --margin 0.1 --out separable.parquet
  halfspace gen --rows 1000000 --features 28 --noise 0.1 --seed 7 --out noisy.parquet
  halfspace gen --rows 100000 --features 40 --conjunction 3 --out and.parquet`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.Int64Var(&o.Rows, "rows", 1_000_000, "`NUMBER` Number of rows.")
	f.IntVar(&o.Features, "features", 28, "`NUMBER` Number of features.")
	f.Float64Var(&o.Margin, "margin", 0, "`NUMBER` Least distance of a row from the plane that separates the classes.")
	f.Float64Var(&o.Noise, "noise", 0, "`NUMBER` Probability of a wrong label, above 0 and up to 1.")
	f.IntVar(&o.Conjunction, "conjunction", 0, "`NUMBER` Number of features that the label depends on.")
	f.Uint64Var(&o.Seed, "seed", 1, "`NUMBER` Seed of all random choices.")
	o.file.AddGroups(cmd, "features")
	o.file.AddOut(cmd)
	o.file.AddJSON(cmd)
	flags.AddProgress(cmd, &o.progress)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Compression, o.RowGroupRows = o.file.Compression, o.file.GroupRows
		err := o.Validate()
		if err != nil {
			err = console.Usagef("%w", err)
		}
		if err = cmp.Or(o.file.Check(), err, console.Claim(a, o.file.Out, nil)); err != nil {
			return err
		}
		return generate(cmd.Context(), a, &o)
	}
	return cmd
}

type genReport struct {
	Out      string  `json:"out"`
	Rows     int64   `json:"rows"`
	Features int     `json:"features"`
	Seed     uint64  `json:"seed"`
	Seconds  float64 `json:"seconds"`
}

func generate(ctx context.Context, a *console.App, o *genOptions) error {
	start := time.Now()
	bar := a.NewProgress(o.progress)
	defer bar.End()
	if err := bench.WriteSynthetic(ctx, o.file.Out, o.Synthetic, func(rows int64) { bar.Rows("writing", rows, o.Rows) }); err != nil {
		return err
	}
	bar.End()
	r := genReport{o.file.Out, o.Rows, o.Features, o.Seed, time.Since(start).Seconds()}
	return o.file.Report(a, r, "%s: %s of %s in %s", r.Out, humanize.Plural(r.Rows, "row"), humanize.Plural(int64(r.Features), "feature"),
		humanize.Seconds(r.Seconds))
}
