package column

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"halfspace/internal/files"
	"halfspace/internal/memory"
	"halfspace/internal/message"
)

// Errors that a program can test for with errors.Is. They are in the chain of an error, but not in its text.
var (
	ErrFormat  = errors.New("unsuitable format")
	ErrColumn  = errors.New("unsuitable column")
	ErrNulls   = errors.New("missing value")
	ErrDamaged = errors.New("damaged data")
	ErrMemory  = memory.ErrMemory
	ErrLine    = errors.New("broken line")
)

// Mark returns err as an error of a kind, with the same text. It returns nil if err is nil.
func Mark(err, kind error) error { return message.Mark(err, kind) }

// LineError returns the error that a line of a text file can't be read. err may be of InColumn.
func LineError(path string, line int64, err error) error {
	at := &message.RowError{File: path, Row: -1, Line: line, Err: err}
	if of := (*message.RowError)(nil); errors.As(err, &of) {
		at.Column, at.Err = of.Column, of.Err
	}
	return Mark(at, ErrLine)
}

// InColumn returns the error of a column in a line that is no row.
func InColumn(name string, err error) error {
	return &message.RowError{Row: -1, Column: name, Err: err}
}

// JoinErrors returns the errors that aren't nil as one error in one line, or nil.
func JoinErrors(errs ...error) (all error) {
	for _, err := range errs {
		switch {
		case all == nil:
			all = err
		case err != nil:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

// Damaged is the error that a file is damaged, from this program or from Arrow.
type Damaged struct{ Reason error }

func (d Damaged) Error() string { return d.Reason.Error() }

func (d Damaged) Is(kind error) bool { return kind == ErrDamaged }

func Damage(reason error) error { return Damaged{reason} }

// Recovered calls f and converts a panic to an error in one line. Errors of Arrow may have several lines.
func Recovered(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Damage(errors.New(OneLine(fmt.Sprint(r))))
		}
	}()
	return f()
}

// OneLine shortens an error text of Arrow about damaged data to at most 120 characters of one line. It removes
// runtime errors of the code, which don't help the owner of the file.
func OneLine(s string) string {
	before, _, found := strings.Cut(s, "runtime error: ")
	if s = strings.Join(strings.Fields(before), " "); found {
		s = strings.TrimPrefix(s+" its sizes are out of range", " ")
	}
	if r := []rune(s); len(r) > 120 {
		s = string(r[:120]) + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

// NoFile returns an error with the given text about files that don't exist. It wraps fs.ErrNotExist.
func NoFile(format string, args ...any) error {
	return Mark(fmt.Errorf(format, args...), fs.ErrNotExist)
}

// PathError returns an error in one line about a path that can't be opened.
func PathError(p string, err error) error {
	var of *files.StoreError
	switch {
	case errors.As(err, &of):
		return fmt.Errorf("%s: %w", p, of)
	case errors.Is(err, fs.ErrNotExist):
		return NoFile("%s: no such file: check the path", p)
	case errors.Is(err, fs.ErrPermission):
		return Mark(fmt.Errorf("%s: permission denied: check the file's mode", p), fs.ErrPermission)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w: check the path and the disk", p, err)
}

// ReadError returns the error of reading an open file, without the file's name.
func ReadError(err error) error {
	var of *files.StoreError
	if errors.As(err, &of) {
		return of
	}
	return fmt.Errorf("can't be read (%w): check the disk", err)
}

// ErrorIn returns an error that begins with the file name where, unless it is "". Its format may name options; see
// message.Sprintf.
func ErrorIn(where, format string, args ...any) error {
	err := message.Errorf(format, args...)
	if where != "" {
		err = message.Located(fmt.Errorf("%s: %w", where, err))
	}
	return err
}

// Unchanged returns an error if the file isn't the file that was seen, or has another size or modification time.
func Unchanged(path string, stat func() (os.FileInfo, error), seen os.FileInfo) error {
	now, err := stat()
	switch {
	case err != nil:
		return PathError(path, err)
	case !files.SameFile(now, seen):
		return fmt.Errorf("%s: the file changed while it was read: try again", path)
	}
	return nil
}
