package flags

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

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
