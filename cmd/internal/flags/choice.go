// Package flags defines the flags that several verbs share.
package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/internal/humanize"
)

// A Choice is the value of a flag that takes one of a few words.
type Choice struct {
	Value  string
	Advise func(word string) string // returns the end of a sentence about a wrong word, or "" without advice; may be nil
	words  []string
}

// AddChoice adds a flag that takes one of words, with its completion. The default is c.Value, or the first word if
// c.Value is empty.
func AddChoice(cmd *cobra.Command, c *Choice, name, usage string, words ...string) {
	if c.words = words; c.Value == "" {
		c.Value = words[0]
	}
	cmd.Flags().Var(c, name, usage)
	completeWords(cmd, name, words)
}

// wordsOf is the key of the annotation that holds the words that a flag takes.
const wordsOf = "halfspace_words"

func completeWords(cmd *cobra.Command, name string, words []string) {
	if err := cmd.Flags().SetAnnotation(name, wordsOf, words); err != nil {
		panic("flags: " + err.Error()) // the flag isn't there
	}
}

// Complete tells cobra the words that the flags of cmd and of its subcommands take. Cobra keeps these flags until the
// process ends, with all that their values are part of. So only a command line that asks for completions needs
// Complete.
func Complete(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		words := f.Annotations[wordsOf]
		if words == nil {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic("flags: " + err.Error()) // the flag has a completion already
		}
	})
	for _, sub := range cmd.Commands() {
		Complete(sub)
	}
}

// String returns the value, for pflag.
func (c *Choice) String() string { return c.Value }

// Type names the type for pflag.
func (c *Choice) Type() string { return "choice" }

// Set sets the value to s. It returns an error unless s is one of the words.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.words, s) && c.Advise != nil && c.Advise(s) != "" {
		return errors.New(strings.TrimPrefix(c.Advise(s), ": "))
	}
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("use %s%s", humanize.OneOf(c.words), console.DidYouMean(s, c.words, ""))
	}
	c.Value = s
	return nil
}

// A List is the value of a flag that takes a list. Each use of the flag adds to the list, after a comma.
type List string

// String returns the list.
func (l *List) String() string { return string(*l) }

// Type names the type for pflag.
func (l *List) Type() string { return "list" }

// Set adds to the list.
func (l *List) Set(s string) error {
	if *l != "" {
		s = string(*l) + "," + s
	}
	*l = List(s)
	return nil
}
