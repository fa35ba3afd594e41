package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"halfspace/internal/say"
	"halfspace/internal/synth"
)

type genOptions struct {
	synth.Options
	compression choice
	progress    choice
	out         string
	json        bool
}

func (a *app) gen() *cobra.Command {
	var o genOptions
	cmd := &cobra.Command{
		Use:   "gen --margin G|--noise P|--conjunction K --out x.parquet [options]",
		Short: "Make data whose truth is known",
		Long: `Gen writes a file, .parquet, .csv, .arrow or .svm, with the features x0, x1, ...
and the column "label" of -1 and 1. The same options give the same rows
everywhere.

  --margin G       the classes can be separated: every row is at least G away
                   from a random hyperplane through the origin
  --noise P        they can't: a share P of the labels is wrong
  --conjunction K  features of -1 and 1; the label is 1 where K of them have
                   certain values`,
		Example: `  halfspace gen --rows 1000000 --features 28 --margin 0.1 --out separable.parquet
  halfspace gen --rows 1000000 --features 28 --noise 0.1 --seed 7 --out noisy.parquet
  halfspace gen --rows 100000 --features 40 --conjunction 3 --out and.parquet`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.Int64Var(&o.Rows, "rows", 1_000_000, "number of rows, `N`")
	f.IntVar(&o.Features, "features", 28, "number of features, `D`")
	f.Float64Var(&o.Margin, "margin", 0, "least distance `G` of a row from the plane")
	f.Float64Var(&o.Noise, "noise", 0, "probability `P` of a wrong label")
	f.IntVar(&o.Conjunction, "conjunction", 0, "number `K` of features that the label depends on")
	f.Uint64Var(&o.Seed, "seed", 1, "`N` that every random choice follows from")
	addChoice(cmd, &o.compression, "compression", "`CODEC` of the pages: snappy, none, zstd or gzip", "snappy", "none", "zstd", "gzip")
	f.Int64Var(&o.RowGroupRows, "row-group-rows", 0, "most rows of a row group, `N`; 0 is 131,072, or fewer with many features; "+
		"a group also ends at 64 MiB of values")
	f.StringVar(&o.out, "out", "", "`FILE` to write: .parquet, .csv, .arrow, .svm, or - for CSV on standard output (required)")
	f.BoolVar(&o.json, "json", false, "print a report as one JSON object")
	addChoice(cmd, &o.progress, "progress", "`WHEN` to show a progress bar: auto (on a terminal), always or never", "auto", "always", "never")
	return a.verb(cmd, func(cmd *cobra.Command, _ []string) error {
		o.Compression = o.compression.value
		if o.out == "" {
			return usagef("--out is missing: name the file to write")
		}
		if o.json && toStdout(o.out) {
			return usagef("--json and --out %s both write to standard output: choose one", o.out)
		}
		if o.RowGroupRows < 0 {
			return usagef("--row-group-rows is %d: use 1 or more, or 0 for the default", o.RowGroupRows)
		}
		if err := o.Validate(); err != nil {
			return usageError{err}
		}
		return a.generate(cmd.Context(), &o)
	})
}

// A genReport is what gen --json prints.
type genReport struct {
	Out      string  `json:"out"`
	Rows     int64   `json:"rows"`
	Features int     `json:"features"`
	Seed     uint64  `json:"seed"`
	Seconds  float64 `json:"seconds"`
}

func (a *app) generate(ctx context.Context, o *genOptions) error {
	start := time.Now()
	bar := a.newProgress(o.progress.value)
	defer bar.end()
	err := synth.Write(ctx, o.out, o.Options, func(rows int64) { bar.show("writing", "", rows, o.Rows) })
	if err != nil {
		return err
	}
	bar.end()
	r := genReport{o.out, o.Rows, o.Features, o.Seed, time.Since(start).Seconds()}
	switch {
	case o.json:
		return a.printJSON(r)
	case toStdout(o.out):
		return nil
	}
	return a.print(fmt.Appendf(nil, "%s: %s of %s in %s\n", r.Out, say.Plural(r.Rows, "row"), say.Plural(int64(r.Features), "feature"),
		say.Seconds(r.Seconds)))
}
