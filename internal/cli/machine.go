package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/internal/cli/console"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// A machine holds the options on how to run. They change no result.
type machine struct {
	workers  int
	isa      string
	progress choice
}

func (m *machine) addTo(cmd *cobra.Command) {
	cmd.Flags().IntVar(&m.workers, "workers", 0, "`NUMBER` Most threads to use. (default one for each core)")
	cmd.Flags().StringVar(&m.isa, "isa", "", "`"+strings.Join(levelNames(), "|")+"` Instruction set to compute with. It doesn't change the result. (default the fastest)")
	completeWords(cmd, "isa", levelNames())
	addChoice(cmd, &m.progress, "progress", "`auto|always|never` When to show a progress bar. auto shows it on a terminal.", "auto", "always", "never")
}

// apply checks the options and makes the kernels run on the instruction set that they name.
func (m *machine) apply() error {
	if m.workers < 0 {
		return console.Usagef("--workers is %d: use 1 or more, or 0 for one for each core", m.workers)
	}
	m.workers = parallel.Workers(m.workers)
	return useISA(m.isa)
}

// useISA makes the kernels run on the named instruction set, or on the one that the environment names. Package kernel
// has read the environment too, and ignored a name that is wrong; here it is an error.
func useISA(name string) error {
	source := "--isa"
	if name == "" {
		name, source = os.Getenv(isaVariable), isaVariable
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

const isaVariable = "HALFSPACE_ISA"

func levelNames() []string {
	var names []string
	for _, l := range kernel.Levels() {
		names = append(names, l.String())
	}
	return names
}
