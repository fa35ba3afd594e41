package console

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/train"
)

// A learnersError is an error of a learner. A learner knows neither the names of files nor the command line.
type learnersError struct{ error }

// Unwrap returns the error of the learner.
func (e learnersError) Unwrap() error { return e.error }

// OfLearner marks an error as an error of a learner, for Explain.
func OfLearner(err error) error {
	if weights := (*train.ErrClassWeights)(nil); errors.As(err, &weights) {
		return Usagef("--class-weight %s=%v: %s", weights.Class, weights.Weight, weights.What)
	}
	if err == nil || errors.As(err, new(UsageError)) {
		return err
	}
	return learnersError{err}
}

var rowNumber = regexp.MustCompile(`\brow (\d+)\b`)

// optionName matches names of the learners' options that have no dashes before them. A name that consists of letters
// alone may be an ordinary word, so it matches only with a value after it.
var optionName = sync.OnceValue(func() *regexp.Regexp {
	var names, words []string
	for _, l := range train.Learners {
		for _, o := range l.Options {
			if strings.ContainsAny(o.Name, "-0123456789") {
				names = append(names, o.Name)
			} else {
				words = append(words, o.Name)
			}
		}
	}
	return regexp.MustCompile(`(^|[^-\w])((?:` + strings.Join(names, "|") + `)\b|(?:` + strings.Join(words, "|") + `)(?: is)? (?:[-+]?\d|NaN|[-+]Inf))`)
})

// optionWords replaces a learner's words for options, in advice, by the text to type.
var optionWords = strings.NewReplacer("folds is ", "--cv is ", "with features", "with --features", "with epochs", "with --epochs", ", memory is ", ", --memory is ",
	"kernel-perceptron takes rows", "--algo kernel-perceptron takes rows", "dual takes rows", "--algo dual takes rows",
	"use lbfgs", "use --solver lbfgs", "solver newton", "--solver newton", "learn one class versus the rest", "use --multiclass ovr",
	"learn literals", "use --literals", "standardize them", "use --standardize", "use cyclic", "use --order cyclic",
	"learn with a perceptron", "use --algo averaged", "average the weights instead", "use --algo averaged")

// Explain rewrites an error of a verb in terms of the command line. To an error of a learner it adds the file, and the
// dashes of options. To the number of a row it adds the line, if the data is a text file.
func Explain(cmd *cobra.Command, args []string, err error) error {
	if err == nil || errors.As(err, new(UsageError)) || errors.Is(err, ErrStdoutGone) || cmd.Context().Err() != nil {
		return err
	}
	learners := errors.As(err, new(learnersError))
	text := strings.Replace(err.Error(), "another column as the label", "another column with --label", 1)
	if text != err.Error() {
		err = errors.New(text)
	}
	paths, lead := args, ""
	if rest, ok := strings.CutPrefix(text, "--validation: "); ok {
		paths, lead, text = nil, "--validation: ", rest
		if f := cmd.Flag("validation"); f != nil && f.Changed {
			paths = []string{f.Value.String()}
		}
	}
	file, line := lineOf(cmd, paths, text, learners)
	if line > 0 {
		text = rowNumber.ReplaceAllString(text, fmt.Sprintf("line %d, row $1", line))
	}
	if learners && !namesFile(text, paths) {
		text = AsTyped(text)
		if file == "" {
			file = humanize.Files(paths)
		}
		text = file + ": " + text
	}
	if line == 0 && !learners {
		return err
	}
	return errors.New(lead + text)
}

// AsTyped rewrites the options in an error of a learner as the user types them.
func AsTyped(text string) string {
	return optionWords.Replace(optionName().ReplaceAllString(text, "$1--$2"))
}

// namesFile tells whether an error begins with the name of a file. Then the error comes from reading the rows again,
// not from the training.
func namesFile(text string, paths []string) bool {
	files, _ := dataset.Expand(paths)
	for _, f := range files {
		if strings.HasPrefix(text, f) {
			return true
		}
	}
	first, _, _ := strings.Cut(text, ": ") // the name of a cache
	_, err := os.Stat(first)
	return err == nil
}

// lineOf returns the file and the line of the row that an error names. The line is 0 if the data isn't text, or if the
// error doesn't name exactly one row.
func lineOf(cmd *cobra.Command, paths []string, text string, learners bool) (string, int64) {
	rows := rowNumber.FindAllStringSubmatch(text, -1)
	flag := func(name string) string {
		if f := cmd.Flag(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	if len(rows) != 1 || learners && flag("nulls") == "drop" { // learners don't count dropped rows
		return "", 0
	}
	row, err := strconv.ParseInt(rows[0][1], 10, 64)
	if err != nil {
		return "", 0
	}
	opt := dataset.TextOptions{Header: flag("header"), Delimiter: flag("delimiter"), IndexBase: flag("index-base")}
	file, line, ok := opt.Line(cmd.Context(), paths, row)
	if !ok {
		return "", 0
	}
	return file, line
}
