package source

import (
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
)

// Constants are the columns that the folders of files name, as Hive writes them:
// country=de/day=2026-01-31/part-0.parquet.
type Constants struct {
	Names []string
	Texts [][]string // for each file, the value of each column; Null is a null
}

// Null is the text of a null.
const Null = "__HIVE_DEFAULT_PARTITION__"

// ConstantsOf returns the columns that the folders of files name. A column that a file's folders don't name is null in
// the file.
func ConstantsOf(paths []string) (c Constants) {
	named := make([]map[string]string, len(paths))
	for i, path := range paths {
		named[i] = map[string]string{}
		for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
			name, text, is := strings.Cut(folder, "=")
			if name = unescaped(name); !is || name == "" {
				continue
			}
			if named[i][name] = unescaped(text); !slices.Contains(c.Names, name) {
				c.Names = append(c.Names, name)
			}
		}
	}
	if len(c.Names) == 0 {
		return c
	}
	for _, texts := range named {
		of := make([]string, len(c.Names))
		for k, name := range c.Names {
			text, is := texts[name]
			if of[k] = text; !is {
				of[k] = Null
			}
		}
		c.Texts = append(c.Texts, of)
	}
	return c
}

// Columns returns, for each file, the columns with their values. It returns nil if there are no columns.
func (c Constants) Columns() (files [][]column.Column) {
	cols := make([]column.Column, len(c.Names))
	for k, name := range c.Names {
		var values []string
		for _, texts := range c.Texts {
			if texts[k] != Null {
				values = append(values, texts[k])
			}
		}
		typ := typeOfTexts(values)
		cols[k] = column.Column{Name: name, Type: typ, Desc: column.Describe(typ), Nullable: true, Empty: len(values) == 0,
			Index: column.Absent}
	}
	for _, texts := range c.Texts {
		own := slices.Clone(cols)
		for k := range own {
			own[k].Constant = &column.Constant{Text: texts[k], Null: texts[k] == Null}
		}
		files = append(files, own)
	}
	return files
}

func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// decimal matches a number without zeros before it: 01001 is text.
var decimal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?$`) })

// typeOfTexts returns the type of a column with these values: whole numbers, numbers, dates, or text.
func typeOfTexts(values []string) arrow.DataType {
	all := func(is func(text string) bool) bool {
		return len(values) > 0 && !slices.ContainsFunc(values, func(text string) bool { return !is(text) })
	}
	switch {
	case all(func(text string) bool {
		v, err := strconv.ParseInt(text, 10, 64)
		return err == nil && strconv.FormatInt(v, 10) == text // 007 is text
	}):
		return arrow.PrimitiveTypes.Int64
	case all(decimal().MatchString):
		return arrow.PrimitiveTypes.Float64
	case all(func(text string) bool {
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	}):
		return arrow.PrimitiveTypes.Date32
	}
	return arrow.BinaryTypes.String
}
