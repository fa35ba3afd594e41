package dataset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	textfile "halfspace/dataset/internal/text"
)

// TextOptions say how files of text are written. By default the reader finds that out from the data.
type TextOptions struct {
	Header    string // of CSV: "yes" or "no", whether the first record names the columns; "" or "auto": find out
	Delimiter string // of CSV: a character, or a name in Delimiters; "": find out
	IndexBase string // of svmlight: "0" or "1", the first index of a feature; "" or "auto": 0 where that appears

	// NullValues are the texts or numbers of CSV that stand for a null. An empty field is one too, and so is a dash in a
	// column of numbers or booleans. Nil stands for those of the Spec's preprocessing, or else NA, N/A, NaN, null, None, \N
	// and ?.
	NullValues []string
}

// Delimiters are the names that TextOptions.Delimiter knows, and what they stand for. Space is any number of spaces and
// tabs.
var Delimiters = maps.Clone(textfile.Delimiters)

// Check tells what is wrong with the options.
func (o TextOptions) Check() error {
	if !slices.Contains([]string{"", "auto", "yes", "no"}, o.Header) {
		return fmt.Errorf("header is %q: use auto, yes or no", o.Header)
	}
	if !slices.Contains([]string{"", "auto", "0", "1"}, o.IndexBase) {
		return fmt.Errorf("index-base is %q: use auto, 0 or 1", o.IndexBase)
	}
	for _, w := range o.NullValues {
		if !utf8.ValidString(w) {
			return fmt.Errorf("null-values has %q: use UTF-8 text", w)
		}
	}
	_, err := textfile.Options{Delimiter: o.Delimiter}.Comma()
	return err
}

// UnusedByParquet returns notes about options that are set and don't apply to Parquet files.
func (o TextOptions) UnusedByParquet() []string { return o.unused(formatParquet) }

// unused returns notes about options that are set and don't apply to a format.
func (o TextOptions) unused(f format) (notes []string) {
	nulls := ""
	if o.NullValues != nil {
		nulls = "given"
	}
	for _, of := range []struct {
		name, value string
		format      format
	}{{"header", o.Header, formatCSV}, {"delimiter", o.Delimiter, formatCSV}, {"null-values", nulls, formatCSV}, {"index-base", o.IndexBase, formatSvmlight}} {
		if of.value != "" && of.value != "auto" && f != of.format {
			notes = append(notes, fmt.Sprintf("--%s is ignored: it is for %s, and the data is %s", of.name, of.format, f))
		}
	}
	return notes
}

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
