package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// A learnersError is an error of a learner. A learner knows neither the names of files nor the command line.
type learnersError struct{ error }

func (e learnersError) Unwrap() error { return e.error }

// OfLearner marks an error as an error of a learner, for Explain.
func OfLearner(err error) error {
	if err == nil || errors.As(err, new(UsageError)) || errors.As(err, new(*message.OptionError)) {
		return err
	}
	return learnersError{err}
}

var rowNumber = regexp.MustCompile(`\brow (\d+)\b`)

// Explain rewrites an error of a verb in terms of the command line. To an error of a learner it adds the file. To the
// number of a row it adds the line, if the data is a text file.
func Explain(cmd *cobra.Command, args []string, err error) error {
	if err == nil || errors.As(err, new(UsageError)) || errors.As(err, new(*message.OptionError)) || errors.Is(err,
		ErrStdoutGone) || cmd.Context().Err() != nil {
		return err
	}
	learners := errors.As(err, new(learnersError))
	text := err.Error()
	paths, lead := args, ""
	if rest, ok := strings.CutPrefix(text, "--validation: "); ok {
		paths, lead, text = nil, "--validation: ", rest
		if f := cmd.Flag("validation"); f != nil && f.Changed {
			paths = []string{f.Value.String()}
		}
	}
	if broken := brokenLines(cmd, paths, err); broken != nil {
		return fmt.Errorf("%s%w", lead, broken)
	}
	file, line, found := lineOf(cmd, paths, text, learners)
	if found {
		text = rowNumber.ReplaceAllString(text, fmt.Sprintf("line %d, row $1", line))
	}
	if learners && !namesFile(cmd.Context(), text, paths) {
		text = cmp.Or(file, humanize.Files(paths)) + ": " + text
	}
	if gaps := otherGaps(cmd, paths, err); gaps != "" {
		return errors.New(lead + text + gaps)
	}
	if !found && !learners {
		return err
	}
	return errors.New(lead + text)
}

// textOptions returns the options on text files and on columns that the command has.
func textOptions(cmd *cobra.Command) dataset.Options {
	opt := dataset.Options{Text: dataset.TextOptions{Header: flagText(cmd, "header"), Delimiter: flagText(cmd, "delimiter"), IndexBase: flagText(cmd, "index-base")}}
	opt.Text.NullValues, _ = cmd.Flags().GetStringSlice("null-values")
	opt.Exclude, _ = cmd.Flags().GetStringSlice("exclude")
	return opt
}

// otherGaps returns a text about all columns with missing values, if err names the first of them and --prepare is none.
func otherGaps(cmd *cobra.Command, paths []string, err error) string {
	if nulls := flagText(cmd, "nulls"); !errors.Is(err, dataset.ErrNulls) || flagText(cmd, "prepare") != "none" || nulls != "auto" && nulls != "error" || slices.Contains(paths, "-") {
		return ""
	}
	opt := textOptions(cmd)
	opt.Features, _ = cmd.Flags().GetStringSlice("features")
	opt.Label = flagText(cmd, "label")
	p, bad := profileOf(cmd.Context(), paths, opt)
	if bad != nil {
		return ""
	}
	var others []string
	for _, c := range p.Columns {
		if c.Missing > 0 && !strings.Contains(err.Error(), fmt.Sprintf("column %q", c.Name)) && !strings.Contains(c.Type, "string") {
			others = append(others, fmt.Sprintf("%q (%d)", c.Name, c.Missing))
		}
	}
	if p.Unlabelled > 0 && !strings.Contains(err.Error(), "label") {
		others = append(others, fmt.Sprintf("the label %q (%d)", opt.Label, p.Unlabelled))
	}
	if len(others) == 0 {
		return ""
	}
	return "; missing values are also in " + strings.Join(others[:min(len(others), 10)], ", ") + ": --prepare auto handles all of them, --nulls drop leaves their rows out"
}

// brokenLines returns the error about all broken lines of text files, with the option that leaves them out. It returns nil if err isn't
// about a broken line.
func brokenLines(cmd *cobra.Command, paths []string, err error) error {
	if f := cmd.Flag("rejects"); f == nil || f.Changed || !errors.Is(err, dataset.ErrLine) {
		return nil
	}
	n, all := textOptions(cmd).Broken(cmd.Context(), paths)
	if n == 0 {
		return nil
	}
	them := "them"
	if n == 1 {
		them = "it"
	}
	return message.Errorf("%w (--rejects bad.csv leaves %s out and goes on)", all, them)
}

