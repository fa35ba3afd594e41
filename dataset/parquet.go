package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"
	"golang.org/x/sync/errgroup"
)

// parquetInput is the selected columns of Parquet files, found and checked, but not read.
type parquetInput struct {
	files []*parquetFile
	sel   *selection
	rows  int64
}

// A parquetFile is what is needed of a file's metadata to read the selected columns. The file itself isn't kept open:
// there may be more files than a process can have open.
type parquetFile struct {
	path    string
	info    os.FileInfo
	columns []leaf
	groups  []rowGroup
}

// A leaf is a selected column of a file.
type leaf struct {
	column
	descr *pschema.Column
}

// A rowGroup is the selected column chunks of a row group.
type rowGroup struct {
	rows   int64
	chunks []chunk
}

// A chunk is where the values of a column in a row group are, all of it checked against the file.
type chunk struct {
	offset, size int64 // in bytes, in the file
	uncompressed int64 // in bytes, as the metadata claims
	rows         int64 // nulls included
	codec        compress.Compression
}

// openParquet reads the metadata of all files and resolves the columns that opt asks for.
func openParquet(ctx context.Context, paths []string, opt Options, p pool) (*parquetInput, error) {
	paths, err := Expand(paths)
	if err != nil {
		return nil, err
	}
	in := &parquetInput{files: make([]*parquetFile, len(paths))}
	err = withMetadata(paths[0], func(m *fileMetadata) error {
		if in.sel, err = choose(newSchema(paths[0], m.columns()), opt); err != nil {
			return err
		}
		in.files[0], err = m.selected(in.sel.columns)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = p.each(ctx, len(paths)-1, func(i int) error {
		return withMetadata(paths[i+1], func(m *fileMetadata) error {
			columns, err := in.sel.bind(newSchema(m.path, m.columns()))
			if err == nil {
				in.files[i+1], err = m.selected(columns)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	for _, f := range in.files {
		for k, c := range f.columns {
			in.sel.columns[k].nullable = in.sel.columns[k].nullable || c.nullable
		}
		for _, g := range f.groups {
			in.rows += g.rows
		}
	}
	return in, nil
}

// name names the input in messages about all of it.
func (in *parquetInput) name() string {
	if len(in.files) == 1 {
		return in.files[0].path
	}
	return fmt.Sprintf("%s and %d more", in.files[0].path, len(in.files)-1)
}

// A future is a row group that is being decoded.
type future struct {
	done  chan struct{}
	batch *batch
	err   error
}

// batches decodes the row groups and yields them in order, after an error nothing more. It decodes so many ahead that
// no worker idles, at most one for each. The batch is the caller's to release.
func (in *parquetInput) batches(ctx context.Context, p pool, mem memory.Allocator) iter.Seq2[*batch, error] {
	ahead := min(cap(p), 1+2*cap(p)/max(1, len(in.sel.columns)))
	return func(yield func(*batch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running errgroup.Group
		var queue []*future
		defer func() {
			cancel()
			running.Wait()
			for _, f := range queue {
				f.batch.release()
			}
		}()
		next, stop := iter.Pull2(in.groups())
		defer stop()
		start := func() {
			if file, g, ok := next(); ok {
				f := &future{done: make(chan struct{})}
				queue = append(queue, f)
				running.Go(func() error {
					defer close(f.done)
					f.batch, f.err = file.decode(ctx, g, p, mem)
					return nil
				})
			}
		}
		for range ahead {
			start()
		}
		for len(queue) > 0 {
			f := queue[0]
			<-f.done
			queue = queue[1:]
			start()
			if !yield(f.batch, f.err) || f.err != nil {
				return
			}
		}
	}
}

// groups yields every row group that has rows, as its file and its number there.
func (in *parquetInput) groups() iter.Seq2[*parquetFile, int] {
	return func(yield func(*parquetFile, int) bool) {
		for _, f := range in.files {
			for g := range f.groups {
				if f.groups[g].rows > 0 && !yield(f, g) {
					return
				}
			}
		}
	}
}

// decode reads the selected columns of row group g.
func (f *parquetFile) decode(ctx context.Context, g int, p pool, mem memory.Allocator) (*batch, error) {
	src, err := os.Open(f.path)
	if err != nil {
		return nil, pathError(f.path, err)
	}
	defer src.Close()
	if info, err := src.Stat(); err != nil || info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime()) {
		return nil, fmt.Errorf("%s: the file changed while it was read: try again", f.path)
	}
	b := &batch{file: f.path, rows: f.groups[g].rows, columns: make([]arrow.Array, len(f.columns))}
	err = p.each(ctx, len(f.columns), func(i int) error {
		var err error
		b.columns[i], err = decode(ctx, src, f.columns[i], f.groups[g].chunks[i], mem)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s: column %q, row group %d: %w", f.path, f.columns[i].name, g, err)
		}
		return err
	})
	if err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// fileMetadata is the metadata of a Parquet file while it is open.
type fileMetadata struct {
	path string
	info os.FileInfo
	*metadata.FileMetaData
}

// withMetadata calls f with the metadata of a file. Arrow panics at some damaged metadata, here or when it is looked
// at in f: that too ends as an error.
func withMetadata(path string, f func(*fileMetadata) error) error {
	// Looked at before it is opened: a named pipe would wait for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return pathError(path, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file: name a Parquet file", path)
	}
	src, err := os.Open(path)
	if err != nil {
		return pathError(path, err)
	}
	defer src.Close()
	if info, err = src.Stat(); err != nil {
		return pathError(path, err)
	}
	if err := checkMagic(src, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var meta *metadata.FileMetaData
	err = recovered(func() error {
		r, err := file.NewParquetReader(src)
		if err != nil {
			return damaged{errors.New(oneLine(err.Error()))}
		}
		meta = r.MetaData()
		return nil
	})
	if err == nil {
		err = recovered(func() error { return f(&fileMetadata{path, info, meta}) })
	}
	var bad damaged
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: the metadata can't be read (%w): write the file again", path, bad)
	}
	return err
}

// damaged is what Arrow found wrong with a file.
type damaged struct{ error }

// checkMagic tells a truncated Parquet file from one that is none.
func checkMagic(src io.ReaderAt, size int64) error {
	var head, tail [4]byte
	_, err := src.ReadAt(head[:min(size, 4)], 0)
	if err == nil && size >= 12 {
		_, err = src.ReadAt(tail[:], size-4)
	}
	switch {
	case err != nil:
		return fmt.Errorf("can't be read (%w)", err)
	case size == 0:
		return errors.New("the file is empty: write it again")
	case string(tail[:]) == "PARE":
		return errors.New("encrypted Parquet files can't be read: write it without encryption")
	case string(head[:]) != "PAR1":
		return errors.New("not a Parquet file, which begins with PAR1: convert it to Parquet")
	case string(tail[:]) != "PAR1":
		return errors.New("the file is truncated, since no footer ends it: copy or write it again")
	}
	return nil
}

// columns returns the top-level columns. Nested ones have no type to be read into.
func (m *fileMetadata) columns() []column {
	var cols []column
	for i := range m.Schema.NumColumns() {
		leaf := m.Schema.Column(i)
		root := m.Schema.ColumnRoot(i)
		if len(cols) > 0 && root == m.Schema.ColumnRoot(i-1) {
			continue
		}
		col := column{name: root.Name(), index: i}
		if root.Type() == pschema.Primitive && leaf.MaxRepetitionLevel() == 0 {
			col.typ, col.desc = arrowType(leaf)
			col.nullable = leaf.MaxDefinitionLevel() > 0
		} else {
			col.desc = nestedType(root)
		}
		cols = append(cols, col)
	}
	return cols
}

// nestedType describes a column of lists, maps or structures.
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

// selected checks what the metadata says about columns and returns it.
func (m *fileMetadata) selected(columns []column) (*parquetFile, error) {
	f := &parquetFile{path: m.path, info: m.info, columns: make([]leaf, len(columns))}
	for i, c := range columns {
		f.columns[i] = leaf{c, m.Schema.Column(c.index)}
	}
	rows := int64(0)
	for g := range m.GetRowGroups() {
		group, err := m.rowGroup(g, columns)
		if err != nil {
			return nil, err
		}
		rows += group.rows
		f.groups = append(f.groups, group)
	}
	if rows != m.GetNumRows() {
		return nil, damaged{fmt.Errorf("%d rows, but %d in the row groups", m.GetNumRows(), rows)}
	}
	return f, nil
}

func (m *fileMetadata) rowGroup(g int, columns []column) (rowGroup, error) {
	meta := m.RowGroup(g)
	group := rowGroup{rows: meta.NumRows(), chunks: make([]chunk, len(columns))}
	if group.rows < 0 {
		return group, damaged{fmt.Errorf("row group %d has %d rows", g, group.rows)}
	}
	if group.rows > math.MaxInt32 {
		return group, errorIn(m.path, "row group %d has %d rows: write smaller row groups", g, group.rows)
	}
	if meta.NumColumns() != m.Schema.NumColumns() {
		return group, damaged{fmt.Errorf("row group %d has %d columns, but the schema %d", g, meta.NumColumns(),
			m.Schema.NumColumns())}
	}
	for i, c := range columns {
		col, err := meta.ColumnChunk(c.index)
		if err != nil {
			return group, damaged{err}
		}
		group.chunks[i], err = m.chunk(col, group.rows)
		var bad damaged
		if errors.As(err, &bad) {
			return group, damaged{fmt.Errorf("column %q, row group %d: %w", c.name, g, bad.error)}
		}
		if err != nil {
			return group, errorIn(m.path, "column %q, row group %d: %w", c.name, g, err)
		}
	}
	return group, nil
}

// readable are the compressions that Arrow's decoders know.
var readable = map[compress.Compression]bool{
	compress.Codecs.Uncompressed: true, compress.Codecs.Snappy: true, compress.Codecs.Gzip: true,
	compress.Codecs.Brotli: true, compress.Codecs.Zstd: true,
}

func (m *fileMetadata) chunk(col *metadata.ColumnChunkMetaData, rows int64) (chunk, error) {
	c := chunk{offset: col.DataPageOffset(), size: col.TotalCompressedSize(), uncompressed: col.TotalUncompressedSize(),
		rows: col.NumValues(), codec: col.Compression()}
	if d := col.DictionaryPageOffset(); col.HasDictionaryPage() && d > 0 && d < c.offset {
		c.offset = d
	}
	end := m.info.Size() - 8 // where the length of the footer stands
	switch {
	case col.CryptoMetadata() != nil:
		return c, errors.New("encrypted columns can't be read: write the file without encryption")
	case col.FilePath() != "":
		return c, fmt.Errorf("its data is in another file, %q: write both as one", col.FilePath())
	case !readable[c.codec]:
		return c, fmt.Errorf("compression %s can't be read: write the file with snappy, zstd or gzip", c.codec)
	case rows == 0:
		return c, nil // then there may be no data either
	case c.rows != rows:
		return c, damaged{fmt.Errorf("%d values for %d rows", c.rows, rows)}
	case c.offset < 4 || c.size < 0 || c.offset > end || c.size > end-c.offset:
		return c, damaged{fmt.Errorf("%d bytes of data from byte %d on, but the file has %d", c.size, c.offset,
			m.info.Size())}
	}
	if m.WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		// Files of these versions leave the dictionary page's header out of the size (PARQUET-816).
		c.size += min(100, end-c.offset-c.size)
	}
	return c, nil
}

// recovered calls f and turns a panic into an error. Errors of Arrow may have several lines, these don't.
func recovered(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damaged{errors.New(oneLine(fmt.Sprint(r)))}
		}
	}()
	return f()
}

// oneLine shortens what Arrow says about damaged data to a part of a line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 120 {
		s = string(r[:120]) + "..."
	}
	return strings.ToValidUTF8(s, "?")
}
