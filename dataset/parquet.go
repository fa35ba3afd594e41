package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"
	"golang.org/x/sync/errgroup"

	"halfspace/dataset/internal/parquet/page"
)

// parquetInput is the selected columns of Parquet files, found and checked, but not read.
type parquetInput struct {
	files []*parquetFile
	sel   *chosen
	rows  int64

	memory  int64      // that a pass may take; 0: no bound
	buffers *page.Pool // shared with other inputs; nil: each pass has its own
}

// A parquetFile is what is needed of a file's metadata to read the selected columns, without the row groups that have no
// rows. The file itself isn't kept open: there may be more files than a process can have open.
type parquetFile struct {
	path    string
	info    os.FileInfo
	columns []column
	groups  []rowGroup
}

// A rowGroup is the selected column chunks of a row group, and which of its rows are read: some after those to pass over.
type rowGroup struct {
	number     int   // in the file
	all        int64 // rows that it has
	skip, rows int64
	chunks     []chunk
}

// A chunk is where the values of a column in a row group are, all of it checked against the file. A file may have millions.
type chunk struct {
	offset, size, uncompressed, values int64 // as in page.Chunk
	codec, padding                     int8
}

// pages returns the chunk of a column in a row group of so many rows.
func (c chunk) pages(col column, rows int64) page.Chunk {
	return page.Chunk{Type: col.physical, Width: col.width, MaxDef: col.maxDef,
		ListDef: col.listDef, MaxList: col.maxList, Codec: page.Codec(c.codec), Offset: c.offset, Size: c.size, Padding: int64(c.padding),
		Uncompressed: c.uncompressed, Rows: rows, Values: c.values}
}

