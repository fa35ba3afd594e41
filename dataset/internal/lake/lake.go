// Package lake reads which files a version of a lake table has, which of their rows, and which columns. Delta and Iceberg tables are
// read by their logs, as their formats say. What isn't known here is an error: a table is read right or not at all.
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
		t, of, err := read(ctx, f.Pin)
		switch {
		case err != nil:
			return nil, err
		case len(of) == 0:
			return nil, fmt.Errorf("%s: %s of the table has no file, and so no rows: name another version", f.Path, t.Version)
		}
		s.Notes = append(s.Notes, fmt.Sprintf("%s: %s, %s", f.Pin.Folder, t.Version, humanize.Plural(int64(len(of)), "file")))
		all = append(all, of...)
	}
	if s.Files = all; len(s.Lakes()) > 0 {
		s.Constants = source.Constants{}
	}
	return s, s.CheckLakes()
}

// read returns a version of a table, and its files.
func read(ctx context.Context, pin *source.Pin) (t *source.LakeTable, all []*source.File, err error) {
	err = column.Recovered(func() error {
		t, all, err = readDelta(ctx, pin)
		return err
	})
	return t, all, err
}

// Table returns a version of a table, and its files.
func Table(ctx context.Context, pin *source.Pin) (*source.LakeTable, []*source.File, error) {
	return read(ctx, pin)
}
