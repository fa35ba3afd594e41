// Package lake reads the logs of lake tables.
//
// The log of a Delta or Iceberg table says which files a version of the table has, which of their rows, and which columns. A table
// that needs anything unknown is an error: a table is read right or not at all.
package lake

import (
	"context"
	"fmt"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/humanize"
)

// List is source.List, with the files of lake tables in place of the versions that paths name.
func List(ctx context.Context, paths []string, rank source.Rank, choice source.Choice) (*source.Source, error) {
	s, err := source.List(ctx, paths, rank, choice)
	if err != nil {
		return nil, err
	}
	var all []*source.File
	for _, f := range s.Files {
		if f.Pin == nil {
			all = append(all, f)
			continue
		}
		t, of, notes, err := read(ctx, f.Pin)
		switch {
		case err != nil:
			return nil, err
		case len(of) == 0:
			return nil, fmt.Errorf("%s: the table has no rows (%s): name another version", f.Path, t.Version)
		}
		s.Notes = append(s.Notes, fmt.Sprintf("%s: %s, %s", f.Pin.Folder, t.Version, humanize.Plural(int64(len(of)), "file")))
		s.Notes = append(s.Notes, notes...)
		all = append(all, of...)
	}
	if s.Files = all; len(s.Lakes()) > 0 {
		s.Constants = source.Constants{}
	}
	return s, s.CheckLakes()
}

// read returns a version of a table, its files, and notes about them.
func read(ctx context.Context, pin *source.Pin) (t *source.LakeTable, all []*source.File, notes []string, err error) {
	err = column.Recovered(func() error {
		if pin.Kind == source.Iceberg {
			t, all, notes, err = readIceberg(ctx, pin)
		} else {
			t, all, err = readDelta(ctx, pin)
		}
		return err
	})
	return t, all, notes, err
}

// damaged returns an error of a log or a file that is damaged.
func damaged(format string, args ...any) error {
	return column.Mark(fmt.Errorf(format, args...), column.ErrDamaged)
}

// refused returns the error of a table that isn't read.
func refused(format string, args ...any) error {
	return column.Mark(fmt.Errorf(format, args...), column.ErrFormat)
}
