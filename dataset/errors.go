package dataset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// RowError is an error about a row, or about a line of a text file that is no row. Its fields are File, "" if it is
// unknown; Row, the number of the row in the data from 0 on, or -1 if the line is no row; Line, in which the row begins,
// from 1 on, or 0 if it is unknown or the file isn't text; Column, "" if the error is about the whole row; and Err.
// Errors of this package have it in their chain: get it by errors.As.
type RowError = message.RowError

// OptionError is an error about an option, whatever the files are. Its fields are Option, the name in the command, such
// as null-values; Value, as a user types it; Want, the values that the option takes; and Advice, if the option can't be
// used at all. Get it by errors.As.
type OptionError = message.OptionError

// Errors that a program may want to act on. Errors of this package wrap them: test with errors.Is.
var (
	// ErrFormat: the files have an unknown format, or several formats.
	ErrFormat = column.ErrFormat
	// ErrLine: a line of a text file can't be read.
	ErrLine = column.ErrLine
	// ErrColumn: a column is absent, or its type doesn't suit its use.
	ErrColumn = column.ErrColumn
	// ErrNulls: a value is missing, and Options.Nulls doesn't say how to treat it.
	ErrNulls = column.ErrNulls
	// ErrDamaged: a file is damaged or truncated.
	ErrDamaged = column.ErrDamaged
	// ErrMemory: reading takes more memory than Options.Memory allows, or than is available.
	ErrMemory = column.ErrMemory
)

// Complete returns an error of reading files, or of learning from their rows, with the results of further passes over
// the files: the file and the line of a *RowError, all broken lines, or all columns with missing values. The options are
// those that the files were read with. The error stays as it is if the files can't be read again.
func (opt Options) Complete(ctx context.Context, paths []string, err error) error {
	if err == nil || ctx.Err() != nil || slices.Contains(paths, "-") {
		return err
	}
	if errors.Is(err, ErrLine) && opt.Rejects == nil {
		return opt.allBroken(ctx, paths, err)
	}
	row := (*RowError)(nil)
	if !errors.As(err, &row) {
		return err
	}
	if row.Line == 0 {
		if path, line, ok := opt.lineOf(ctx, paths, row); ok {
			err = message.At(err, path, line)
		}
	}
	if errors.Is(err, ErrNulls) && !opt.Prepare && opt.Spec == nil && (opt.Nulls == "" || opt.Nulls == schema.NullsError) {
		return opt.allGaps(ctx, paths, row.Column, err)
	}
	return err
}

// lineOf returns the file and the line of a row. A learner's error has no file, and numbers the kept rows.
func (opt Options) lineOf(ctx context.Context, paths []string, row *RowError) (path string, line int64, ok bool) {
	if row.File != "" {
		return opt.line(ctx, paths, row.Row)
	}
	if opt.Rejects != nil && opt.Rejects.Path() != "" {
		return "", 0, false
	}
	kept, err := opt.Values(ctx, paths, nil, []int64{row.Row})
	if at, known := kept[row.Row]; err == nil && known {
		return opt.line(ctx, []string{at.File}, at.Row)
	}
	return "", 0, false
}

// allBroken returns the error of the first broken line, with the numbers of a few others.
func (opt Options) allBroken(ctx context.Context, paths []string, err error) error {
	all := Options{Text: opt.Text, Exclude: opt.Exclude, Spec: &schema.Spec{Bias: true}, Workers: opt.Workers,
		Memory: opt.Memory, Rejects: column.NewRejects("")}
	t, bad := Examine(ctx, paths, all)
	if bad == nil {
		_, bad = t.read(ctx, plan.Draft{Plan: plan.Plan{Spec: all.Spec, NullWords: opt.Text.NullValues}, Exclude: opt.Exclude,
			ExcludesFromKeep: true})
	}
	n, first := all.Rejects.Counted()
	if bad != nil || n == 0 {
		return err
	}
	err = column.LineError(first[0].File, first[0].First, first[0].Err)
	rejects := "bad.csv"
	for slices.ContainsFunc(paths, func(path string) bool { return filepath.Base(path) == rejects }) {
		rejects = "other-" + rejects
	}
	if n == 1 {
		return message.Errorf("%w (--rejects %s leaves it out and goes on)", err, rejects)
	}
	var others []string
	for _, r := range first[1:] {
		line := fmt.Sprint(r.First)
		if r.File != first[0].File {
			line = r.File + ": " + line
		}
		others = append(others, line)
	}
	if n > int64(len(first)) {
		others = append(others, "and so on")
	}
	return message.Errorf("%w; %s can't be read either (%s) (--rejects %s leaves them out and goes on)", err,
		humanize.Plural(n-1, "more line"), strings.Join(others, ", "), rejects)
}

// allGaps adds to err, which is about a missing value in a column, the other columns with missing values.
func (opt Options) allGaps(ctx context.Context, paths []string, of string, err error) error {
	all := Options{Text: opt.Text, Exclude: opt.Exclude, Features: opt.Features, Label: opt.Label, Workers: opt.Workers,
		Memory: opt.Memory}
	t, bad := Examine(ctx, paths, all)
	if bad != nil {
		return err
	}
	p, bad := t.Profile(ctx, all)
	if bad != nil {
		return err
	}
	var others []string
	label := true // err is about the label
	for _, c := range p.Columns {
		if label = label && c.Name != of; c.Missing > 0 && c.Name != of && !strings.Contains(c.Type, "string") {
			others = append(others, fmt.Sprintf("%q (%d)", c.Name, c.Missing))
		}
	}
	if p.Unlabelled > 0 && !label {
		others = append(others, fmt.Sprintf("the label %q (%d)", opt.Label, p.Unlabelled))
	}
	if len(others) == 0 {
		return err
	}
	const most = 10
	return message.Errorf("%w; missing values are also in %s: --prepare auto handles all of them, --nulls drop leaves "+
		"their rows out", err, strings.Join(others[:min(len(others), most)], ", "))
}
