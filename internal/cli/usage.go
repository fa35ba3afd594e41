package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageWidth is the width of lines of help, in characters.
const usageWidth = 80

// writeUsage writes how a command is used: its forms, examples, commands and options. It is in place of a template:
// text/template calls methods by name, so the linker would keep each method of each type, half of the binary.
func writeUsage(cmd *cobra.Command) error {
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
	writeOptions(&s, "Options", cmd.LocalFlags())
	writeOptions(&s, "Global Options", cmd.InheritedFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&s, "\n\nUse \"%s COMMAND --help\" for more information about a command.", cmd.CommandPath())
	}
	_, err := fmt.Fprintln(cmd.OutOrStderr(), s.String())
	return err
}

// writeOptions writes the options of flags, if there are any.
func writeOptions(s *strings.Builder, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(s, "\n\n%s:\n%s", title, strings.TrimRight(flags.FlagUsagesWrapped(usageWidth), " \t\n"))
	}
}
