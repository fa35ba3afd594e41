package cli

import (
	"bytes"
	"cmp"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"halfspace/bench"
	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/files"
	"halfspace/kernel"
)

type benchOptions struct {
	machine       flags.Machine
	only          []string
	rounds        int
	time          time.Duration
	roofline      string
	json, gobench bool
}

func Bench(a *console.App) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench [options]",
		Short: "Measure this computer: its limits, kernels, loading and trainings",
		Long: `Bench measures how fast halfspace is on this computer, and how close to the
computer's limits. It takes one to three minutes and 1.3 GiB of memory. Other
programs disturb it.

It measures, on each instruction set that the processor has:

  - the limits: fused multiply-adds, and the bandwidth of caches and memory
  - the main kernels, in a cache, and some in memory
  - the loading of Parquet files, which it makes in a temporary folder
  - a short training of each learner

All items run in turn, in several rounds. A figure is the median of the rounds,
and a limit the best of them. Limits of several cores are sums. A share is that
of the limit that binds: bytes read or arithmetic. Pure Go has no loops for
limits, so its shares are those of the best instruction set's limits.

A column names the instruction set whose code ran. Where a kernel has no code
for AVX-512, the AVX2 code runs, and the column avx512 has a dash.
Trainings call many kernels and stand in every column.

Each computer does the same work and learns the same models. bench compare
checks that by the models' hashes.`,
		Example: `  halfspace bench
  halfspace bench --only Dot,Tile --isa generic
  halfspace bench --json | tee here.json
  halfspace bench --benchmark-format | tee here.txt`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.only, "only", nil, "`TEXT,...` Measure only items that contain one of these texts, such as kernel/, load/, train/ or Dot. (default all)")
	f.IntVar(&o.rounds, "rounds", 5, "`NUMBER` Number of rounds. An item that takes long has fewer.")
	f.DurationVar(&o.time, "time", 50*time.Millisecond, "`DURATION` Time of an item in a round, such as 200ms. It runs once at least.")
	f.StringVar(&o.roofline, "roofline", "", "`FILE.svg` Write a picture of kernels and trainings under the limits.")
	f.BoolVar(&o.json, "json", false, "Print one JSON object.")
	f.BoolVar(&o.gobench, "benchmark-format", false, "Print in the format of Go's benchmarks, for benchstat.")
	o.machine.AddTo(cmd)
	cmd.AddCommand(benchCompare(a))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.check(a); err != nil {
			return err
		}
		return o.run(cmd, a)
	}
	return cmd
}

func (o *benchOptions) check(a *console.App) error {
	switch {
	case o.json && o.gobench:
		return console.Usagef("--json and --benchmark-format both write to standard output: choose one")
	case o.rounds < 1:
		return console.Usagef("--rounds is %d: use 1 or more", o.rounds)
	case o.time <= 0:
		return console.Usagef("--time is %s: use a time above 0, such as 50ms", o.time)
	case console.ToStdout(o.roofline):
		return console.Usagef("--roofline is %s: name a file, since the report goes to standard output", o.roofline)
	}
	if err := cmp.Or(console.Claim(a, o.roofline, nil), o.machine.Apply()); err != nil {
		return err
	}
	if o.roofline != "" && kernel.Active() == kernel.Generic {
		return console.Usagef("--roofline needs the computer's limits, and pure Go has no loops for them: leave out --roofline, or --isa generic")
	}
	return nil
}

func (o *benchOptions) run(cmd *cobra.Command, a *console.App) error {
	bar := a.NewProgress(o.machine.Progress)
	defer bar.End()
	opt := bench.Options{Only: o.only, Rounds: o.rounds, Time: o.time, Workers: o.machine.Workers, Version: cmd.Root().Version, Command: "halfspace bench", Progress: func(name string, done, total int64) {
		bar.Show(console.Step{Name: "measuring", Detail: name, Done: done, Total: total})
	}}
	for _, name := range []string{"only", "rounds", "time", "workers", "isa"} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			opt.Command += " --" + name + " " + strings.Trim(f.Value.String(), "[]")
		}
	}
	if cmd.Flags().Changed("isa") || os.Getenv(flags.ISAVariable) != "" {
		opt.Levels = []kernel.Level{kernel.Active()}
	}
	r, err := bench.Run(cmd.Context(), opt)
	if err != nil {
		return err
	}
	bar.End()
	if o.roofline != "" {
		if err := files.Replace(cmd.Context(), o.roofline, []byte(roofline(r))); err != nil {
			return err
		}
	}
	switch {
	case o.json:
		return a.PrintJSON(r)
	case o.gobench:
		var b bytes.Buffer
		if err := r.WriteGo(&b); err != nil {
			return err
		}
		return a.Print(b.Bytes())
	}
	return a.Print(benchText(r))
}
