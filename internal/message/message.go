// Package message writes errors about options or rows in the notation of their reader.
//
// The reader is a Go program (NullValues), a user of the command (--null-values) or a user of the Python package
// (null_values).
package message

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Notation returns the name of an option for the reader, or "" if the reader lacks the option. A program that is no Go
// program for its user, such as the command, sets it before main.
var Notation = Field

// fields has the fields of options for which Field finds another name.
var fields = map[string]string{"class-weight": "Classes", "cv": "Folds", "type": "Types",
	"validation": "HoldOut"}

// Field returns the field of an option in Go, such as NullValues for null-values.
func Field(option string) string {
	if field := fields[option]; field != "" {
		return field
	}
	var field strings.Builder
	option, value, _ := strings.Cut(option, " ")
	for word := range strings.SplitSeq(option, "-") {
		field.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return strings.TrimSpace(field.String() + " " + value)
}

// Typed returns an option for the command line, such as --null-values.
func Typed(option string) string { return "--" + option }

// Python returns the function that finds an option's name in Python in names. If names is empty, every option is an
// argument, such as null_values.
func Python(names map[string]string) func(option string) string {
	return func(option string) string {
		if len(names) == 0 {
			return strings.ReplaceAll(option, "-", "_")
		}
		return names[option]
	}
}

// Option returns the name of an option in the notation of the reader.
func Option(name string) string { return Translate("--" + name) }

// Translate is Sprintf for a text without arguments that may have percent signs.
func Translate(text string) string { return written(marked(text)) }

// Sprintf is fmt.Sprintf for a format with options as the command names them, such as --l2, --%s or --algo %s. It
// writes them in the notation of the reader. Dashes in arguments name no option.
func Sprintf(format string, args ...any) string {
	if false {
		_ = fmt.Sprintf(format, args...) // lets go vet check the formats
	}
	return written(fmt.Sprintf(marked(format), args...))
}

// Errorf is fmt.Errorf for a format with options; see Sprintf.
func Errorf(format string, args ...any) error {
	if false {
		_ = fmt.Errorf(format, args...) // lets go vet check the formats
	}
	err := fmt.Errorf(marked(format), args...)
	return chain{written(err.Error()), []error{err}}
}

// A Constant is an error that is always the same. Its text names options as the format of Sprintf does.
type Constant string

func (c Constant) Error() string { return Translate(string(c)) }

var (
	dashes = regexp.MustCompile(`(^|[^-\w])--([a-zA-Z%])`)
	option = regexp.MustCompile(`\x00(algo [a-z][\w-]*|[a-zA-Z](?:-?\w+)*)`)
	advice = regexp.MustCompile(` \([^()\x00]*\x00[^()]*\)`)
)

// marked writes a NUL in place of the dashes before options.
func marked(format string) string { return dashes.ReplaceAllString(format, "$1\x00$2") }

// written writes the options behind NULs in the notation of the reader. It leaves out advice in parentheses that names
// an option that the reader lacks.
func written(text string) string {
	if !strings.Contains(text, "\x00") {
		return text
	}
	lacks := func(mark string) bool { return Notation(mark[1:]) == "" }
	text = advice.ReplaceAllStringFunc(text, func(text string) string {
		if slices.ContainsFunc(option.FindAllString(text, -1), lacks) {
			return ""
		}
		return text
	})
	return option.ReplaceAllStringFunc(text, func(mark string) string {
		return cmp.Or(Notation(mark[1:]), strings.ReplaceAll(mark[1:], "-", "_"))
	})
}