// flagText returns the value of a flag, or "" if the command lacks it.
func flagText(cmd *cobra.Command, name string) string {
	if f := cmd.Flag(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// namesFile tells whether an error begins with the name of a file. Then the error comes from reading the rows again,
// not from the training.
func namesFile(ctx context.Context, text string, paths []string) bool {
	files, _ := dataset.Expand(ctx, paths, nil)
	for _, f := range files {
		if strings.HasPrefix(text, f) {
			return true
		}
	}
	first, _, _ := strings.Cut(text, ": ") // the name of a cache
	_, err := os.Stat(first)
	return err == nil
}

// lineOf returns the file and the line of the row that an error names. It finds none if the data isn't text, or if the
// error doesn't name exactly one row.
func lineOf(cmd *cobra.Command, paths []string, text string, learners bool) (file string, line int64, found bool) {
	rows := rowNumber.FindAllStringSubmatch(text, -1)
	if len(rows) != 1 || learners && flagText(cmd, "nulls") == "drop" { // learners don't count dropped rows
		return "", 0, false
	}
	row, err := strconv.ParseInt(rows[0][1], 10, 64)
	if err != nil {
		return "", 0, false
	}
	opt := dataset.TextOptions{Header: flagText(cmd, "header"), Delimiter: flagText(cmd, "delimiter"), IndexBase: flagText(cmd, "index-base")}
	return opt.Line(cmd.Context(), paths, row)
}

// unknownOption returns an error about an option that the verb lacks, with the text to type instead. dashes are the
// dashes before the option.
func unknownOption(cmd *cobra.Command, dashes, name string) error {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	plain := strings.ReplaceAll(name, "_", "-")
	if plain == "dtype" { // an option of earlier versions
		advice := "leave it out"
		if slices.Contains(names, "standardize") {
			advice += ", and use --standardize if a column needs more digits: it subtracts the mean in float64 before it rounds"
		}
		return Usagef("unknown option %s%s: rows are float32, %s", dashes, name, advice)
	}
	for _, n := range []string{name, plain} {
		option, _, _ := strings.Cut(strings.ReplaceAll(otherOptions[n], ",", " "), " ")
		switch {
		case slices.Contains(names, n):
			return Usagef("unknown option %s%s: use --%s", dashes, name, n)
		case slices.Contains(names, option):
			return Usagef("unknown option %s%s: use --%s", dashes, name, otherOptions[n])
		}
	}
	if slices.Contains(dataOptions, plain) && strings.Contains(cmd.Use, " DATA") {
		return Usagef("unknown option %s%s: name the data without an option, such as %s FILE", dashes, name, cmd.Name())
	}
	if len(plain) == 1 {
		return Usagef("unknown option %s%s", dashes, name)
	}
	return Usagef("unknown option %s%s%s", dashes, name, DidYouMean(plain, names, "--"))
}

// DidYouMean returns the end of a sentence about an unknown name: the nearest known name with prefix before it. It
// returns "" if no known name is near.
func DidYouMean(name string, known []string, prefix string) string {
	if near := humanize.Nearest(name, known); near != "" {
		return fmt.Sprintf(": did you mean %s%s?", prefix, near)
	}
	return ""
}

// FlagError returns the error for a flag that can't be parsed, with the text to type.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		return unknownOption(cmd, "--", unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		return unknownOption(cmd, "-", unknown.GetSpecifiedShortnames())
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		if text := wanted[f.Value.Type()]; text != "" {
			return Usagef("--%s %s: %s", f.Name, invalid.GetValue(), text)
		}
		return Usagef("--%s %s: %w", f.Name, invalid.GetValue(), invalid.Unwrap())
	case errors.As(err, &missing):
		return Usagef("--%s needs a value", missing.GetSpecifiedName())
	}
	return Usagef("%w", err)
}

// wanted says which values a flag of a type takes.
var wanted = map[string]string{
	"int": "use a whole number", "int64": "use a whole number", "uint64": "use a whole number from 0 to 18446744073709551615", "float64": "use a number",
	"duration": "use a time with its unit, such as 50ms or 2s", "bool": "use true or false",
	"stringSlice": `put quotes around each item with a comma, such as "a,b",c`,
}

func profileOf(ctx context.Context, paths []string, opt dataset.Options) (*dataset.Profile, error) {
	t, err := dataset.Examine(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	return t.Profile(ctx, opt)
}
