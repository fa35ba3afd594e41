package cli

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"halfspace/bench"
	"halfspace/cmd/internal/console"
	"halfspace/internal/files"
)

func benchCompare(a *console.App) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "compare FILE.json FILE.json... [options]",
		Short: "Compare what bench measured on several computers",
		Long: `Compare shows what halfspace bench --json measured on several computers side by
side, each on the instruction set that the computer uses without --isa. The
ratio is the speed of a computer divided by that of the first file's computer:
2 is twice as fast. Loads and trainings also show rows per second, a row counted
once whatever the number of passes.

Files of bench --only are compared by the items that they share. It is an error
if two computers learned different models in the same training, since the work
was not the same then.`,
		Example: `  halfspace bench compare zen3.json zen5.json
  halfspace bench compare zen3.json zen5.json --out computers.svg`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return console.Usagef("fewer than two files: name two or more that bench --json printed")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE.svg` Write a picture as well.")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if console.ToStdout(out) {
			return console.Usagef("--out is %s: name a file, since the table goes to standard output", out)
		}
		if err := console.Claim(a, out, args); err != nil {
			return err
		}
		var reports []*bench.Report
		for _, path := range args {
			r, err := bench.Read(path)
			if errors.As(err, new(*fs.PathError)) {
				return console.OpenError(path, err)
			}
			if err != nil {
				return err
			}
			reports = append(reports, r)
		}
		c, err := bench.Compare(args, reports)
		if err != nil {
			return err
		}
		if out != "" {
			if err := files.Replace(cmd.Context(), out, []byte(bars(c))); err != nil {
				return err
			}
		}
		return a.Print(comparison(c))
	}
	return cmd
}
