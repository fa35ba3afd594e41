package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A learnersError is an error of a learner. A learner doesn't know the names of files.
type learnersError struct {
	error
	numbersPart bool // the learner numbers the rows of a part of the data
}

func (e learnersError) Unwrap() error { return e.error }

// OfLearner marks an error as an error of a learner, for Explain. parted is true if the learner learns from a part of the
// rows, which it numbers from 0 on.
func OfLearner(err error, parted bool) error {
	if err == nil {
		return nil
	}
	return learnersError{err, parted}
}

// A validationError is an error about the files of --validation.
type validationError struct {
	error
	paths []string
}

func (e validationError) Error() string { return message.Sprintf("--validation: %v", e.error) }

func (e validationError) Unwrap() error { return e.error }

// OfValidation marks an error as an error about the files of --validation, for Explain.
func OfValidation(err error, paths []string) error { return validationError{err, paths} }

// Explain completes an error of a verb as dataset.Options.Complete does. It adds the names of the files to an error of a
// learner.
func Explain(cmd *cobra.Command, args []string, err error) error {
	ctx := cmd.Context()
	if err == nil || errors.As(err, new(UsageError)) || errors.As(err, new(*message.OptionError)) ||
		errors.Is(err, ErrStdoutGone) || ctx.Err() != nil {
		return err
	}
	if of := (validationError{}); errors.As(err, &of) {
		return validationError{rowOptions(cmd).Complete(ctx, of.paths, of.error), of.paths}
	}
	of := learnersError{}
	learner := errors.As(err, &of)
	if !of.numbersPart {
		err = rowOptions(cmd).Complete(ctx, args, err)
	}
	if learner && !message.IsLocated(err) {
		return fmt.Errorf("%s: %w", humanize.Files(args), err)
	}
	return err
}

// rowOptions returns the options on text files, columns and rows that the command has.
func rowOptions(cmd *cobra.Command) (opt dataset.Options) {
	f := cmd.Flags()
	text := func(name string) string {
		if flag := f.Lookup(name); flag != nil {
			return flag.Value.String()
		}
		return ""
	}
	opt.Text = dataset.TextOptions{Header: text("header"), Delimiter: text("delimiter"), IndexBase: text("index-base")}
	opt.Text.NullValues, _ = f.GetStringSlice("null-values")
	opt.Exclude, _ = f.GetStringSlice("exclude")
	opt.Features, _ = f.GetStringSlice("features")
	opt.Sample, _ = f.GetFloat64("sample")
	opt.Limit, _ = f.GetInt64("limit")
	opt.Label, opt.Where, opt.Prepare = text("label"), text("where"), text("prepare") != "none"
	if opt.Nulls = schema.Nulls(text("nulls")); opt.Nulls == "auto" {
		opt.Nulls = ""
	}
	if flag := f.Lookup("rejects"); flag == nil || flag.Changed {
		opt.Rejects = dataset.NewRejects("")
	}
	return opt
}

// unknownOption returns an error about an option that the verb lacks, with the text to type instead. dashes are the
// dashes before the option.
func unknownOption(cmd *cobra.Command, dashes, name string) error {
	var names []string
	typed := dashes + name
	if dashes == "--" {
		typed = message.Option(name)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	plain := strings.ReplaceAll(name, "_", "-")
	if plain == "dtype" { // an option of earlier versions
		advice := "leave it out"
		if slices.Contains(names, "standardize") {
			advice += message.Sprintf(", and use --standardize if a column needs more digits: it subtracts the mean " +
				"in float64 before it rounds")
		}
		return Usagef("unknown option %s: rows are float32, %s", typed, advice)
	}
	if plain == "proba" || plain == "probability" {
		return Usagef("unknown option %s: predict --proba writes probabilities", typed)
	}
	for _, n := range []string{name, plain} {
		option, _, _ := strings.Cut(strings.ReplaceAll(otherOptions[n], ",", " "), " ")
		switch {
		case slices.Contains(names, n):
			return Usagef("unknown option %s: use --%s", typed, n)
		case slices.Contains(names, option):
			return Usagef("unknown option %s: use --%s", typed, otherOptions[n])
		}
	}
	if slices.Contains(dataOptions, plain) && IsReader(cmd) {
		return Usagef("unknown option %s: name the data without an option, such as %s FILE", typed, cmd.Name())
	}
	if len(plain) == 1 {
		return Usagef("unknown option %s", typed)
	}
	if near := humanize.Nearest(plain, names); near != "" {
		return Usagef("unknown option %s: did you mean --%s?", typed, near)
	}
	return Usagef("unknown option %s", typed)
}

// DidYouMean returns the end of a sentence about an unknown name: the nearest known name. It returns "" if no known name
// is near.
func DidYouMean(name string, known []string) string {
	if near := humanize.Nearest(name, known); near != "" {
		return fmt.Sprintf(": did you mean %s?", near)
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
		if text := wantedValues[f.Value.Type()]; text != "" {
			return Usagef("--%s %s: %s", f.Name, invalid.GetValue(), text)
		}
		return Usagef("--%s %s: %w", f.Name, invalid.GetValue(), invalid.Unwrap())
	case errors.As(err, &missing):
		return Usagef("--%s needs a value", missing.GetSpecifiedName())
	}
	return Usagef("%w", err)
}

// wantedValues says which values a flag of a type takes.
var wantedValues = map[string]string{
	"int": "use a whole number", "int64": "use a whole number",
	"uint64": "use a whole number from 0 to 18446744073709551615", "float64": "use a number",
	"duration": "use a time with its unit, such as 50ms or 2s", "bool": "use true or false",
	"stringSlice": `put quotes around each item with a comma, such as "a,b",c`,
}
