package parquet

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

	"halfspace/dataset/internal/frame"
	"halfspace/dataset/internal/parquet/page"
)

// Input is the selected columns of Parquet files, found and checked, but not read.
type Input struct {
	Files []*File
	Sel   *frame.Chosen
	Rows  int64

	Memory  int64      // that a pass may take; 0: no bound
	buffers *page.Pool // shared with other inputs; nil: each pass has its own
}

// A File is what is needed of a file's metadata to read the selected columns, without the row groups that have no
// rows. The file itself isn't kept open: there may be more files than a process can have open.
type File struct {
	path    string
	Info    os.FileInfo
	columns []frame.Column
	Groups  []rowGroup
}

// A rowGroup is the selected column chunks of a row group, and which of its rows are read: some after those to pass over.
type rowGroup struct {
	number     int   // in the file
	all        int64 // rows that it has
	skip, rows int64
	Chunks     []chunk
}

// A chunk is where the values of a column in a row group are, all of it checked against the file. A file may have millions.
type chunk struct {
	offset, Size, uncompressed, values int64 // as in page.Chunk
	codec, Padding                     int8
}

// pages returns the chunk of a column in a row group of so many rows.
func (c chunk) pages(col frame.Column, rows int64) page.Chunk {
	return page.Chunk{Type: col.Physical, Width: col.Width, MaxDef: col.MaxDef,
		ListDef: col.ListDef, MaxList: col.MaxList, Codec: page.Codec(c.codec), Offset: c.offset, Size: c.Size, Padding: int64(c.Padding),
		Uncompressed: c.uncompressed, Rows: rows, Values: c.values}
}

