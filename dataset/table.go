package dataset

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/blob"
	"halfspace/schema"
)

// TableInfo describes the content of a CSV, svmlight or Arrow IPC file.
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
	Feature bool   `json:"feature"` // the column can be a feature
}

// IsParquet returns true if a file is to be read as Parquet.
func IsParquet(ctx context.Context, path string) (bool, error) {
	f, _, err := openSources(ctx, []string{path}, Options{})
	return f == formatParquet, err
}

// InspectTable reads a whole file that isn't Parquet, and describes its content. It uses Text, Workers, Memory and
// Warn of opt.
func InspectTable(ctx context.Context, path string, opt Options) (*TableInfo, error) {
	p, err := column.PoolOf(opt.Workers)
	if err != nil {
		return nil, err
	}
	f, _, err := openSources(ctx, []string{path}, Options{})
	if err != nil {
		return nil, err
	}
	in, err := openInput(ctx, []string{path}, Options{Spec: &schema.Spec{Bias: true}, Keep: []string{"*"}, shows: true, Text: opt.Text,
		Memory: opt.Memory, Warn: opt.Warn}, p)
	if err != nil {
		return nil, err
	}
	column.Within(in, opt.Memory, 0)
	info := &TableInfo{Path: path, Format: string(f)}
	if stat, err := blob.Stat(path); err == nil {
		info.Bytes = stat.Size()
	}
	if in, ok := in.Input.(*textfile.CSV); ok {
		info.Header = &in.Files[0].Header
		info.Comma = commaName(in.Files[0].Comma)
	}
	for _, c := range in.selection().Columns {
		_, feature := transform.ToInput(c, transform.Coding{})
		info.Columns = append(info.Columns, TableField{Name: c.Name, Type: column.Describe(c.Type), Feature: feature})
	}
	for b, err := range in.Batches(ctx, p, memory.DefaultAllocator) {
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
	opt.tell(in.sel.Notes())
	opt.tell(in.Notes())
	return info, nil
}

// commaName returns the name of a delimiter in Delimiters, or the delimiter itself.
func commaName(comma byte) string {
	for name, b := range Delimiters {
		if b == comma {
			return name
		}
	}
	return string(comma)
}
