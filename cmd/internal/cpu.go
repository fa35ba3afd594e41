package cli

import (
	"cmp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/humanize"
	"halfspace/kernel"
)

// A cpuReport is the JSON object of cpu --json. Unknown values are 0 or empty.
type cpuReport struct {
	Brand    string   `json:"brand"`
	Arch     string   `json:"arch"`
	Cores    int      `json:"cores"`
	Threads  int      `json:"threads"`
	Usable   int      `json:"usable"` // threads that this process may run at once
	L1DBytes int      `json:"l1d_bytes"`
	L2Bytes  int      `json:"l2_bytes"`
	L3Bytes  int      `json:"l3_bytes"`
	Features []string `json:"features"` // see kernel.CPU
	Levels   []string `json:"levels"`   // instruction sets that the kernels can run on, slowest first
	ISA      string   `json:"isa"`      // the instruction set in use
}

func CPU(a *console.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cpu [options]",
		Short: "Show the processor and the instruction set in use",
		Long: `Cpu shows the processor's features and the instruction set that halfspace uses.
It uses the fastest one, unless --isa of another command or the environment
variable ` + flags.ISAVariable + ` names a different one. Results are the same bit for bit.`,
		Example: `  halfspace cpu
  ` + flags.ISAVariable + `=generic halfspace cpu --json`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object.")
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := flags.UseISA(""); err != nil {
			return err
		}
		c := kernel.DetectedCPU()
		r := &cpuReport{
			Brand: c.Brand, Arch: runtime.GOARCH, Cores: c.Cores, Threads: c.Threads, Usable: runtime.GOMAXPROCS(0),
			L1DBytes: c.L1D, L2Bytes: c.L2, L3Bytes: c.L3, Features: append([]string{}, c.Features...),
			Levels: flags.LevelNames(), ISA: kernel.Active().String(),
		}
		return a.Report(asJSON, r, r.sheet)
	}
	return cmd
}

func (r *cpuReport) sheet() *console.Sheet {
	s := new(console.Sheet)
	s.Pairs(
		"processor", cmp.Or(r.Brand, "unknown")+" ("+r.Arch+")",
		"cores", humanize.Plural(int64(r.Usable), "thread")+" usable; "+known(r.Cores, humanize.Plural(int64(r.Cores), "core"))+", "+
			known(r.Threads, humanize.Plural(int64(r.Threads), "thread"))+" in all",
		"caches", "L1 data "+known(r.L1DBytes, humanize.Size(int64(r.L1DBytes)))+", L2 "+known(r.L2Bytes, humanize.Size(int64(r.L2Bytes)))+
			", L3 "+known(r.L3Bytes, humanize.Size(int64(r.L3Bytes))),
		"features", cmp.Or(strings.Join(r.Features, " "), "unknown"),
		"kernels for", strings.Join(r.Levels, ", "),
		"in use", r.ISA,
	)
	s.Line("\nTo run on another of them: --isa NAME, or %s=NAME in the environment.", flags.ISAVariable)
	return s
}

func known(n int, text string) string {
	if n == 0 {
		return "unknown"
	}
	return text
}
