package flags

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// UsageWidth is the width of a line of help, in characters.
const UsageWidth = 80

// WriteUsage writes the usage of a command: its forms, examples, subcommands and options. It uses no template:
// text/template calls methods by name, so the linker would keep each method of each type, half of the binary.
func WriteUsage(cmd *cobra.Command) error {
	var s strings.Builder
	s.WriteString("Usage:")
	if cmd.Runnable() {
		fmt.Fprintf(&s, "\n  %s", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&s, "\n  %s COMMAND", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&s, "\n\nExamples:\n%s", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		s.WriteString("\n\nAvailable Commands:")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&s, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	writeGroups(&s, cmd.LocalFlags())
	writeOptions(&s, "Global Options", cmd.InheritedFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&s, "\n\nUse \"%s COMMAND --help\" for more information about a command.", cmd.CommandPath())
	}
	_, err := fmt.Fprintln(cmd.OutOrStderr(), s.String())
	return err
}

// group is the key of the annotation that holds a flag's heading in help.
const group = "group"

// SetGroup puts the flags that have no group yet under a heading.
func SetGroup(flags *pflag.FlagSet, heading string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[group] == nil {
			flags.SetAnnotation(f.Name, group, []string{heading}) // the flag is there
		}
	})
}

// writeGroups writes the options under their headings, in the order of each heading's first option. Options without a
// group stand under "Options".
func writeGroups(s *strings.Builder, flags *pflag.FlagSet) {
	var headings []string
	groups := map[string]*pflag.FlagSet{}
	flags.VisitAll(func(f *pflag.Flag) {
		heading := "Options"
		if of := f.Annotations[group]; of != nil {
			heading = of[0]
		}
		if groups[heading] == nil {
			groups[heading] = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[heading].SortFlags = false
			headings = append(headings, heading)
		}
		groups[heading].AddFlag(f)
	})
	for _, heading := range headings {
		writeOptions(s, heading, groups[heading])
	}
}
