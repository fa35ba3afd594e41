package parquet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/block"
	"halfspace/internal/files"
)

// decoded is a batch or an error.
type decoded struct {
	batch *column.Batch
	err   error
}

// A groupDecoder decodes a row group in the background.
type groupDecoder struct {
	file  *File
	group *rowGroup
	out   chan decoded // closed after the last batch or an error
}

// send returns true if d was received before the context was cancelled. Otherwise it releases the batch.
func send(ctx context.Context, out chan<- decoded, d decoded) bool {
	select {
	case out <- d:
		return true
	case <-ctx.Done():
		d.batch.Release()
		return false
	}
}

// A groupReader reads the selected columns of a row group.
type groupReader struct {
	*File
	group   *rowGroup
	columns []*columnReader
	left    int64 // number of rows left
	step    int   // number of rows of a batch
	short   bool  // decoding takes less time than starting goroutines
}

// shortGroup is the number of bytes below which a row group is decoded by one goroutine.
const shortGroup = 64 << 10

// An openFile is the open file whose row groups are being read.
type openFile struct {
	file *File
	src  files.ReadableFile
}

// get opens a file and closes the file before, unless it is the same file. It returns an error if the file changed
// since its metadata was read.
func (o *openFile) get(f *File) (files.ReadableFile, error) {
	if o.file != f {
		o.release()
		src, err := source.Reopen(f.path, f.Info)
		if err != nil {
			return nil, column.PathError(f.path, err)
		}
		o.file, o.src = f, src
		if a, is := src.(files.Announcer); is {
			a.Announce(f.parts())
		}
	}
	return o.src, column.Unchanged(f.path, files.CurrentInfo(f.path, o.src), f.Info)
}

// parts returns the parts of a file with the chunks that are read, in ascending order.
func (f *File) parts() (parts []files.Part) {
	for _, g := range slices.Concat(f.Groups, f.laterGroups) {
		if g.unread {
			continue
		}
		for _, c := range g.Chunks {
			parts = append(parts, files.Part{At: c.offset, End: c.offset + c.Size})
		}
	}
	slices.SortFunc(parts, func(a, b files.Part) int { return cmp.Compare(a.At, b.At) })
	return parts
}

func (o *openFile) release() {
	if o.src != nil {
		o.src.Close()
	}
	*o = openFile{}
}

// Open begins reading a row group.
func (f *File) Open(ctx context.Context, group *rowGroup, src files.ReadableFile, mem *Pool) (*groupReader, error) {
	r := &groupReader{File: f, group: group, left: group.rows}
	bytes, all := int64(1), int64(0)
	first := f.removed.KeptRow(group.first, group.skip)
	for i, c := range group.Chunks {
		all += min(max(c.Size, c.uncompressed), shortGroup)
		bytes += min(max(4, c.uncompressed/group.all, int64(f.columns[i].Width)), column.BatchBytes)
		c := newColumnReader(src, f.columns[i], c.pages(f.columns[i], group.all), mem)
		c.removed, c.at, c.end = f.removed, first, group.first+group.all
		r.columns = append(r.columns, c)
		if err := c.skip(ctx, first-group.first); err != nil {
			defer r.release()
			return nil, r.columnError(ctx, i, err)
		}
	}
	r.step = int(min(max(column.BatchBytes/bytes, column.MinBatchRows), column.MaxBatchRows))
	if r.step > block.ChunkRows { // whole chunks are faster
		r.step -= r.step % block.ChunkRows
	}
	if mem.Room > 0 {
		r.step = int(min(int64(r.step), int64(mem.Room*len(r.columns))/bytes))
	}
	r.step, r.short = max(64, r.step&^63), all < shortGroup
	return r, nil
}