// Open reads the metadata of all files and chooses the columns to read.
func Open(ctx context.Context, paths []string, req frame.Request, p frame.Pool) (*Input, error) {
	in := &Input{Files: make([]*File, len(paths))}
	err := WithMetadata(paths[0], func(m *Metadata) error {
		columns, err := m.TopColumns()
		if err != nil {
			return err
		}
		if in.Sel, err = req.Choose.First(paths[0], columns, false); err != nil {
			return err
		}
		in.Files[0], err = m.Selected(in.Sel.Columns)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = p.Each(ctx, len(paths)-1, func(i int) error {
		return WithMetadata(paths[i+1], func(m *Metadata) error {
			columns, err := m.TopColumns()
			if err == nil {
				columns, err = req.Choose.Further(m.path, columns)
			}
			if err == nil {
				in.Files[i+1], err = m.Selected(columns)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	for _, f := range in.Files {
		for k, c := range f.columns {
			in.Sel.Columns[k].Nullable = in.Sel.Columns[k].Nullable || c.Nullable
		}
		for _, g := range f.Groups {
			in.Rows += g.rows
		}
	}
	return in, nil
}

func (in *Input) Total() int64 { return in.Rows }

func (in *Input) Most() int64 { return in.Rows }

func (in *Input) Chosen() *frame.Chosen { return in.Sel }

func (in *Input) Notes() []string { return nil }

func (in *Input) LastPass() {}

// Name names the input in messages about all of it.
func (in *Input) Name() string {
	if len(in.Files) == 1 {
		return in.Files[0].path
	}
	return fmt.Sprintf("%s and %d more", in.Files[0].path, len(in.Files)-1)
}

// Batches yields the rows in order, after an error nothing more. While a batch is used the next one is decoded. A batch is
// the caller's to release.
//
// The columns of a row group are decoded in parallel, and where they are fewer than the workers, so are row groups. One
// worker decodes a batch when it is wanted, and so do all where memory is short.
func (in *Input) Batches(ctx context.Context, p frame.Pool, mem memory.Allocator) iter.Seq2[*frame.Batch, error] {
	return func(yield func(*frame.Batch, error) bool) {
		groups, columns := in.groups(), max(1, len(in.Sel.Columns))
		lanes := in.Lanes(min(cap(p), (2*cap(p)+columns-1)/columns, len(groups)))
		buffers := in.buffers
		if buffers == nil {
			buffers = page.NewPool(mem)
			in.Bound(buffers, lanes+1)
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
					groups[k-1].decode(ctx, p, buffers, func(b *frame.Batch, err error) bool {
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

// groups returns every row group.
func (in *Input) groups() (all []groupDecoder) {
	for _, f := range in.Files {
		for g := range f.Groups {
			all = append(all, groupDecoder{f, &f.Groups[g], make(chan decoded)})
		}
	}
	return all
}

// decode yields the batches, and the error that ends them if there is one. It tells whether all were taken. What was
// yielded is the taker's to release.
func (d groupDecoder) decode(ctx context.Context, p frame.Pool, mem *page.Pool, yield func(*frame.Batch, error) bool) bool {
	var r *groupReader
	err := frame.Recovered(func() (err error) {
		r, err = d.file.Open(ctx, d.group, mem)
		return err
	})
	if err == nil {
		defer r.close()
		for r.left > 0 {
			var b *frame.Batch
			err = frame.Recovered(func() (err error) {
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
	if errors.As(err, new(frame.Damaged)) {
		err = fmt.Errorf("%s: row group %d: damaged data (%w): write the file again", d.file.path, d.group.number, err)
	}
	if err != nil {
		yield(nil, err)
	}
	return err == nil
}

func (r *groupReader) close() {
	for _, c := range r.columns {
		c.close()
	}
	r.src.Close()
}

// next reads the next rows: as many as a batch has, unless a column has read fewer.
func (r *groupReader) next(ctx context.Context, p frame.Pool) (*frame.Batch, error) {
	n := int(min(int64(r.step), r.left))
	err := p.Each(ctx, len(r.columns), func(i int) error {
		return r.columnError(ctx, i, r.columns[i].fill(ctx, n))
	})
	if err != nil {
		return nil, err
	}
	for _, c := range r.columns {
		n = min(n, c.rest.Len())
	}
	b := &frame.Batch{File: r.path, Rows: int64(n), Columns: make([]arrow.Array, len(r.columns))}
	for i, c := range r.columns {
		b.Columns[i] = c.take(n)
	}
	r.left -= int64(n)
	return b, nil
}

// columnError says in which column an error is, if there is one.
func (r *groupReader) columnError(ctx context.Context, i int, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%s: column %q, row group %d: %w", r.path, r.columns[i].col.Name, r.group.number, err)
}

// A RowRange is rows first to last of an input.
type RowRange struct{ First, Last int64 }

// Ranges cuts the rows into up to n ranges of whole blocks of so many rows. A range begins where a row group does or soon
// after: the page in which it begins is decoded for two of them.
func (in *Input) Ranges(n int, blockRows int64) (all []RowRange) {
	var ends []int64 // of row groups
	end := int64(0)
	for _, f := range in.Files {
		for _, g := range f.Groups {
			end += g.rows
			ends = append(ends, end)
		}
	}
	n = min(n, len(ends))
	first := int64(0)
	for i := range n {
		last := min(in.Rows, (ends[len(ends)*(i+1)/n-1]+blockRows-1)/blockRows*blockRows)
		if last > first {
			all = append(all, RowRange{first, last})
			first = last
		}
	}
	return all
}

// Only returns the input with those rows alone, decoded in memory of that pool.
func (in *Input) Only(r RowRange, buffers *page.Pool) *Input {
	part := &Input{Sel: in.Sel, Rows: r.Last - r.First, Memory: in.Memory, buffers: buffers}
	for _, f := range in.Files {
		g := &File{path: f.path, Info: f.Info, columns: f.columns}
		for _, group := range f.Groups {
			rows := group.rows
			group.skip = max(0, min(r.First, rows))
			if group.rows = max(0, min(r.Last, rows)) - group.skip; group.rows > 0 {
				g.Groups = append(g.Groups, group)
			}
			r.First, r.Last = r.First-rows, r.Last-rows
		}
		part.Files = append(part.Files, g)
	}
	return part
}

// Stored returns how many bytes the selected columns take in the files, each of which may say that its chunks lie in the
// same ones.
func (in *Input) Stored() (bytes int64) {
	for _, f := range in.Files {
		chunks := int64(0)
		for _, g := range f.Groups {
			for _, c := range g.Chunks {
				chunks += c.Size
			}
		}
		bytes += min(chunks, f.Info.Size())
	}
	return bytes
}

// Metadata is the metadata of a Parquet file while it is open.
type Metadata struct {
	path string
	Info os.FileInfo
	*page.Footer
	padded bool // sizes leave the dictionary page's header out (PARQUET-816)
}

// WithMetadata calls f with the metadata of a file. Arrow panics at some damaged schemas, here or when they are looked
// at in f: that too ends as an error.
func WithMetadata(path string, f func(*Metadata) error) error {
	// Looked at before it is opened: a named pipe would wait for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return frame.PathError(path, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file: name a Parquet file", path)
	}
	src, err := os.Open(path)
	if err != nil {
		return frame.PathError(path, err)
	}
	defer src.Close()
	if info, err = src.Stat(); err != nil {
		return frame.PathError(path, err)
	}
	if err := checkMagic(src, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m := &Metadata{path: path, Info: info}
	err = frame.Recovered(func() error {
		if m.Footer, err = page.ReadFooter(src, info.Size()); err != nil {
			return frame.Damage(err)
		}
		m.padded = metadata.NewAppVersion(m.CreatedBy).LessThan(metadata.Parquet816FixedVersion)
		return f(m)
	})
	var file *page.FileError
	var bad frame.Damaged
	switch {
	case errors.As(err, &file):
		return fmt.Errorf("%s: can't be read (%w): check the disk", path, file)
	case errors.As(err, &bad):
		return fmt.Errorf("%s: the metadata can't be read (%w): write the file again", path, bad)
	}
	return err
}

// Leaves calls f with each leaf column, its number, and the top-level column that it is or is in. Arrow gets to see the schema
// alone, some columns at a time, and it is sound by then: Arrow takes sizes in a footer on trust, and a kilobyte of memory for
// each column.
func (m *Metadata) Leaves(f func(i int, leaf *pschema.Column, root pschema.Node)) error {
	n := 0
	for footer, err := range m.Schemas() {
		if err != nil {
			return frame.Damage(err)
		}
		meta, err := metadata.NewFileMetaData(footer, nil)
		if err != nil {
			return frame.Damage(errors.New(frame.OneLine(err.Error())))
		}
		for i := range meta.Schema.NumColumns() {
			f(n, meta.Schema.Column(i), meta.Schema.ColumnRoot(i))
			n++
		}
	}
	if n != m.Columns {
		return frame.Damage(fmt.Errorf("%d of %d columns", n, m.Columns))
	}
	return nil
}

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
		return frame.Mark(errors.New("the file is truncated, since no footer ends it: copy or write it again"), frame.ErrDamaged)
	}
	return nil
}

// TopColumns returns the top-level columns. Nested ones but lists of numbers have no type to be read into.
func (m *Metadata) TopColumns() (cols []frame.Column, err error) {
	var last pschema.Node
	cols = make([]frame.Column, 0, m.Columns)
	err = m.Leaves(func(i int, leaf *pschema.Column, root pschema.Node) {
		if root == last {
			return
		}
		last = root
		col := frame.Column{Name: root.Name(), Index: i, Physical: page.Type(leaf.PhysicalType()), Width: leaf.TypeLength(),
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

// Selected checks what the metadata says about columns and returns it.
func (m *Metadata) Selected(columns []frame.Column) (*File, error) {
	f := &File{path: m.path, Info: m.Info, columns: slices.Clone(columns)}
	index := make([]int, len(columns))
	for i, c := range columns {
		index[i] = c.Index
	}
	rows, number := int64(0), 0
	for meta, err := range m.Groups(index) {
		if err != nil {
			return nil, frame.Damage(err)
		}
		group, err := m.rowGroup(number, meta, columns)
		if err != nil {
			return nil, err
		}
		if rows += group.rows; group.rows > 0 {
			f.Groups = append(f.Groups, group)
		}
		number++
	}
	if rows != m.Rows {
		return nil, frame.Damage(fmt.Errorf("%d rows, but %d in the row groups", m.Rows, rows))
	}
	return f, nil
}

func (m *Metadata) rowGroup(g int, meta *page.Group, columns []frame.Column) (rowGroup, error) {
	group := rowGroup{number: g, all: meta.Rows, rows: meta.Rows}
	if group.rows < 0 {
		return group, frame.Damage(fmt.Errorf("row group %d has %d rows", g, group.rows))
	}
	if group.rows > math.MaxInt32 {
		return group, frame.ErrorIn(m.path, "row group %d has %d rows: write smaller row groups", g, group.rows)
	}
	if meta.Columns != m.Columns {
		return group, frame.Damage(fmt.Errorf("row group %d has %d columns, but the schema %d", g, meta.Columns, m.Columns))
	}
	if group.rows > 0 {
		group.Chunks = make([]chunk, len(columns))
	}
	for i, c := range columns {
		made, err := m.chunk(c, &meta.Chunks[i], group.rows)
		var bad frame.Damaged
		if errors.As(err, &bad) {
			return group, frame.Damage(fmt.Errorf("column %q, row group %d: %w", c.Name, g, bad.Reason))
		}
		if err != nil {
			return group, frame.ErrorIn(m.path, "column %q, row group %d: %w", c.Name, g, err)
		}
		if group.rows > 0 {
			group.Chunks[i] = made
		}
	}
	return group, nil
}

// chunk checks what the metadata says about the values of a column in a row group.
func (m *Metadata) chunk(c frame.Column, col *page.ColumnChunk, rows int64) (chunk, error) {
	made := chunk{offset: col.Data, Size: col.Stored, uncompressed: col.Uncompressed, values: col.Values, codec: int8(col.Codec)}
	if col.Dictionary > 0 && col.Dictionary < made.offset {
		made.offset = col.Dictionary
	}
	end := m.Info.Size() - 8 // where the length of the footer stands
	switch {
	case col.Encrypted:
		return chunk{}, errors.New("encrypted columns can't be read: write the file without encryption")
	case col.File != "":
		return chunk{}, fmt.Errorf("its data is in another file, %q: write both as one", col.File)
	case !col.Codec.Readable():
		return chunk{}, fmt.Errorf("compression %s can't be read: write the file with snappy, zstd or gzip", compress.Compression(col.Codec))
	case rows == 0:
		return chunk{}, nil // then there may be no data either
	case made.values < rows || made.values > rows && c.ListDef == 0:
		return chunk{}, frame.Damage(fmt.Errorf("%d values for %d rows", made.values, rows))
	case made.offset < 4 || made.Size < 0 || made.offset > end || made.Size > end-made.offset:
		return chunk{}, frame.Damage(fmt.Errorf("%d bytes of data from byte %d on, but the file has %d", made.Size, made.offset,
			m.Info.Size()))
	}
	if m.padded {
		made.Padding = int8(min(100, end-made.offset-made.Size))
		made.Size += int64(made.Padding)
	}
	return made, nil
}

// LabelOnly returns the input with the label as its only column.
func (in *Input) LabelOnly() frame.Input {
	label := in.Sel.Label
	only := &Input{Rows: in.Rows, Memory: in.Memory, Sel: &frame.Chosen{Columns: in.Sel.Columns[label : label+1], Weight: -1}}
	for _, f := range in.Files {
		g := &File{path: f.path, Info: f.Info, columns: f.columns[label : label+1]}
		for _, group := range f.Groups {
			g.Groups = append(g.Groups, rowGroup{number: group.number, all: group.all, rows: group.rows,
				Chunks: group.Chunks[label : label+1]})
		}
		only.Files = append(only.Files, g)
	}
	return only
}
