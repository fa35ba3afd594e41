package flags

import (
	"fmt"
	"strings"
	"unicode/utf8"

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
	writeCommands(&s, cmd)
	writeGroups(&s, cmd.LocalFlags())
	writeOptions(&s, "Global Options", cmd.InheritedFlags())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&s, "\n\nUse \"%s COMMAND --help\" for more information about a command.", cmd.CommandPath())
	}
	_, err := fmt.Fprintln(cmd.OutOrStderr(), s.String())
	return err
}

// writeCommands writes the subcommands under the titles of their groups. Those without a group stand last, under "Commands".
func writeCommands(s *strings.Builder, cmd *cobra.Command) {
	titles := append(cmd.Groups(), &cobra.Group{Title: "Commands"})
	for _, of := range titles {
		isFirst := true
		for _, sub := range cmd.Commands() {
			if sub.GroupID != of.ID || !sub.IsAvailableCommand() && sub.Name() != "help" {
				continue
			}
			if isFirst {
				fmt.Fprintf(s, "\n\n%s:", of.Title)
				isFirst = false
			}
			fmt.Fprintf(s, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
}

// WriteBrief writes help of one screen: the purpose, the usage, examples, a few options, and more, which says where the rest is.
// options are pairs of an option with its placeholder, and a text that fits beside it.
func WriteBrief(cmd *cobra.Command, purpose, examples string, options [][2]string, more string) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s\n\nUsage: %s\n\nExamples:\n%s\n\nOptions:", purpose, cmd.UseLine(), examples)
	for _, o := range options {
		fmt.Fprintf(&s, "\n  %-*s%s", helpColumn-2, o[0], o[1])
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s\n", s.String(), more)
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

// helpColumn is the column at which the text of an option begins in help.
const helpColumn = 26

// writeOptions writes the options of flags under a title. It writes nothing if all are hidden.
func writeOptions(s *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(s, "\n\n%s:", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			writeOption(s, f)
		}
	})
}

// writeOption writes the name of an option, the placeholder of its value, its text, and its default.
func writeOption(s *strings.Builder, f *pflag.Flag) {
	left := "  --" + f.Name
	if f.Shorthand != "" {
		left = "  -" + f.Shorthand + ", --" + f.Name
	}
	placeholder, text := pflag.UnquoteUsage(f)
	if strings.HasPrefix(f.Usage, "`") { // the placeholder stands before the text
		text = strings.TrimPrefix(text[len(placeholder):], " ")
	}
	if placeholder != "" {
		left += " " + placeholder
	}
	switch {
	case f.Name == "help":
		text = "Show this help."
	case f.Name == "version":
		text = "Show the version."
	}
	if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "[]" {
		text += " (default " + d + ")"
	}
	gap := "\n" + strings.Repeat(" ", helpColumn)
	if n := helpColumn - len(left); n >= 2 {
		gap = strings.Repeat(" ", n)
	}
	s.WriteString("\n" + left + gap + Wrapped(text, helpColumn))
}

// Wrapped breaks text into lines of help. The first line begins at that column; the other lines are indented to it.
func Wrapped(text string, column int) string {
	var s strings.Builder
	at := column
	for i, word := range strings.Fields(text) {
		switch n := utf8.RuneCountInString(word); {
		case i > 0 && at+1+n > UsageWidth:
			s.WriteString("\n" + strings.Repeat(" ", column))
			at = column + n
		case i > 0:
			s.WriteByte(' ')
			at += 1 + n
		default:
			at += n
		}
		s.WriteString(word)
	}
	return s.String()
}