// decode yields the batches of the row group, then the error if there is one. It returns true if yield took all
// batches and there was no error. yield must release the batches that it gets.
func (d groupDecoder) decode(ctx context.Context, p column.Pool, files *openFile, mem *Pool, yield func(*column.Batch, error) bool) bool {
	if d.group.unread {
		return d.file.nulls(ctx, d.group.rows, yield)
	}
	var r *groupReader
	err := column.Recovered(func() error {
		src, err := files.get(d.file)
		if err == nil {
			r, err = d.file.Open(ctx, d.group, src, mem)
		}
		return err
	})
	if err == nil {
		defer r.release()
		for r.left > 0 {
			var b *column.Batch
			err = column.Recovered(func() (err error) {
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
		if changed := column.Unchanged(d.file.path, files.src.Stat, d.file.Info); changed != nil && ctx.Err() == nil {
			err = changed
		}
	}
	if errors.As(err, new(column.Damaged)) {
		err = fmt.Errorf("%s: row group %d: damaged data (%w): write the file again", d.file.path, d.group.number, err)
	}
	if err != nil {
		yield(nil, err)
	}
	return err == nil
}

func (r *groupReader) release() {
	for _, c := range r.columns {
		c.release()
	}
}

// next returns the next rows: as many as a batch has, or fewer if a column has read fewer.
func (r *groupReader) next(ctx context.Context, p column.Pool) (*column.Batch, error) {
	n := int(min(int64(r.step), r.left))
	each := p.Each
	if r.short {
		each = p.InTurn
	}
	err := each(ctx, len(r.columns), func(i int) error {
		return r.columnError(ctx, i, r.columns[i].fill(ctx, n))
	})
	if err != nil {
		return nil, err
	}
	for _, c := range r.columns {
		if c.pages != nil {
			n = min(n, c.rest.Len())
		}
	}
	b := &column.Batch{File: r.path, Rows: int64(n), Columns: make([]arrow.Array, len(r.columns))}
	for i, c := range r.columns {
		if c.pages != nil {
			b.Columns[i] = c.take(n)
		}
	}
	b.Columns = r.join(b.Columns, n)
	r.left -= int64(n)
	columns := r.File.columns[:len(b.Columns)]
	if err := b.Complete(columns, columns); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// columnError adds the column to an error.
func (r *groupReader) columnError(ctx context.Context, i int, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%s: column %q, row group %d: %w", r.path, r.columns[i].col.Name, r.group.number, err)
}

// A joint is a column of sparse lists. Its leaf columns are the leaf column with its own number, and the leaf columns
// from first up to, but not including, last.
type joint struct {
	column, first, last int
	typ                 arrow.DataType
}

// leavesOf returns the leaf columns to read for columns, and how some of them are joined.
func leavesOf(columns []column.Column) (leaves []column.Column, joints []joint) {
	leaves = columns
	if slices.ContainsFunc(columns, func(c column.Column) bool { return c.Parts != nil }) {
		leaves = slices.Clone(columns)
	}
	for i, c := range columns {
		if c.Parts == nil {
			continue
		}
		leaves[i] = c.Parts[0]
		joints = append(joints, joint{i, len(leaves), len(leaves) + len(c.Parts) - 1, c.Type})
		leaves = append(leaves, c.Parts[1:]...)
	}
	return leaves, joints
}

// join makes columns of leaf columns that have rows rows. It releases the leaf columns that it joins.
func (f *File) join(leaves []arrow.Array, rows int) []arrow.Array {
	for _, j := range f.joints {
		parts := append([]arrow.Array{leaves[j.column]}, leaves[j.first:j.last]...)
		fields := make([]arrow.ArrayData, len(parts))
		for k, p := range parts {
			fields[k] = p.Data()
		}
		data := array.NewData(j.typ, rows, []*memory.Buffer{nil}, fields, 0, 0)
		leaves[j.column] = array.NewStructData(data)
		data.Release()
		for _, p := range parts {
			p.Release()
		}
	}
	if len(f.joints) > 0 {
		leaves = leaves[:f.joints[0].first]
	}
	return leaves
}
