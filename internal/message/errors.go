package message

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// An OptionError is an error about an option, whatever the rows are.
type OptionError struct {
	Option string // name in the command, without dashes, such as null-values
	Value  string // as a user types it; "": the value doesn't matter
	Want   string // the values that the option takes, if Advice is ""
	Advice string // why the option can't be used, and the text to type instead
}

// WrongValue returns the error of an option that takes other values. It quotes a string.
func WrongValue(option string, value any, want string) *OptionError {
	text := fmt.Sprint(value)
	if reflect.ValueOf(value).Kind() == reflect.String {
		text = strconv.Quote(text)
	}
	return &OptionError{Option: option, Value: text, Want: want}
}

// Refusal returns the error of an option that can't be used. The format of Sprintf is the text behind the option and its
// value, which may be "".
func Refusal(option, value, format string, args ...any) *OptionError {
	return &OptionError{Option: option, Value: value, Advice: Sprintf(format, args...)}
}

func (e *OptionError) Error() string {
	name := Option(e.Option)
	switch {
	case e.Advice == "":
		return name + " is " + e.Value + ": use " + e.Want
	case e.Value != "":
		name += " " + e.Value
	}
	if strings.HasPrefix(e.Advice, ":") {
		return name + e.Advice
	}
	return name + " " + e.Advice
}

// Files has the names of files that the reader made and passed to the command. The reader sees no lines in these files.
var Files map[string]string

// A RowError is an error about a row, or about a line of a text file that is no row.
type RowError struct {
	File   string // "": unknown
	Row    int64  // number of the row in the data, from 0 on; -1: the line is no row
	Line   int64  // line in which the row begins, from 1 on; 0: unknown, or the file isn't text
	Column string // "": the error is about the whole row
	Err    error
}

func (e *RowError) Error() string {
	file, own := Files[e.File]
	var place []string
	if e.Column != "" {
		place = append(place, fmt.Sprintf("column %q", e.Column))
	}
	if e.Line > 0 && !own {
		place = append(place, fmt.Sprintf("line %d", e.Line))
	}
	if e.Row >= 0 {
		place = append(place, fmt.Sprintf("row %d", e.Row))
	} else if len(place) == 2 {
		place[0], place[1] = place[1], place[0]
	}
	text := strings.Join(place, ", ") + ": " + e.Err.Error()
	if e.File != "" {
		return cmp.Or(file, e.File) + ": " + text
	}
	return text
}

func (e *RowError) Unwrap() error { return e.Err }

// A chain is an error with a text of its own, and with other errors for errors.Is.
type chain struct {
	text string
	errs []error
}

func (c chain) Error() string { return c.text }

func (c chain) Unwrap() []error { return c.errs }

// Mark returns err as an error of a kind for errors.Is, with the same text. It returns nil if err is nil.
func Mark(err, kind error) error {
	if err == nil {
		return nil
	}
	return chain{err.Error(), []error{err, kind}}
}

// At returns an error about a row with the file and the line of the row. errors.As finds the *RowError with these first.
func At(err error, file string, line int64) error {
	row := (*RowError)(nil)
	if !errors.As(err, &row) {
		return err
	}
	at := *row
	at.File, at.Line = file, line
	return chain{strings.Replace(err.Error(), row.Error(), at.Error(), 1), []error{&at, err}}
}

// located is an error whose text begins with the name of a file.
type located struct{ error }

func (l located) Unwrap() error { return l.error }

// Located marks an error whose text begins with the name of a file. It returns nil if err is nil.
func Located(err error) error {
	if err == nil {
		return nil
	}
	return located{err}
}

// IsLocated returns true if the text of an error begins with the name of a file.
func IsLocated(err error) bool {
	row := (*RowError)(nil)
	return errors.As(err, new(located)) || errors.As(err, &row) && row.File != ""
}
