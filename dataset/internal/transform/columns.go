package transform

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// A fileColumns is the columns of a file or of a record reader.
type fileColumns struct {
	where string // file name for messages; may be ""
	cols  []column.Column
	index map[string][]int // by name
	// hasPairs: rows name the features that aren't 0
	hasPairs bool
}

// NewFileColumns returns the columns of a file, or of a record reader if where is "".
func NewFileColumns(where string, cols []column.Column) *fileColumns {
	index := make(map[string][]int, len(cols))
	for i, c := range cols {
		index[c.Name] = append(index[c.Name], i)
	}
	return &fileColumns{where: where, cols: cols, index: index}
}

// lookUp returns the number of the column with the given name. It returns an error if no column or several columns
// have the name.
func (s *fileColumns) lookUp(name string) (int, error) {
	switch at := s.index[name]; len(at) {
	case 1:
		return at[0], nil
	case 0:
	default:
		return 0, s.errorf("%d columns are named %q: rename them", len(at), name)
	}
	hint := s.hint(name)
	if hint == "" {
		hint = s.comment()
	}
	return 0, s.errorf("no column %q%s (columns: %s)", name, hint, s.list(column.Column.Label))
}

// hint returns the question whether another column is meant by a name, or "".
func (s *fileColumns) hint(name string) string {
	names := make([]string, len(s.cols))
	for i, c := range s.cols {
		names[i] = c.Name
	}
	if near := humanize.Nearest(name, names); near != "" && !utf8.ValidString(near) {
		return fmt.Sprintf(": %q is not valid UTF-8: save the file as UTF-8, or convert it: iconv -f cp1252 -t utf-8", near)
	} else if near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ""
}

// comment returns the advice to delete the first line if the first column's name begins with #, otherwise "".
func (s *fileColumns) comment() string {
	if len(s.cols) > 0 && strings.HasPrefix(s.cols[0].Name, "#") {
		return ": delete the first line if it is a comment"
	}
	return ""
}

// matches returns the columns that match a name or a pattern of an option. It returns an error if no column matches.
func (s *fileColumns) matches(option, pattern string) ([]int, error) {
	if !s.isPattern(pattern) {
		i, err := s.lookUp(pattern)
		return []int{i}, err
	}
	var found []int
	for i, col := range s.cols {
		ok, err := path.Match(slashless(pattern), slashless(col.Name))
		if err != nil {
			return nil, s.errorf("%q is not a valid pattern: close every [ or put \\ before it in %s", pattern, option)
		}
		if ok {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return nil, s.errorf("no column matches %q: change it in %s (columns: %s)", pattern, option, s.list(column.Column.Label))
	}
	return found, nil
}

// isPattern returns true if p is a pattern. If a column has the name p, p isn't a pattern.
func (s *fileColumns) isPattern(p string) bool {
	return strings.ContainsAny(p, `*?[\`) && s.index[p] == nil
}

func (s *fileColumns) list(text func(column.Column) string) string { return column.List(s.cols, text) }

func (s *fileColumns) noFeature(c column.Column) error {
	what := "leave it out or convert it"
	if column.Textual(c.Type) {
		what = message.Sprintf("leave it out, or use --categorical onehot or hash:BITS")
	}
	if why := advice[c.Content]; why != "" {
		what = "it has " + why
	}
	return s.errorf("column %q is %s, and a feature is %s: %s", c.Name, c.Desc, column.FeatureTypes, what)
}

func (s *fileColumns) differs(c, first column.Column) error {
	where := first.File
	if where == "" {
		where = "the first file"
	}
	return s.errorf("column %q is %s, but %s in %s: convert one of them", c.Name, c.Desc, first.Desc, where)
}

func (s *fileColumns) errorf(format string, args ...any) error {
	return column.Mark(column.ErrorIn(s.where, format, args...), column.ErrColumn)
}

// slashless replaces slashes by another character, so that path.Match treats them as ordinary characters.
func slashless(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// leftOut lists the columns that were left out because they can't be features, with their types, grouped by the content
// of their text.
type leftOut struct {
	of    map[column.Content][]string
	texts bool // some column could be used as categories
}

// advice gives, for each content of text, the reason why it can't be a feature, and the remedy.
var advice = map[column.Content]string{
	column.Dates:  "dates written as text (to use them, write numbers, such as the days since a date, or the month)",
	column.Commas: "numbers with commas (write them with a decimal point alone, such as 1234.5)",
}

func (l *leftOut) add(c column.Column) {
	if l.of == nil {
		l.of = map[column.Content][]string{}
	}
	l.of[c.Content] = append(l.of[c.Content], fmt.Sprintf("%q (%s)", c.Name, c.Desc))
	l.texts = l.texts || column.Textual(c.Type) && c.Content == ""
}

func (l *leftOut) notes() (lines []string) {
	for _, content := range slices.Sorted(maps.Keys(l.of)) {
		why := advice[content]
		if content == "" {
			why = "a feature is " + column.FeatureTypes
			if l.texts {
				why += message.Sprintf(" (use --categorical onehot or hash:BITS for text)")
			}
		}
		lines = append(lines, humanize.Columns(l.of[content])+": left out, "+why)
	}
	return lines
}