// openParquet reads the metadata of all files and chooses the columns to read.
func openParquet(ctx context.Context, paths []string, req request, p pool) (*parquetInput, error) {
	in := &parquetInput{files: make([]*parquetFile, len(paths))}
	err := withMetadata(paths[0], func(m *fileMetadata) error {
		columns, err := m.columns()
		if err != nil {
			return err
		}
		if in.sel, err = req.choose.first(paths[0], columns, false); err != nil {
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
			columns, err := m.columns()
			if err == nil {
				columns, err = req.choose.further(m.path, columns)
			}
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

func (in *parquetInput) total() int64    { return in.rows }
func (in *parquetInput) most() int64     { return in.rows }
func (in *parquetInput) chosen() *chosen { return in.sel }
func (in *parquetInput) notes() []string { return nil }
func (in *parquetInput) lastPass()       {}

// name names the input in messages about all of it.
func (in *parquetInput) name() string {
	if len(in.files) == 1 {
		return in.files[0].path
	}
	return fmt.Sprintf("%s and %d more", in.files[0].path, len(in.files)-1)
}

// batches yields the rows in order, after an error nothing more. While a batch is used the next one is decoded. A batch is
// the caller's to release.
//
// The columns of a row group are decoded in parallel, and where they are fewer than the workers, so are row groups. One
// worker decodes a batch when it is wanted, and so do all where memory is short.
func (in *parquetInput) batches(ctx context.Context, p pool, mem memory.Allocator) iter.Seq2[*batch, error] {
	return func(yield func(*batch, error) bool) {
		groups, columns := in.groups(), max(1, len(in.sel.columns))
		lanes := in.lanes(min(cap(p), (2*cap(p)+columns-1)/columns, len(groups)))
		buffers := in.buffers
		if buffers == nil {
			buffers = page.NewPool(mem)
			in.bound(buffers, lanes+1)
			defer buffers.Close()
		}
		if cap(p) == 1 || lanes == 0 {
			for _, g := range groups {
				if !g.decode(ctx, p, buffers, yield) {
					return
				}
			}
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		var running errgroup.Group
		defer running.Wait()
		defer cancel()
		// A lane begins the next row group when the last batch of its own was taken.
		var begun atomic.Int64
		for range lanes {
			running.Go(func() error {
				for k := begun.Add(1); int(k) <= len(groups) && ctx.Err() == nil; k = begun.Add(1) {
					out := groups[k-1].out
					groups[k-1].decode(ctx, p, buffers, func(b *batch, err error) bool {
						return send(ctx, out, decoded{b, err})
					})
					close(out)
				}
				return nil
			})
		}
		for _, g := range groups {
			for open := true; open; {
				var d decoded
				select {
				case d, open = <-g.out:
				case <-ctx.Done():
					d.err = ctx.Err()
				}
				if (d.batch != nil || d.err != nil) && (!yield(d.batch, d.err) || d.err != nil) {
					return
				}
			}
		}
	}
}

// decoded is a batch, or why there is none.
type decoded struct {
	batch *batch
	err   error
}

// A groupDecoder decodes a row group in the background.
type groupDecoder struct {
	file  *parquetFile
	group *rowGroup
	out   chan decoded // closed after the last batch, or an error
}

// groups returns every row group.
func (in *parquetInput) groups() (all []groupDecoder) {
	for _, f := range in.files {
		for g := range f.groups {
			all = append(all, groupDecoder{f, &f.groups[g], make(chan decoded)})
		}
	}
	return all
}

// decode yields the batches, and the error that ends them if there is one. It tells whether all were taken. What was
// yielded is the taker's to release.
func (d groupDecoder) decode(ctx context.Context, p pool, mem *page.Pool, yield func(*batch, error) bool) bool {
	var r *groupReader
	err := recovered(func() (err error) {
		r, err = d.file.open(ctx, d.group, mem)
		return err
	})
	if err == nil {
		defer r.close()
		for r.left > 0 {
			var b *batch
			err = recovered(func() (err error) {
				b, err = r.next(ctx, p)
				return err
			})
			if err != nil {
				break
			}
			if !yield(b, nil) {
				return false
			}
		}
	}
	if errors.As(err, new(damaged)) {
		err = fmt.Errorf("%s: row group %d: damaged data (%w): write the file again", d.file.path, d.group.number, err)
	}
	if err != nil {
		yield(nil, err)
	}
	return err == nil
}

// send tells whether d was taken before the context was cancelled. A batch that wasn't is released.
func send(ctx context.Context, out chan<- decoded, d decoded) bool {
	select {
	case out <- d:
		return true
	case <-ctx.Done():
		d.batch.release()
		return false
	}
}

// A groupReader reads the selected columns of a row group.
type groupReader struct {
	*parquetFile
	group   *rowGroup
	src     *os.File
	columns []*columnReader
	left    int64 // rows
	step    int   // rows of a batch
}

// Batches have about batchBytes of values, so that they are in the processor's cache until they are rows of a block, but
// not so few rows that what is done once for each counts.
const (
	batchBytes   = 2 << 20
	minBatchRows = 1 << 10
	maxBatchRows = 1 << 16
)

// open begins to read a row group.
func (f *parquetFile) open(ctx context.Context, group *rowGroup, mem *page.Pool) (*groupReader, error) {
	src, err := os.Open(f.path)
	if err != nil {
		return nil, pathError(f.path, err)
	}
	if info, err := src.Stat(); err != nil || info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime()) {
		src.Close()
		return nil, fmt.Errorf("%s: the file changed while it was read: try again", f.path)
	}
	r := &groupReader{parquetFile: f, group: group, src: src, left: group.rows}
	bytes := int64(1)
	for i, c := range group.chunks {
		r.columns = append(r.columns, newColumnReader(src, f.columns[i], c.pages(f.columns[i], group.all), mem))
		bytes += min(max(4, c.uncompressed/group.all, int64(f.columns[i].width)), batchBytes)
		if err := r.columns[i].skip(ctx, group.skip); err != nil {
			defer r.close()
			return nil, r.columnError(ctx, i, err)
		}
	}
	r.step = int(min(max(batchBytes/bytes, minBatchRows), maxBatchRows))
	if mem.Room > 0 {
		r.step = int(min(int64(r.step), int64(mem.Room*len(r.columns))/bytes))
	}
	r.step = max(64, r.step&^63)
	return r, nil
}

func (r *groupReader) close() {
	for _, c := range r.columns {
		c.close()
	}
	r.src.Close()
}

// next reads the next rows: as many as a batch has, unless a column has read fewer.
func (r *groupReader) next(ctx context.Context, p pool) (*batch, error) {
	n := int(min(int64(r.step), r.left))
	err := p.each(ctx, len(r.columns), func(i int) error {
		return r.columnError(ctx, i, r.columns[i].fill(ctx, n))
	})
	if err != nil {
		return nil, err
	}
	for _, c := range r.columns {
		n = min(n, c.rest.Len())
	}
	b := &batch{file: r.path, rows: int64(n), columns: make([]arrow.Array, len(r.columns))}
	for i, c := range r.columns {
		b.columns[i] = c.take(n)
	}
	r.left -= int64(n)
	return b, nil
}

// columnError says in which column an error is, if there is one.
func (r *groupReader) columnError(ctx context.Context, i int, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%s: column %q, row group %d: %w", r.path, r.columns[i].col.name, r.group.number, err)
}

// A rowRange is rows first to last of an input.
type rowRange struct{ first, last int64 }

// ranges cuts the rows into up to n ranges of whole blocks of so many rows. A range begins where a row group does or soon
// after: the page in which it begins is decoded for two of them.
func (in *parquetInput) ranges(n int, blockRows int64) (all []rowRange) {
	var ends []int64 // of row groups
	end := int64(0)
	for _, f := range in.files {
		for _, g := range f.groups {
			end += g.rows
			ends = append(ends, end)
		}
	}
	n = min(n, len(ends))
	first := int64(0)
	for i := range n {
		last := min(in.rows, (ends[len(ends)*(i+1)/n-1]+blockRows-1)/blockRows*blockRows)
		if last > first {
			all = append(all, rowRange{first, last})
			first = last
		}
	}
	return all
}

// only returns the input with those rows alone, decoded in memory of that pool.
func (in *parquetInput) only(r rowRange, buffers *page.Pool) *parquetInput {
	part := &parquetInput{sel: in.sel, rows: r.last - r.first, memory: in.memory, buffers: buffers}
	for _, f := range in.files {
		g := &parquetFile{path: f.path, info: f.info, columns: f.columns}
		for _, group := range f.groups {
			rows := group.rows
			group.skip = max(0, min(r.first, rows))
			if group.rows = max(0, min(r.last, rows)) - group.skip; group.rows > 0 {
				g.groups = append(g.groups, group)
			}
			r.first, r.last = r.first-rows, r.last-rows
		}
		part.files = append(part.files, g)
	}
	return part
}

// stored returns how many bytes the selected columns take in the files, each of which may say that its chunks lie in the
// same ones.
func (in *parquetInput) stored() (bytes int64) {
	for _, f := range in.files {
		chunks := int64(0)
		for _, g := range f.groups {
			for _, c := range g.chunks {
				chunks += c.size
			}
		}
		bytes += min(chunks, f.info.Size())
	}
	return bytes
}

// fileMetadata is the metadata of a Parquet file while it is open.
type fileMetadata struct {
	path string
	info os.FileInfo
	*page.Footer
	padded bool // sizes leave the dictionary page's header out (PARQUET-816)
}

// withMetadata calls f with the metadata of a file. Arrow panics at some damaged schemas, here or when they are looked
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
	m := &fileMetadata{path: path, info: info}
	err = recovered(func() error {
		if m.Footer, err = page.ReadFooter(src, info.Size()); err != nil {
			return damage(err)
		}
		m.padded = metadata.NewAppVersion(m.CreatedBy).LessThan(metadata.Parquet816FixedVersion)
		return f(m)
	})
	var file *page.FileError
	var bad damaged
	switch {
	case errors.As(err, &file):
		return fmt.Errorf("%s: can't be read (%w): check the disk", path, file)
	case errors.As(err, &bad):
		return fmt.Errorf("%s: the metadata can't be read (%w): write the file again", path, bad)
	}
	return err
}

// leaves calls f with each leaf column, its number, and the top-level column that it is or is in. Arrow gets to see the schema
// alone, some columns at a time, and it is sound by then: Arrow takes sizes in a footer on trust, and a kilobyte of memory for
// each column.
func (m *fileMetadata) leaves(f func(i int, leaf *pschema.Column, root pschema.Node)) error {
	n := 0
	for footer, err := range m.Schemas() {
		if err != nil {
			return damage(err)
		}
		meta, err := metadata.NewFileMetaData(footer, nil)
		if err != nil {
			return damage(errors.New(oneLine(err.Error())))
		}
		for i := range meta.Schema.NumColumns() {
			f(n, meta.Schema.Column(i), meta.Schema.ColumnRoot(i))
			n++
		}
	}
	if n != m.Columns {
		return damage(fmt.Errorf("%d of %d columns", n, m.Columns))
	}
	return nil
}

// damaged is what is wrong with a file, or what Arrow finds wrong.
type damaged struct{ reason error }

func (d damaged) Error() string { return d.reason.Error() }

// damage returns the error of damaged data.
func damage(reason error) error { return damaged{reason} }

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

// columns returns the top-level columns. Nested ones but lists of numbers have no type to be read into.
func (m *fileMetadata) columns() (cols []column, err error) {
	var last pschema.Node
	cols = make([]column, 0, m.Columns)
	err = m.leaves(func(i int, leaf *pschema.Column, root pschema.Node) {
		if root == last {
			return
		}
		last = root
		col := column{name: root.Name(), index: i, physical: page.Type(leaf.PhysicalType()), width: leaf.TypeLength(),
			maxDef: int(leaf.MaxDefinitionLevel())}
		switch {
		case root.Type() == pschema.Primitive && leaf.MaxRepetitionLevel() == 0:
			col.typ, col.desc = arrowType(leaf)
			col.nullable = leaf.MaxDefinitionLevel() > 0
		case isList(root):
			col.typ, col.desc, col.listDef = listType(root, leaf)
			col.nullable = col.listDef > 1
		default:
			col.desc = nestedType(root)
		}
		cols = append(cols, col)
	})
	return cols, err
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
	f := &parquetFile{path: m.path, info: m.info, columns: slices.Clone(columns)}
	index := make([]int, len(columns))
	for i, c := range columns {
		index[i] = c.index
	}
	rows, number := int64(0), 0
	for meta, err := range m.Groups(index) {
		if err != nil {
			return nil, damage(err)
		}
		group, err := m.rowGroup(number, meta, columns)
		if err != nil {
			return nil, err
		}
		if rows += group.rows; group.rows > 0 {
			f.groups = append(f.groups, group)
		}
		number++
	}
	if rows != m.Rows {
		return nil, damage(fmt.Errorf("%d rows, but %d in the row groups", m.Rows, rows))
	}
	return f, nil
}

func (m *fileMetadata) rowGroup(g int, meta *page.Group, columns []column) (rowGroup, error) {
	group := rowGroup{number: g, all: meta.Rows, rows: meta.Rows}
	if group.rows < 0 {
		return group, damage(fmt.Errorf("row group %d has %d rows", g, group.rows))
	}
	if group.rows > math.MaxInt32 {
		return group, errorIn(m.path, "row group %d has %d rows: write smaller row groups", g, group.rows)
	}
	if meta.Columns != m.Columns {
		return group, damage(fmt.Errorf("row group %d has %d columns, but the schema %d", g, meta.Columns, m.Columns))
	}
	if group.rows > 0 {
		group.chunks = make([]chunk, len(columns))
	}
	for i, c := range columns {
		made, err := m.chunk(c, &meta.Chunks[i], group.rows)
		var bad damaged
		if errors.As(err, &bad) {
			return group, damage(fmt.Errorf("column %q, row group %d: %w", c.name, g, bad.reason))
		}
		if err != nil {
			return group, errorIn(m.path, "column %q, row group %d: %w", c.name, g, err)
		}
		if group.rows > 0 {
			group.chunks[i] = made
		}
	}
	return group, nil
}

// chunk checks what the metadata says about the values of a column in a row group.
func (m *fileMetadata) chunk(c column, col *page.ColumnChunk, rows int64) (chunk, error) {
	made := chunk{offset: col.Data, size: col.Stored, uncompressed: col.Uncompressed, values: col.Values, codec: int8(col.Codec)}
	if col.Dictionary > 0 && col.Dictionary < made.offset {
		made.offset = col.Dictionary
	}
	end := m.info.Size() - 8 // where the length of the footer stands
	switch {
	case col.Encrypted:
		return chunk{}, errors.New("encrypted columns can't be read: write the file without encryption")
	case col.File != "":
		return chunk{}, fmt.Errorf("its data is in another file, %q: write both as one", col.File)
	case !col.Codec.Readable():
		return chunk{}, fmt.Errorf("compression %s can't be read: write the file with snappy, zstd or gzip", compress.Compression(col.Codec))
	case rows == 0:
		return chunk{}, nil // then there may be no data either
	case made.values < rows || made.values > rows && c.listDef == 0:
		return chunk{}, damage(fmt.Errorf("%d values for %d rows", made.values, rows))
	case made.offset < 4 || made.size < 0 || made.offset > end || made.size > end-made.offset:
		return chunk{}, damage(fmt.Errorf("%d bytes of data from byte %d on, but the file has %d", made.size, made.offset,
			m.info.Size()))
	}
	if m.padded {
		made.padding = int8(min(100, end-made.offset-made.size))
		made.size += int64(made.padding)
	}
	return made, nil
}

// recovered calls f and turns a panic into an error. Errors of Arrow may have several lines, these don't.
func recovered(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damage(errors.New(oneLine(fmt.Sprint(r))))
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

// labelOnly returns the input with the label as its only column.
func (in *parquetInput) labelOnly() input {
	label := in.sel.label
	only := &parquetInput{rows: in.rows, memory: in.memory, sel: &chosen{columns: in.sel.columns[label : label+1], weight: -1}}
	for _, f := range in.files {
		g := &parquetFile{path: f.path, info: f.info, columns: f.columns[label : label+1]}
		for _, group := range f.groups {
			g.groups = append(g.groups, rowGroup{number: group.number, all: group.all, rows: group.rows,
				chunks: group.chunks[label : label+1]})
		}
		only.files = append(only.files, g)
	}
	return only
}
