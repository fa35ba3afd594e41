// Package flags turns the options of the verbs into values: numbers, choices, opened rows.
//
// It has the types of flags, the flags that several verbs share, and the text of help. OpenRows reads the rows of a training into
// memory, as a stream of the files, or into a cache.
package flags

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/cmd/internal/console"
	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/predict"
)

// A Choice is the value of a flag that takes one of a few words.
type Choice struct {
	Advise func(word string) string // returns the end of a sentence about a wrong word, or "" without advice; may be nil
	value  *string
	words  []string
}

// AddChoice adds a flag that takes one of words, with its completion. The default is *value, or the first word if that is
// empty.
func AddChoice(cmd *cobra.Command, value *string, name, usage string, words ...string) *Choice {
	c := &Choice{value: value, words: words}
	*value = cmp.Or(*value, words[0])
	cmd.Flags().Var(c, name, usage)
	completeWords(cmd, name, words)
	return c
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

func (c *Choice) String() string { return *c.value }

func (c *Choice) Type() string { return "choice" }

// Set sets the value to s. It returns an error unless s is one of the words.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.words, s) && c.Advise != nil && c.Advise(s) != "" {
		return errors.New(strings.TrimPrefix(c.Advise(s), ": "))
	}
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("use %s%s", humanize.OneOf(c.words), console.DidYouMean(s, c.words))
	}
	*c.value = s
	return nil
}

// A List is the value of a flag that takes a list. Each use of the flag adds to the list, after a comma.
type List string

func (l *List) String() string { return string(*l) }

func (l *List) Type() string { return "list" }

func (l *List) Set(s string) error {
	if *l != "" {
		s = string(*l) + "," + s
	}
	*l = List(s)
	return nil
}

// A Size is the value of a flag that takes a number of bytes, such as 8G.
type Size struct {
	text  string
	Bytes int64 // 0 if none was given
}

var units = map[string]float64{"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "kb": 1e3, "m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9, "t": 1 << 40, "tib": 1 << 40, "tb": 1e12}

// String returns the size as it was typed.
func (s *Size) String() string { return s.text }

func (s *Size) Type() string { return "size" }

// Set reads a size. It returns an error if the size is below 1 byte or too large for an int64.
func (s *Size) Set(text string) error {
	number := strings.TrimRight(text, "bBkKmMgGtTiI")
	v, err := humanize.ParseNumber(strings.TrimSpace(number))
	unit, ok := units[strings.ToLower(text[len(number):])]
	if bytes := v * unit; err == nil && ok && bytes >= 1 && bytes < math.MaxInt64 {
		s.text, s.Bytes = text, int64(bytes)
		return nil
	}
	return errors.New("use a size such as 256MiB or 8G")
}

// AddTo adds --memory to a verb that reads the rows block by block.
func (s *Size) AddTo(cmd *cobra.Command) {
	cmd.Flags().Var(s, "memory", "`SIZE` Most memory to use, such as 256MiB or 8G. (default 80 % of what is available)")
}

// Hold sets the memory limit of the garbage collector to Limit. It returns the limit in bytes, and a function that
// restores the limit from before.
func (s *Size) Hold() (limit int64, undo func()) {
	limit = s.Limit()
	before := debug.SetMemoryLimit(limit)
	return limit, func() { debug.SetMemoryLimit(before) }
}

// Limit returns the bytes of the flag. Without the flag, it returns four fifths of the available memory.
func (s *Size) Limit() int64 { return memory.Limit(s.Bytes) }

// PlainNumbers makes the number flags of a command read the grammar of humanize.ParseNumber. Without it, pflag would read
// numbers as Go source does: 1_000, 0x10, and 010 for 8.
func PlainNumbers(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "int", "int64", "uint64", "float64":
			f.Value = plainNumber{f.Value}
		}
	})
}

type plainNumber struct{ pflag.Value }

func (n plainNumber) Set(text string) error {
	if n.Type() == "float64" {
		if _, err := humanize.ParseNumber(text); errors.Is(err, strconv.ErrSyntax) {
			return err
		}
		return n.Value.Set(text)
	}
	sign, digits := "", text
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		sign, digits = text[:1], text[1:]
	}
	if strings.Trim(digits, "0123456789") != "" || digits == "" {
		return strconv.ErrSyntax
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits = "0"
	}
	return n.Value.Set(sign + digits)
}

type Threshold struct{ predict.Threshold }

func (t *Threshold) Type() string { return "threshold" }

func (t *Threshold) Set(text string) (err error) {
	t.Threshold, err = predict.ParseThreshold(text)
	return err
}

// Values returns the values of a flag: one for each member of a list.
func Values(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// Line returns texts as a line of CSV, which is the value of a flag that takes a list.
func Line(texts ...string) string {
	var line strings.Builder
	w := csv.NewWriter(&line)
	w.Write(texts) // no error: a Builder takes everything
	w.Flush()
	return cmp.Or(strings.TrimSuffix(line.String(), "\n"), `""`)
}
