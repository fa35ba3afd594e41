package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"

	"halfspace/dataset/internal/column"
	parquetfile "halfspace/dataset/internal/parquet"
	"halfspace/dataset/internal/transform"
)

// FileInfo is the content of the metadata of a Parquet file.
type FileInfo struct {
	Path      string         `json:"path"`
	Bytes     int64          `json:"bytes"`
	Rows      int64          `json:"rows"`
	CreatedBy string         `json:"created_by"`
	RowGroups []RowGroupInfo `json:"row_groups"`
	Columns   []ColumnInfo   `json:"columns"`
	Metadata  []KeyValue     `json:"metadata"`

	total RowGroupInfo // of all row groups
}

// RowGroupInfo is the size of a row group, in rows and in bytes of column data.
type RowGroupInfo struct {
	Rows         int64 `json:"rows"`
	Compressed   int64 `json:"compressed_bytes"`
	Uncompressed int64 `json:"uncompressed_bytes"`
}

// ColumnInfo describes a leaf column. Each leaf column of a nested column is listed separately, with dots in its
// name.
type ColumnInfo struct {
	Name         string   `json:"name"`
	Physical     string   `json:"physical_type"`
	Logical      string   `json:"logical_type,omitempty"`
	Repetition   string   `json:"repetition"` // required, optional or repeated
	Codecs       []string `json:"codecs"`
	Encodings    []string `json:"encodings"` // of values and levels
	Compressed   int64    `json:"compressed_bytes"`
	Uncompressed int64    `json:"uncompressed_bytes"`
	Nulls        int64    `json:"nulls"`   // -1 if the statistics don't include it
	Feature      bool     `json:"feature"` // features can be made of the column: of numbers, dates, booleans, texts or lists of numbers
}

// KeyValue is an entry of the key-value metadata.
type KeyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// maxTexts is the largest number of bytes of key-value metadata that inspectParquet accepts.
const maxTexts = 64 << 20

// inspectParquet returns the content of the metadata of a Parquet file. It reads no data.
func inspectParquet(path string) (*FileInfo, error) {
	if path == "-" {
		return nil, errStandardInput(formatParquet)
	}
	var info *FileInfo
	err := parquetfile.WithMetadata(path, func(m *parquetfile.Metadata) error {
		info = &FileInfo{Path: path, Bytes: m.Info.Size(), Rows: m.Rows, CreatedBy: m.CreatedBy,
			RowGroups: []RowGroupInfo{}, Columns: make([]ColumnInfo, m.Columns), Metadata: []KeyValue{}}
		columns, err := m.TopColumns()
		if err != nil {
			return err
		}
		features := map[int]bool{}
		for _, c := range columns {
			features[c.Index] = transform.CanBeFeature(c)
			for _, p := range c.Parts {
				features[p.Index] = features[c.Index]
			}
		}
		err = m.Leaves(func(i int, c *pschema.Column, root pschema.Node) {
			info.Columns[i] = columnInfo(c, features[i])
			if name := m.Unknown[i]; name != "" && root.Type() == pschema.Primitive {
				info.Columns[i].Logical = name
			}
		})
		if err != nil {
			return err
		}
		all := make([]int, m.Columns)
		for i := range all {
			all[i] = i
		}
		for group, err := range m.Groups(all) {
			if err == nil {
				err = info.add(group)
			}
			if err != nil {
				return column.Damage(err)
			}
		}
		if info.total.Rows != info.Rows {
			return column.Damage(fmt.Errorf("%d rows, but %d in the row groups", info.Rows, info.total.Rows))
		}
		for text, err := range m.Texts(maxTexts) {
			if err != nil {
				return column.Damage(err)
			}
			info.Metadata = append(info.Metadata, KeyValue{text[0], text[1]})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

func columnInfo(c *pschema.Column, feature bool) ColumnInfo {
	info := ColumnInfo{Name: c.Path(), Physical: c.PhysicalType().String(), Repetition: "required", Codecs: []string{},
		Encodings: []string{}, Feature: feature}
	if c.PhysicalType() == parquet.Types.FixedLenByteArray {
		info.Physical = fmt.Sprintf("%s(%d)", info.Physical, c.TypeLength())
	}
	if lt := c.LogicalType(); lt != nil && !lt.IsNone() {
		info.Logical = lt.String()
	}
	switch {
	case c.MaxRepetitionLevel() > 0:
		info.Repetition = "repeated"
	case c.MaxDefinitionLevel() > 0:
		info.Repetition = "optional"
	}
	return info
}

func (info *FileInfo) add(group *parquetfile.Group) error {
	if group.Columns != len(info.Columns) {
		return fmt.Errorf("a row group has %d columns, but the schema %d", group.Columns, len(info.Columns))
	}
	if group.Rows < 0 {
		return fmt.Errorf("row group %d has %d rows", len(info.RowGroups), group.Rows)
	}
	sum, total := RowGroupInfo{Rows: group.Rows}, &info.total
	if total.Rows += group.Rows; total.Rows < 0 {
		return fmt.Errorf("the row groups up to %d have more than 2^63 rows", len(info.RowGroups))
	}
	for i := range info.Columns {
		chunk, c := &group.Chunks[i], &info.Columns[i]
		if chunk.Stored > info.Bytes || chunk.Values >= 0 && c.Repetition != "repeated" && chunk.Values != group.Rows {
			return fmt.Errorf("column %q, row group %d: %d values in %d bytes, but %d rows in a file of %d bytes",
				c.Name, len(info.RowGroups), chunk.Values, chunk.Stored, group.Rows, info.Bytes)
		}
		stored, uncompressed := max(0, chunk.Stored), max(0, chunk.Uncompressed)
		total.Compressed, total.Uncompressed = total.Compressed+stored, total.Uncompressed+uncompressed
		if min(total.Compressed, total.Uncompressed) < 0 {
			return fmt.Errorf("column %q, row group %d: the data up to here has more than 2^63 bytes", c.Name, len(info.RowGroups))
		}
		sum.Compressed, sum.Uncompressed = sum.Compressed+stored, sum.Uncompressed+uncompressed
		c.Compressed, c.Uncompressed = c.Compressed+stored, c.Uncompressed+uncompressed
		c.Codecs = addName(c.Codecs, strings.ToLower(compress.Compression(chunk.Codec).String()))
		for _, e := range chunk.Encodings {
			c.Encodings = addName(c.Encodings, parquet.Encoding(e).String())
		}
		if chunk.Nulls < 0 || chunk.Nulls > chunk.Values || c.Nulls < 0 || c.Nulls > math.MaxInt64-chunk.Nulls {
			c.Nulls = -1
		} else {
			c.Nulls += chunk.Nulls
		}
	}
	info.RowGroups = append(info.RowGroups, sum)
	return nil
}

func addName(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
