package dataset

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	textfile "halfspace/dataset/internal/text"
)

// isDocument returns an error if a file with the first bytes head is a JSON document, which has several lines for a
// row, or one for all.
func isDocument(path string, head []byte) error {
	named := source.Extension(path) == ".json"
	rest := bytes.TrimLeft(head, " \t\r\n")
	within := bytes.TrimLeft(rest[min(1, len(rest)):], " \t\r\n")
	text := ""
	switch {
	case len(rest) == 0 || len(within) == 0:
	case rest[0] == '[' && (named || within[0] == '{' || within[0] == '['):
		text = "a JSON array: write its objects in lines of their own: " + inLines(path, "'.[]'")
	case rest[0] == '{' && (named || within[0] == '"' && bytes.ContainsAny(rest[:len(rest)-len(within)], "\r\n")):
		text = "a JSON object in several lines: write each object in a line of its own: " + inLines(path, ".")
	case named:
		text = "the name says JSON, but the content isn't: rename it"
	}
	if text == "" {
		return nil
	}
	return column.Mark(fmt.Errorf("%s: %s", path, text), ErrFormat)
}

// isTable returns an error if a file whose first bytes are head is a JSON object of columns or tables, in one line.
func isTable(path string, head []byte) error {
	if source.Extension(path) != ".json" || !textfile.IsTable(head) {
		return nil
	}
	return column.Mark(fmt.Errorf("%s: one JSON object whose fields are columns or tables: write an object for each row, "+
		"each in a line of its own; pandas does for columns: pandas.read_json(%q).to_json(%q, orient=\"records\", lines=True)",
		path, path, withoutExtension(path)+".jsonl"), ErrFormat)
}

// inLines returns the command that writes the JSON objects which a filter of jq yields in lines of their own.
func inLines(path, filter string) string {
	lines := column.ShellWord(withoutExtension(path) + ".jsonl")
	if shell := column.ShellWord(path); source.Extension(path) == filepath.Ext(strings.ToLower(path)) {
		return fmt.Sprintf("jq -c %s %s > %s", filter, shell, lines)
	}
	plain := column.ShellWord(strings.TrimSuffix(path, filepath.Ext(path)))
	return fmt.Sprintf("decompress it, then type: jq -c %s %s > %s", filter, plain, lines)
}

// withoutExtension returns a path without its extension, and without the extension of a compressed file.
func withoutExtension(path string) string {
	own := filepath.Ext(path)
	path = strings.TrimSuffix(path, own)
	if source.Extension(path+own) != strings.ToLower(own) {
		path = strings.TrimSuffix(path, filepath.Ext(path))
	}
	return path
}
