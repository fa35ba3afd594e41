package flags

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// A Machine holds the options that change no result: workers, instruction set and progress.
type Machine struct {
	Workers  int
	isa      string
	Progress Choice
}

// AddTo adds the flags.
func (m *Machine) AddTo(cmd *cobra.Command) {
	cmd.Flags().IntVar(&m.Workers, "workers", 0, "`NUMBER` Most threads to use. (default one for each core)")
	cmd.Flags().StringVar(&m.isa, "isa", "", "`"+strings.Join(LevelNames(), "|")+"` Instruction set to compute with. It doesn't change the result. (default the fastest)")
	completeWords(cmd, "isa", LevelNames())
	AddProgress(cmd, &m.Progress)
}

// AddProgress adds --progress.
func AddProgress(cmd *cobra.Command, when *Choice) {
	AddChoice(cmd, when, "progress", "`auto|always|never` When to show progress: a line on a terminal, lines of text elsewhere. auto shows it on a terminal.", "auto", "always", "never")
}

// Apply checks the options, and makes the kernels use the instruction set of --isa.
func (m *Machine) Apply() error {
	if m.Workers < 0 {
		return console.Usagef("--workers is %d: use 1 or more, or 0 for one for each core", m.Workers)
	}
	m.Workers = parallel.Workers(m.Workers)
	return UseISA(m.isa)
}

// UseISA makes the kernels use the named instruction set. If name is empty, it takes the name in the environment
// variable. Package kernel ignores a wrong name in the environment; UseISA returns an error.
func UseISA(name string) error {
	source := "--isa"
	if name == "" {
		name, source = os.Getenv(ISAVariable), ISAVariable
	}
	if name == "" {
		return nil
	}
	level, err := kernel.ParseLevel(name)
	if err != nil {
		return console.Usagef("%s: %w", source, err)
	}
	kernel.Use(level)
	return nil
}

// ISAVariable is the environment variable that names an instruction set.
const ISAVariable = "HALFSPACE_ISA"

// LevelNames lists the instruction sets of this CPU.
func LevelNames() []string {
	var names []string
	for _, l := range kernel.Levels() {
		names = append(names, l.String())
	}
	return names
}

// Text holds the options for CSV and svmlight files.
type Text struct {
	header, indexBase Choice
	delimiter         string
	nullValues        []string
}

// AddTo adds the flags.
func (o *Text) AddTo(cmd *cobra.Command) {
	AddChoice(cmd, &o.header, "header", "`auto|yes|no` Whether the first line of a CSV file names the columns. auto finds out.", "auto", "yes", "no")
	cmd.Flags().StringVar(&o.delimiter, "delimiter", "", "`CHARACTER` Character between the fields of a CSV file. Also comma, tab, semicolon, pipe, or "+
		"space for any number of blanks. (default found out)")
	cmd.Flags().StringSliceVar(&o.nullValues, "null-values", nil, "`TEXT,...` Texts and numbers that mean a missing value in CSV files. An empty field always does, and so does - "+
		"in a column of numbers. (default those of the model, or NA,N/A,NaN,null,None,\\N,?)")
	AddChoice(cmd, &o.indexBase, "index-base", "`auto|0|1` Index of the first feature in svmlight files. auto is 0 if the index 0 appears, else 1.", "auto", "0", "1")
}

// Options returns the options for package dataset.
func (o *Text) Options() dataset.TextOptions {
	return dataset.TextOptions{Header: o.header.Value, Delimiter: o.delimiter, IndexBase: o.indexBase.Value, NullValues: o.nullValues}
}

// Check returns an error if an option can't be used.
func (o *Text) Check() error {
	if err := o.Options().Check(); err != nil {
		return console.Usagef("--%w", err)
	}
	return nil
}
