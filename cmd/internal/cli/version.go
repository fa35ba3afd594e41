package cli

import (
	"cmp"
	_ "embed"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/humanize"
	"halfspace/kernel"
)

// A versionReport is the JSON object of version --json. Unknown values are 0 or empty.
type versionReport struct {
	Version       string   `json:"version"` // of the program and of the Go compiler
	Commit        string   `json:"commit"`
	HasChanged    bool     `json:"changed"` // the files differ from the commit
	Brand         string   `json:"brand"`
	Arch          string   `json:"arch"`
	Cores         int      `json:"cores"`
	Threads       int      `json:"threads"`
	UsableThreads int      `json:"usable"` // threads that this process may run at once
	L1DBytes      int      `json:"l1d_bytes"`
	L2Bytes       int      `json:"l2_bytes"`
	L3Bytes       int      `json:"l3_bytes"`
	Features      []string `json:"features"` // see kernel.CPU
	Levels        []string `json:"levels"`   // instruction sets that the kernels can run on, slowest first
	ISA           string   `json:"isa"`      // the instruction set in use
}

// licenses are the notices of the modules that are linked into the command. A test of cmd/halfspace writes the file.
//
//go:embed licenses.txt
var licenses []byte

func Version(a *console.App) *cobra.Command {
	var asJSON, showsLicenses bool
	cmd := &cobra.Command{
		Use:   "version [options]",
		Short: "Show the version, the processor and the instruction set in use",
		Long: `Version shows the version of halfspace and of the Go compiler, the commit, the
processor's features and the instruction set that halfspace uses. It uses the
fastest one, unless --isa of another command or the environment variable
` + flags.ISAVariable + ` names a different one. Results are the same bit for bit.`,
		Example: `  halfspace version
  ` + flags.ISAVariable + `=generic halfspace version --json
  halfspace version --licenses`,
		Args: unknownCommand,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object.")
	cmd.Flags().BoolVar(&showsLicenses, "licenses", false, "Print the licenses of the code that this program has from others.")
	cmd.RunE = func(*cobra.Command, []string) error {
		switch {
		case showsLicenses && asJSON:
			return console.Usagef("--json and --licenses: the licenses are text, leave one of the two out")
		case showsLicenses:
			return a.Print(licenses)
		}
		if err := flags.UseISA(""); err != nil {
			return err
		}
		c := kernel.DetectedCPU()
		r := &versionReport{
			Version: console.Version(), Brand: c.Brand, Arch: runtime.GOARCH, Cores: c.Cores, Threads: c.Threads,
			UsableThreads: runtime.GOMAXPROCS(0),
			L1DBytes:      c.L1D, L2Bytes: c.L2, L3Bytes: c.L3, Features: append([]string{}, c.Features...),
			Levels: flags.LevelNames(), ISA: kernel.Active().String(),
		}
		r.Commit, r.HasChanged = console.Commit()
		return a.Report(asJSON, r, r.sheet)
	}
	return cmd
}

func (r *versionReport) sheet() *console.Sheet {
	s := new(console.Sheet)
	of := cmp.Or(r.Commit, "unknown")
	if r.HasChanged {
		of += ", with changes"
	}
	s.Pairs(
		"halfspace", r.Version,
		"commit", of,
		"processor", cmp.Or(r.Brand, "unknown")+" ("+r.Arch+")",
		"cores", humanize.Plural(int64(r.UsableThreads), "thread")+" usable; "+textOrUnknown(r.Cores,
			humanize.Plural(int64(r.Cores), "core"))+", "+
			textOrUnknown(r.Threads, humanize.Plural(int64(r.Threads), "thread"))+" in all",
		"caches", "L1 data "+textOrUnknown(r.L1DBytes, humanize.Size(int64(r.L1DBytes)))+", L2 "+
			textOrUnknown(r.L2Bytes, humanize.Size(int64(r.L2Bytes)))+
			", L3 "+textOrUnknown(r.L3Bytes, humanize.Size(int64(r.L3Bytes))),
		"features", cmp.Or(strings.Join(r.Features, " "), "unknown"),
		"kernels for", strings.Join(r.Levels, ", "),
		"in use", r.ISA,
	)
	s.Line("\nTo run on another of them: --isa NAME, or %s=NAME in the environment.", flags.ISAVariable)
	return s
}

func textOrUnknown(n int, text string) string {
	if n == 0 {
		return "unknown"
	}
	return text
}
