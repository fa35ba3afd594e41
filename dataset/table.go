package dataset

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/source"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/files"
	"halfspace/schema"
)

// TableInfo describes the content of a CSV, JSON Lines, svmlight or Arrow IPC file.
type TableInfo struct {
	Path    string       `json:"path"`
	Format  string       `json:"format"`
	Bytes   int64        `json:"bytes"` // size of the file, compressed if it is
	Rows    int64        `json:"rows"`
	Header  *bool        `json:"header,omitempty"`    // for CSV: the first record has the names of the columns
	Comma   string       `json:"delimiter,omitempty"` // for CSV
	Columns []TableField `json:"columns"`
}

// TableField describes a column.
type TableField struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Nulls   int64  `json:"nulls"`
	Feature bool   `json:"feature"` // features can be made of the column: of numbers, dates, booleans, texts or lists of numbers
}

// Inspect describes a file: a Parquet file by its metadata, without reading data, and a file of another format by
// reading it. One of the results is nil. Inspect uses Text, Workers, Memory and Warn of opt.
func Inspect(ctx context.Context, path string, opt Options) (*FileInfo, *TableInfo, error) {
	t, err := examine(ctx, source.Of([]string{path}), opt, memory.DefaultAllocator)
	if err != nil {
		return nil, nil, err
	}
	if t.format == formatParquet {
		info, err := inspectParquet(path)
		return info, nil, err
	}
	info, err := t.inspect(ctx, path)
	return nil, info, err
}

// inspect describes a file that is no Parquet.
func (t *Table) inspect(ctx context.Context, path string) (*TableInfo, error) {
	in, err := t.read(ctx, plan.Draft{KeepsSparseLists: true, Plan: plan.Plan{Spec: &schema.Spec{Bias: true},
		Keep: []string{"*"}, NullWords: t.opt.Text.NullValues}})
	if err != nil {
		return nil, err
	}
	t.look(in)
	info := &TableInfo{Path: path, Format: string(t.format)}
	if stat, err := files.Stat(path); err == nil {
		info.Bytes = stat.Size()
	}
	if text := in.text(); text != nil && t.format == formatCSV {
		info.Header = &text.CsvFiles[0].Header
		info.Comma = commaName(text.CsvFiles[0].Comma)
	}
	for _, c := range in.bound.Columns {
		info.Columns = append(info.Columns, TableField{Name: c.Name, Type: column.Describe(c.Type), Feature: transform.CanBeFeature(c)})
	}
	for b, err := range in.Batches(ctx, t.pool, t.mem) {
		if err != nil {
			return nil, err
		}
		info.Rows += b.Rows
		err := column.Recovered(func() error {
			for k, a := range b.Columns {
				info.Columns[k].Nulls += int64(a.NullN()) // for damaged data, it may count nulls that don't exist
			}
			return nil
		})
		b.Release()
		if err != nil {
			return nil, column.ErrorIn(path, "the data is damaged (%w): write the file again", err)
		}
	}
	t.opt.tell(in.bound.Notes())
	t.opt.tell(in.Notes())
	return info, nil
}

// commaName returns the name of a delimiter in textfile.Delimiters, or the delimiter itself.
func commaName(comma byte) string {
	for name, b := range textfile.Delimiters {
		if b == comma {
			return name
		}
	}
	return string(comma)
}
