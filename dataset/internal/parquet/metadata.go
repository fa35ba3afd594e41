package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/files"
)

// Metadata is the metadata of a Parquet file while the file is open.
type Metadata struct {
	path string
	Info os.FileInfo
	*Footer
	padded  bool            // chunk sizes don't include the header of the dictionary page (PARQUET-816)
	ids     []int32         // of the top-level columns; -1: none. TopColumns sets it
	removed *source.Removed // rows that are left out
}

// WithMetadata calls f with the metadata of a file. Arrow panics for some damaged schemas, in WithMetadata or in f.
// WithMetadata returns an error in both cases.
func WithMetadata(path string, f func(*Metadata) error) error { return withMetadata(path, -1, f) }

// withMetadata is WithMetadata for a file that must have size bytes; -1: any.
func withMetadata(path string, size int64, f func(*Metadata) error) error {
	// Stat comes before opening the file: opening a named pipe would wait for a writer.
	info, err := files.Stat(path)
	if err != nil {
		return column.PathError(path, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file: name a Parquet file", path)
	}
	if size >= 0 && info.Size() != size {
		return wrongSize{info.Size()}
	}
	src, err := source.Reopen(path, info)
	if err != nil {
		return column.PathError(path, err)
	}
	defer src.Close()
	if info, err = src.Stat(); err != nil {
		return column.PathError(path, err)
	}
	if err := checkMagic(src, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m := &Metadata{path: path, Info: info}
	err = column.Recovered(func() error {
		if m.Footer, err = ReadFooter(src, info.Size()); err != nil {
			return column.Damage(err)
		}
		m.padded = metadata.NewAppVersion(m.CreatedBy).LessThan(metadata.Parquet816FixedVersion)
		return f(m)
	})
	var file *FileError
	var bad column.Damaged
	switch {
	case errors.As(err, &file):
		return fmt.Errorf("%s: %w", path, column.ReadError(file))
	case errors.As(err, &bad):
		return fmt.Errorf("%s: the metadata can't be read (%w): write the file again", path, bad)
	}
	return err
}

// wrongSize is the error of withMetadata if a file has another size.
type wrongSize struct{ size int64 }

func (w wrongSize) Error() string { return fmt.Sprintf("%d bytes", w.size) }

// Leaves calls f with each leaf column, its number, and its top-level column. It passes only the schema to Arrow,
// after checking it, about a thousand columns at a time: Arrow trusts the sizes in a footer, and takes a kilobyte of
// memory for each column.
func (m *Metadata) Leaves(f func(i int, leaf *pschema.Column, root pschema.Node)) error {
	n := 0
	for footer, err := range m.Schemas() {
		if err != nil {
			return column.Damage(err)
		}
		meta, err := metadata.NewFileMetaData(footer, nil)
		if err != nil {
			return column.Damage(errors.New(column.OneLine(err.Error())))
		}
		for i := range meta.Schema.NumColumns() {
			f(n, meta.Schema.Column(i), meta.Schema.ColumnRoot(i))
			n++
		}
	}
	if n != m.Columns {
		return column.Damage(fmt.Errorf("%d of %d columns", n, m.Columns))
	}
	return nil
}

// checkMagic returns an error if a file isn't a Parquet file, or is a truncated Parquet file.
func checkMagic(src io.ReaderAt, size int64) error {
	var head, tail [4]byte
	_, err := src.ReadAt(head[:min(size, 4)], 0)
	if err == nil && size >= 12 {
		_, err = src.ReadAt(tail[:], size-4)
	}
	switch {
	case err != nil:
		return column.ReadError(err)
	case size == 0:
		return errors.New("the file is empty: write it again")
	case string(tail[:]) == "PARE":
		return errors.New("encrypted Parquet files can't be read: write it without encryption")
	case string(head[:]) != "PAR1":
		return errors.New("not a Parquet file, which begins with PAR1: convert it to Parquet")
	case string(tail[:]) != "PAR1":
		return column.Mark(errors.New("the file is truncated, since no footer ends it: copy or write it again"), column.ErrDamaged)
	}
	return nil
}

// TopColumns returns the top-level columns. A nested column has no Type, and so can't be read, unless it is lists of
// numbers or sparse lists. Nor has a column with a logical type that is unknown.
func (m *Metadata) TopColumns() (cols []column.Column, err error) {
	var last pschema.Node
	var form []leafForm // of the last column, if it may be sparse lists
	cols, m.ids = make([]column.Column, 0, m.Columns), nil
	err = m.Leaves(func(i int, leaf *pschema.Column, root pschema.Node) {
		if root != last {
			last = root
			var col column.Column
			col, form = topColumn(i, leaf, root)
			cols, m.ids = append(cols, col), append(m.ids, root.FieldID())
		}
		col := &cols[len(cols)-1]
		if name, is := m.Unknown[i]; is {
			col.Type, col.Parts, form = nil, nil, nil
			col.Desc = cmp.Or(name, col.Desc)
		}
		if form != nil {
			addPart(col, i, leaf, form)
		}
	})
	return cols, err
}

// topColumn returns a top-level column, whose first leaf column is leaf, and its form if it may be sparse lists.
func topColumn(i int, leaf *pschema.Column, root pschema.Node) (col column.Column, form []leafForm) {
	col = column.Column{Name: root.Name(), Index: i, Physical: int32(leaf.PhysicalType()), Width: leaf.TypeLength(),
		MaxDef: int(leaf.MaxDefinitionLevel())}
	switch {
	case root.Type() == pschema.Primitive && leaf.MaxRepetitionLevel() == 0:
		col.Type, col.Desc = arrowType(leaf)
		col.Nullable = leaf.MaxDefinitionLevel() > 0
	case isList(root):
		col.Type, col.Desc, col.ListDef = listType(root, leaf)
		col.Nullable = col.ListDef > 1
	default:
		col.Desc = nestedType(root)
		form = sparseForm(root)
	}
	return col, form
}

// nestedType returns the name, for messages, of the type of a column of lists, maps or structures.
func nestedType(n pschema.Node) string {
	switch lt := n.LogicalType().(type) {
	case pschema.ListLogicalType, pschema.MapLogicalType:
		return strings.ToLower(lt.String())
	}
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		return "list"
	}
	return "struct"
}

// Selected checks the metadata of the given columns and returns it. Row groups of which noMatch excludes each row are
// not read; noMatch may be nil.
func (m *Metadata) Selected(columns []column.Column, noMatch noRowMatches) (*File, error) {
	f := &File{path: m.path, Info: m.Info, removed: m.removed}
	columns, f.joints = leavesOf(columns)
	f.columns = columns
	index := make([]int, len(columns))
	for i, c := range columns {
		index[i] = c.Index
	}
	rows, number := int64(0), 0
	for meta, err := range m.Groups(index) {
		if err != nil {
			return nil, column.Damage(err)
		}
		group, err := m.rowGroup(number, meta, columns)
		if err != nil {
			return nil, err
		}
		group.first = rows
		rows += group.all
		if group.rows -= m.removed.Count(group.first, rows); group.rows > 0 {
			group.unread = noMatch != nil && unread(m.path, meta, columns, m.Ordered, noMatch)
			f.Groups = append(f.Groups, group)
		}
		number++
	}
	if rows != m.Rows {
		return nil, column.Damage(fmt.Errorf("%d rows, but %d in the row groups", m.Rows, rows))
	}
	return f, nil
}

func (m *Metadata) rowGroup(g int, meta *Group, columns []column.Column) (rowGroup, error) {
	group := rowGroup{number: g, all: meta.Rows, rows: meta.Rows}
	if group.rows < 0 {
		return group, column.Damage(fmt.Errorf("row group %d has %d rows", g, group.rows))
	}
	if group.rows > math.MaxInt32 {
		return group, column.ErrorIn(m.path, "row group %d has %d rows: write smaller row groups", g, group.rows)
	}
	if meta.Columns != m.Columns {
		return group, column.Damage(fmt.Errorf("row group %d has %d columns, but the schema %d", g, meta.Columns, m.Columns))
	}
	if group.rows > 0 {
		group.Chunks = make([]chunk, len(columns))
	}
	for i, c := range columns {
		if c.Index == column.Absent {
			continue
		}
		made, err := m.chunk(c, &meta.Chunks[i], group.rows)
		var bad column.Damaged
		if errors.As(err, &bad) {
			return group, column.Damage(fmt.Errorf("column %q, row group %d: %w", c.Name, g, bad.Reason))
		}
		if err != nil {
			return group, column.ErrorIn(m.path, "column %q, row group %d: %w", c.Name, g, err)
		}
		if group.rows > 0 {
			group.Chunks[i] = made
		}
	}
	return group, nil
}

// chunk checks the metadata of the chunk of a column in a row group.
func (m *Metadata) chunk(c column.Column, col *ColumnChunk, rows int64) (chunk, error) {
	made := chunk{offset: col.Data, Size: col.Stored, uncompressed: col.Uncompressed, values: col.Values, codec: int8(col.Codec)}
	if col.Dictionary > 0 && col.Dictionary < made.offset {
		made.offset = col.Dictionary
	}
	end := m.Info.Size() - 8 // offset of the footer's length
	switch {
	case col.Encrypted:
		return chunk{}, errors.New("encrypted columns can't be read: write the file without encryption")
	case col.File != "":
		return chunk{}, fmt.Errorf("its data is in another file, %q: write both as one", col.File)
	case !col.Codec.Readable():
		return chunk{}, fmt.Errorf("compression %s can't be read: write the file with snappy, zstd or gzip",
			compress.Compression(col.Codec))
	case rows == 0:
		return chunk{}, nil // there may be no data then
	case made.values < rows || made.values > rows && c.ListDef == 0:
		return chunk{}, column.Damage(fmt.Errorf("%d values for %d rows", made.values, rows))
	case made.offset < 4 || made.Size < 0 || made.offset > end || made.Size > end-made.offset:
		return chunk{}, column.Damage(fmt.Errorf("%d bytes of data from byte %d on, but the file has %d", made.Size, made.offset,
			m.Info.Size()))
	}
	if m.padded {
		made.Padding = int8(min(100, end-made.offset-made.Size))
		made.Size += int64(made.Padding)
	}
	return made, nil
}
