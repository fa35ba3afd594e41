package dataset

import (
	"context"
	"slices"
	"unicode/utf8"

	"halfspace/dataset/internal/column"
	textfile "halfspace/dataset/internal/text"
	"halfspace/internal/message"
)

// TextOptions describe the form of text files. By default, the reader detects it from the data.
type TextOptions struct {
	Header    string // for CSV: "yes" or "no", whether the first record has the column names; "" or "auto": detect
	Delimiter string // for CSV: a character, or "comma", "tab", "semicolon", "pipe" or "space" (any number of spaces and tabs); "": detect
	IndexBase string // for svmlight: "0" or "1", the first index; "" or "auto": 0 if the index 0 occurs, otherwise 1

	// NullValues are the texts or numbers of CSV or JSON Lines files that mean a null. An empty field without quotes is always a
	// null, and a dash is a null in a column of numbers or booleans. If NullValues is nil, the texts of the Spec's
	// preprocessing are used, or NA, N/A, NaN, null, None, \N and ? if it has none.
	NullValues []string
}

// Rejects are the lines of text files that are left out because they can't be read.
type Rejects = column.Rejects

// NewRejects returns the rejects of no file. Reading a file with Options.Rejects writes its rejects to path, as CSV with the columns
// file, line, reason and text, behind the rejects of the files that were read before.
func NewRejects(path string) *Rejects { return column.NewRejects(path) }

// Check returns an error if the options are invalid.
func (o TextOptions) Check() error {
	if !slices.Contains([]string{"", "auto", "yes", "no"}, o.Header) {
		return message.WrongValue("header", o.Header, "auto, yes or no")
	}
	if !slices.Contains([]string{"", "auto", "0", "1"}, o.IndexBase) {
		return message.WrongValue("index-base", o.IndexBase, "auto, 0 or 1")
	}
	for _, w := range o.NullValues {
		if !utf8.ValidString(w) {
			return message.Errorf("--null-values has %q: use UTF-8 text", w)
		}
	}
	_, err := textfile.Options{Delimiter: o.Delimiter}.Comma()
	return err
}

// unused returns notes about options for text that are set but don't apply to a format.
func (opt fileOptions) unused(f format) (notes []string) {
	if opt.Rejects != nil && !f.isText() {
		notes = append(notes, message.Sprintf("--rejects is ignored: it is for text, and the data is %s", f))
	}
	nulls, o := "", opt.Text
	if o.NullValues != nil {
		nulls = "given"
	}
	for _, of := range []struct {
		name, value string
		format      format
	}{{"header", o.Header, formatCSV}, {"delimiter", o.Delimiter, formatCSV}, {"null-values", nulls, formatCSV},
		{"index-base", o.IndexBase, formatSvmlight}} {
		if of.value != "" && of.value != "auto" && f != of.format && (of.name != "null-values" || f != formatJSON) {
			notes = append(notes, message.Sprintf("%s is ignored: it is for %s, and the data is %s", message.Option(of.name), of.format, f))
		}
	}
	return notes
}

// line returns the text file and the line in which a row begins. Lines are numbered from 1 in each file, and rows
// from 0 over all files. ok is false if the files aren't text or can't be read again.
func (opt Options) line(ctx context.Context, paths []string, row int64) (path string, line int64, ok bool) {
	if slices.Contains(paths, "-") {
		return "", 0, false // standard input can't be read again
	}
	opt.Warn = nil
	t, err := Examine(ctx, paths, opt)
	if err != nil || !t.format.isText() {
		return "", 0, false
	}
	var files []textfile.CsvFile
	if t.format == formatCSV {
		d, _ := draftOf(opt) // an error was reported before
		if files, _, err = textfile.Dialects(ctx, t.source.Files, t.textReader(&d.Plan)); err != nil {
			return "", 0, false
		}
	}
	for i, s := range t.source.Files {
		at, lines := textfile.Breaks{}, textfile.SvmlightLines
		switch t.format {
		case formatCSV:
			at, lines = files[i].Breaks(), files[i].Lines
		case formatJSON:
			lines = textfile.JSONLines
		}
		for c, err := range textfile.ChunksOf(s, at, textfile.ChunkBytes, nil) {
			if err != nil || ctx.Err() != nil {
				return "", 0, false
			}
			rows := lines(c)
			if row < int64(len(rows)) {
				return s.Path, rows[row], true
			}
			row -= int64(len(rows))
		}
	}
	return "", 0, false
}
