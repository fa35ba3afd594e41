package dataset

import (
	"context"

	textfile "halfspace/dataset/internal/text"
)

// Line returns the text file and the line in which a row begins. Lines are numbered from 1, and rows from 0 over all files.
// Ok is false if the files aren't text or can't be read again.
func Line(ctx context.Context, paths []string, text TextOptions, row int64) (path string, line int64, ok bool) {
	paths, err := Expand(paths)
	if err != nil {
		return "", 0, false
	}
	for _, p := range paths {
		if p == "-" {
			return "", 0, false // it can't be read again
		}
	}
	f, sources, err := openSources(ctx, paths, Options{})
	if err != nil || f != formatCSV && f != formatSvmlight {
		return "", 0, false
	}
	var files []textfile.CsvFile
	if f == formatCSV {
		if files, _, err = textfile.Dialects(ctx, sources, text.reader()); err != nil {
			return "", 0, false
		}
	}
	for i, s := range sources {
		for c, err := range textfile.ChunksOf(s, f == formatCSV, textfile.ChunkBytes, nil) {
			if err != nil || ctx.Err() != nil {
				return "", 0, false
			}
			rows := textfile.SvmlightRows
			if f == formatCSV {
				rows = files[i].RowsOf
			}
			if line, row = rows(c, row); line > 0 {
				return s.Path, line, true
			}
		}
	}
	return "", 0, false
}
