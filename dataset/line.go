package dataset

import (
	"bytes"
	"context"
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
			return "", 0, false // it has gone by
		}
	}
	f, sources, err := openSources(ctx, paths, Options{})
	if err != nil || f != formatCSV && f != formatSvmlight {
		return "", 0, false
	}
	var files []csvFile
	if f == formatCSV {
		if files, _, err = dialects(sources, text.reader()); err != nil {
			return "", 0, false
		}
	}
	for i, s := range sources {
		for c, err := range chunksOf(s, f == formatCSV, chunkBytes, nil) {
			if err != nil || ctx.Err() != nil {
				return "", 0, false
			}
			rows := svmlightRows
			if f == formatCSV {
				rows = files[i].rowsOf
			}
			if line, row = rows(c, row); line > 0 {
				return s.path, line, true
			}
		}
	}
	return "", 0, false
}

// rowsOf goes past rows of a chunk. It returns the line in which the one begins that comes after so many, or 0 and how many are to come yet.
func (f *csvFile) rowsOf(c textChunk, after int64) (line, left int64) {
	s := scanner{text: c.text, line: c.line, comma: f.comma}
	if c.first && f.header {
		s.skipRecord()
	}
	for ; s.record(); after-- {
		if after == 0 {
			return s.line, 0
		}
		for s.more {
			if _, _, err := s.field(); err != nil {
				return 0, after
			}
		}
	}
	return 0, after
}

// svmlightRows does what rowsOf does.
func svmlightRows(c textChunk, after int64) (line, left int64) {
	n := c.line
	for line := range bytes.Lines(c.text) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if len(bytes.TrimSpace(line)) > 0 {
			if after == 0 {
				return n, 0
			}
			after--
		}
		n++
	}
	return 0, after
}
