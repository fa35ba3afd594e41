package flags

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
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
