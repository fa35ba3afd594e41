package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/internal/say"
)

// A choice is the value of a flag that takes one of a few words.
type choice struct {
	value  string
	words  []string
	advise func(word string) string // the rest of a sentence about another word, "" where nothing is known; may be nil
}

// addChoice adds such a flag with its completion. The default is the value that c has, or the first word where it has none.
func addChoice(cmd *cobra.Command, c *choice, name, usage string, words ...string) {
	if c.words = words; c.value == "" {
		c.value = words[0]
	}
	cmd.Flags().Var(c, name, usage)
	completeWords(cmd, name, words)
}

func completeWords(cmd *cobra.Command, name string, words []string) {
	err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("cli: " + err.Error()) // the flag isn't there, or has a completion already
	}
}

func (c *choice) String() string { return c.value }

func (c *choice) Type() string { return "choice" }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.words, s) && c.advise != nil && c.advise(s) != "" {
		return errors.New(strings.TrimPrefix(c.advise(s), ": "))
	}
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("use %s%s", say.OneOf(c.words), didYouMean(s, c.words, ""))
	}
	c.value = s
	return nil
}

// A joined is a list in one text; each use of its flag adds to it.
type joined string

func (j *joined) String() string { return string(*j) }

func (j *joined) Type() string { return "list" }

func (j *joined) Set(s string) error {
	if *j != "" {
		s = string(*j) + "," + s
	}
	*j = joined(s)
	return nil
}
