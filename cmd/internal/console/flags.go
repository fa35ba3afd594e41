package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"halfspace/internal/humanize"
)

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
		return Usagef("--%s %s: %w", invalid.GetFlag().Name, invalid.GetValue(), wanted(invalid))
	case errors.As(err, &missing):
		return Usagef("--%s needs a value", missing.GetSpecifiedName())
	}
	return Usagef("%w", err)
}

// wanted returns an error that says which values a flag takes.
func wanted(invalid *pflag.InvalidValueError) error {
	switch invalid.GetFlag().Value.Type() {
	case "int", "int64":
		return errors.New("use a whole number")
	case "uint64":
		return errors.New("use a whole number from 0 to 18446744073709551615")
	case "float64":
		return errors.New("use a number")
	case "duration":
		return errors.New("use a time with its unit, such as 50ms or 2s")
	case "bool":
		return errors.New("use true or false")
	case "stringSlice":
		return errors.New(`put quotes around each item with a comma, such as "a,b",c`)
	}
	return invalid.Unwrap()
}
