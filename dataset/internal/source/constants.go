package source

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// Constants are the columns that the folders of files name, as Hive writes them: country=de/day=2026-01-31/part-0.parquet.
type Constants struct {
	Columns []column.Column
	texts   map[string][]string // for each path, the value of each column; Null is a null
}

// Null is the text of a null.
const Null = "__HIVE_DEFAULT_PARTITION__"

// ConstantsOf returns the columns that the folders of files name, or nil if they name none. A column that a file's folders don't
// name is null in the file.
func ConstantsOf(paths []string) *Constants {
	p := &Constants{texts: map[string][]string{}}
	named := map[string]map[string]string{}
	for _, path := range paths {
		named[path] = map[string]string{}
		for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
			name, text, is := strings.Cut(folder, "=")
			if name, text = unescaped(name), unescaped(text); !is || name == "" {
				continue
			}
			if !slices.ContainsFunc(p.Columns, func(c column.Column) bool { return c.Name == name }) {
				p.Columns = append(p.Columns, column.Column{Name: name, Nullable: true, Index: -1})
			}
			named[path][name] = text
		}
	}
	if len(p.Columns) == 0 {
		return nil
	}
	for k := range p.Columns {
		c := &p.Columns[k]
		var values []string
		for _, path := range paths {
			text, is := named[path][c.Name]
			if !is {
				text = Null
			}
			p.texts[path] = append(p.texts[path], text)
			if text != Null {
				values = append(values, text)
			}
		}
		c.Type = typeOfTexts(values)
		c.Desc = column.Describe(c.Type)
	}
	return p
}

func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// typeOfTexts returns the type of a partition's values: whole numbers, numbers, dates, or text.
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
	case all(func(text string) bool {
		c, err := schema.ParseNumber(text)
		return err == nil && (c.Text != "0" || text == "0") && !strings.HasPrefix(strings.TrimPrefix(text, "-"), "00")
	}):
		return arrow.PrimitiveTypes.Float64
	case all(func(text string) bool {
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	}):
		return arrow.PrimitiveTypes.Date32
	}
	return arrow.BinaryTypes.String
}

// Array returns the values of column k in rows rows of a file.
func (p *Constants) Array(k int, path string, rows int64) arrow.Array {
	text := p.texts[path][k]
	b := array.NewBuilder(memory.DefaultAllocator, p.Columns[k].Type)
	defer b.Release()
	b.Reserve(int(rows))
	for range rows {
		if text == Null {
			b.AppendNull()
		} else if b.AppendValueFromString(text) != nil { // typeOfTexts checked it
			b.AppendNull()
		}
	}
	return b.NewArray()
}
