package cli

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"halfspace/bench"
	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/kernel"
)

type benchOptions struct {
	bench.Options
	machine flags.Machine
}

func Bench(a *console.App) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench [options]",
		Short: "Measure this computer: its limits, kernels, loading and trainings",
		Long: `Bench measures how fast halfspace is on this computer, and how close to the
computer's limits. It takes one to three minutes and 1.3 GiB of memory. Other
programs disturb it.

Bench prints the format of go test -bench. benchstat old.txt new.txt compares
two versions of halfspace, and benchstat -ignore cpu,/gomaxprocs two computers.
Each round prints these lines:

  Limit            the bandwidth of caches and memory, fused multiply-adds, and
                   the clock, with the widest instruction set
  Dot, Epoch, ...  kernels, in a cache and some in memory; products of matrices
  Load             the loading of Parquet files, made in a temporary folder
  Train            a short training of each learner

  /isa=avx2        the instruction set whose code ran: a kernel without code for
                   AVX-512 has no line with /isa=avx512
  -2               the number of cores, if there are several
  MB/s             bytes read per second
  GFLOP/s          additions and multiplications per second, in place of MB/s
                   where a kernel has more of them than bytes
  %limit           share of the limit in the same round: of the bandwidth, or of
                   fused multiply-adds for a line with GFLOP/s

Each computer does the same work. It is an error if a learner learns other
models in another round or on another instruction set.`,
		Example: `  halfspace bench > here.txt
  halfspace bench --only Dot,Tile --isa generic`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Only, "only", nil, "`TEXT,...` Measure only items that contain one of these texts, such as "+
		"kernel/, load/, train/ or Dot. (default all)")
	f.IntVar(&o.Rounds, "rounds", 6, "`NUMBER` Number of rounds. An item that takes long has fewer. benchstat wants 6 for its intervals.")
	f.DurationVar(&o.Time, "time", 50*time.Millisecond, "`DURATION` Time of an item in a round, such as 200ms. It runs once at least.")
	o.machine.AddTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return o.run(cmd, a)
	}
	return cmd
}

func (o *benchOptions) check() error {
	switch {
	case o.Rounds < 1:
		return console.Usagef("--rounds is %d: use 1 or more", o.Rounds)
	case o.Time <= 0:
		return console.Usagef("--time is %s: use a time above 0, such as 50ms", o.Time)
	}
	return o.machine.Apply()
}

func (o *benchOptions) run(cmd *cobra.Command, a *console.App) error {
	bar := a.NewProgress(o.machine.Progress)
	defer bar.End()
	o.Workers = o.machine.Workers
	o.Progress = func(name string, done, total int64) {
		bar.Show(console.Step{Name: "measuring", Detail: name, Done: done, Total: total})
	}
	if cmd.Flags().Changed("isa") || os.Getenv(flags.ISAVariable) != "" {
		o.Levels = []kernel.Level{kernel.Active()}
	}
	return bench.Run(cmd.Context(), o.Options, func(line string) error { return a.Print([]byte(line + "\n")) })
}
