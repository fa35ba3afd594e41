package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/export"
	"halfspace/internal/parallel"

	"halfspace/cmd/internal/flags"
	"halfspace/internal/humanize"
	"halfspace/model"
)

// Import returns the command that converts another program's model to a halfspace model.
func Import(a *console.App) *cobra.Command {
	var out string
	var memory flags.Size
	cmd := &cobra.Command{
		Use:   "import FILE --out m.json [options]",
		Short: "Make a model of one that LIBLINEAR wrote",
		Long: `Import reads the text model that liblinear-train writes, and writes the same
model for halfspace, with its weights rounded to float32. Its features are those
of svmlight files, f1, f2, ...`,
		Example: `  halfspace import a9a.model --out m.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return console.Usagef("%d files: name one model that liblinear-train wrote", len(args))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` Model file to write. (required)")
	memory.AddTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case out == "":
			return console.Usagef("--out is missing: name the model file to write")
		case console.ToStdout(out):
			return console.Usagef("--out %s: a model isn't written to standard output: name a file", out)
		}
		if err := console.Claim(a, out, args); err != nil {
			return err
		}
		read, err := parallel.DetachValue(cmd.Context(), func() (imported, error) { return loadLIBLINEAR(args[0], memory.Bytes) })
		if err != nil {
			return err
		}
		m := read.model
		if read.rounded > 0 {
			a.Note("%s rounded to float32: scores may differ from those of LIBLINEAR in the seventh digit", humanize.Plural(read.rounded, "weight"))
		}
		if err := console.SaveModel(cmd.Context(), m, out); err != nil {
			return err
		}
		return a.PrintLine("%s: %s, %s, %d classes", out, m.Algorithm, humanize.Plural(int64(m.Width()), "feature"), len(m.Classes))
	}
	return cmd
}

// imported is the model of a file, and the number of weights that float32 rounds.
type imported struct {
	model   *model.Model
	rounded int64
}

// loadLIBLINEAR reads a text model of LIBLINEAR.
func loadLIBLINEAR(path string, memory int64) (of imported, err error) {
	f, err := os.Open(path)
	if err != nil {
		return of, console.OpenError(path, err)
	}
	defer f.Close()
	of.model, of.rounded, err = export.ReadLIBLINEAR(f, memory)
	switch {
	case errors.Is(err, export.ErrFormat):
		return of, fmt.Errorf("%s: %w: name what liblinear-train wrote", path, err)
	case err != nil:
		return of, fmt.Errorf("%s: %w", path, err)
	}
	return of, nil
}
