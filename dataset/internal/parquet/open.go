// Package parquet reads batches of the columns of Parquet files.
//
// A Reader decodes the pages of a column chunk: the format's pages, encodings and compressions, without Arrow. It trusts no
// claim of a page. It compares every size with the bytes that exist before it allocates memory for it, and every count with
// the count of the chunk. It keeps only one page and one dictionary in memory, so that chunks of any size can be read.
package parquet

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/files"
	"halfspace/schema"
)

// Input is the selected columns of Parquet files, whose metadata was read and checked.
type Input struct {
	Files []*File
	Roles *column.Roles
	Rows  int64

	Memory  int64 // maximum bytes of memory of a pass; 0: no limit
	paths   []string
	parts   []*source.Part // of lake tables; nil for other files
	tables  *column.Tables
	buffers *Pool // shared with other inputs; nil: each pass has its own pool
}

// A File is the metadata that is necessary for reading the selected columns of a file, without row groups that have
// no rows. The file isn't kept open, because there may be more files than a process can have open.
type File struct {
	path        string
	Info        os.FileInfo
	columns     []column.Column // leaf columns: one for each selected column, then the further leaf columns of joints
	joints      []joint
	removed     *source.Removed // rows that are left out
	Groups      []rowGroup
	laterGroups []rowGroup // row groups that are read after Groups, or at the same time
}

// A rowGroup is the selected column chunks of a row group, and the range of its rows to read: skip rows are skipped,
// then rows rows are read. Neither counts rows that are removed.
type rowGroup struct {
	number     int   // number of the row group in the file
	first      int64 // number in the file of its first row
	all        int64 // number of all its rows, removed ones too
	skip, rows int64
	Chunks     []chunk
	unread     bool // no row is chosen: batches have nulls
}

// A chunk is the place of the values of a column in a row group, checked against the file. A file may have millions
// of chunks.
type chunk struct {
	offset, Size, uncompressed, values int64 // as in Chunk
	codec, Padding                     int8
}

// pages returns the Chunk of a column in a row group of rows rows.
func (c chunk) pages(col column.Column, rows int64) Chunk {
	return Chunk{Type: Type(col.Physical), Width: col.Width, MaxDef: col.MaxDef,
		ListDef: col.ListDef, MaxList: cmp.Or(col.MaxList, schema.MaxFeatures), Codec: Codec(c.codec), Offset: c.offset,
		Size: c.Size, Padding: int64(c.Padding), Uncompressed: c.uncompressed, Rows: rows, Values: c.values}
}

// Open reads the metadata of all files and chooses the columns to read.
func Open(ctx context.Context, all []*source.File, req column.OpenOptions, p column.Pool) (*Input, error) {
	in := &Input{Files: make([]*File, len(all)), paths: source.Paths(all)}
	for _, f := range all {
		in.parts = append(in.parts, f.Part)
	}
	in.tables = column.NewTables(in.paths, req)
	if files.Scheme(in.paths[0]) != "" {
		p = column.NewPool(max(cap(p), files.ParallelRequests))
	}
	if err := in.examine(ctx, p); err != nil {
		return nil, err
	}
	rows := map[string]int64{}
	for i, f := range in.Files {
		if seen := all[i].Info; seen != nil { // a plan must not rest on other rows than the ones that are read
			if err := column.Unchanged(f.path, func() (os.FileInfo, error) { return f.Info, nil }, seen); err != nil {
				return nil, err
			}
		}
		all[i].Info = f.Info
		for k, c := range f.columns[:len(in.Roles.Columns)] {
			in.Roles.Columns[k].Nullable = in.Roles.Columns[k].Nullable || c.Nullable
		}
		for _, g := range f.Groups {
			in.Rows += g.rows
			rows[f.path] += g.rows
		}
	}
	in.tables.Rows(rows)
	return in, nil
}

// examine reads the metadata of the files. It first chooses among the columns of the first file: most often each file
// has these, and one look at each file suffices. If another file has further columns, it chooses among all columns and
// looks at each file again.
func (in *Input) examine(ctx context.Context, p column.Pool) error {
	var refused error // to choose among the columns of the first file
	look := func(i int) error {
		return in.withMetadata(i, func(m *Metadata) error {
			columns, err := m.columnsOf(in.parts[i])
			if err != nil {
				return err
			}
			if in.tables.Set(i, columns); i == 0 {
				in.Roles, refused = in.tables.AssignRoles(false)
			}
			if refused != nil || !in.tables.HasColumnsOf(i) {
				return nil
			}
			return in.bind(i, m)
		})
	}
	if err := look(0); err != nil {
		return err
	}
	err := p.Each(ctx, len(in.paths)-1, func(i int) error { return look(i + 1) })
	if err != nil {
		return err
	}
	covered := true
	for i := range in.paths {
		covered = covered && in.tables.HasColumnsOf(i)
	}
	if covered {
		return refused
	}
	if in.Roles, err = in.tables.AssignRoles(false); err != nil {
		return err
	}
	return p.Each(ctx, len(in.paths), func(i int) error {
		return in.withMetadata(i, func(m *Metadata) error { return in.bind(i, m) })
	})
}

// bind finds the chosen columns of a file.
func (in *Input) bind(i int, m *Metadata) error {
	columns, err := in.tables.Bind(i)
	if err == nil {
		in.Files[i], err = m.Selected(columns, in.Roles.NoRowMatches)
	}
	return err
}

// Total returns the number of rows.
func (in *Input) Total() int64 { return in.Rows }

// Most returns the number of rows.
func (in *Input) Most() int64 { return in.Rows }

// ReadColumns returns the columns that are read.
func (in *Input) ReadColumns() *column.Roles { return in.Roles }

// Notes returns lines about columns that some files lack, and about timestamps of INT96 out of range.
func (in *Input) Notes() (notes []string) {
	notes = in.tables.Notes(in.paths)
	for _, c := range in.Roles.Columns {
		if c.OutOfRange != nil && c.OutOfRange.Load() {
			notes = append(notes, fmt.Sprintf("column %q: timestamps before 1677 and after 2262 are missing, since INT96 is "+
				"read in nanoseconds (write the column as INT64 in microseconds)", c.Name))
		}
	}
	return notes
}

// LastPass does nothing: files can be read any number of times.
func (in *Input) LastPass() {}

// Name returns the name of all files together, for messages.
func (in *Input) Name() string {
	if len(in.Files) == 1 {
		return in.Files[0].path
	}
	return fmt.Sprintf("%s and %d more", in.Files[0].path, len(in.Files)-1)
}

// Batches yields the rows in order, and ends after an error. While the caller uses a batch, the next batch is
// decoded. The caller must release the batches.
//
// The columns of a row group are decoded in parallel. If there are fewer columns than workers, several row groups are
// decoded at the same time too. With one worker, or if memory is short, a batch is decoded only when it is requested.
func (in *Input) Batches(ctx context.Context, p column.Pool, mem memory.Allocator) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		groups, columns := in.groups(), max(1, len(in.Roles.Columns))
		lanes := in.Lanes(min(cap(p), (2*cap(p)+columns-1)/columns, len(groups)))
		buffers := in.buffers
		if buffers == nil {
			buffers = NewPool(mem)
			in.Bound(buffers, lanes+1)
			defer buffers.Close()
		}
		if cap(p) == 1 || lanes == 0 {
			var files openFile
			defer files.release()
			for _, g := range groups {
				if !g.decode(ctx, p, &files, buffers, yield) {
					return
				}
			}
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		var running errgroup.Group
		defer running.Wait()
		defer cancel()
		// A lane begins the next row group when the last batch of its row group was taken.
		var begun atomic.Int64
		for range lanes {
			running.Go(func() error {
				var files openFile
				defer files.release()
				for k := begun.Add(1); int(k) <= len(groups) && ctx.Err() == nil; k = begun.Add(1) {
					out := groups[k-1].out
					groups[k-1].decode(ctx, p, &files, buffers, func(b *column.Batch, err error) bool {
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
				}
				if d.batch == nil && d.err == nil { // after the last batch, or before a lane could send one
					d.err = ctx.Err()
				}
				if (d.batch != nil || d.err != nil) && (!yield(d.batch, d.err) || d.err != nil) {
					return
				}
			}
		}
	}
}

// groups returns a decoder for every row group.
func (in *Input) groups() (all []groupDecoder) {
	for _, f := range in.Files {
		for g := range f.Groups {
			all = append(all, groupDecoder{f, &f.Groups[g], make(chan decoded)})
		}
	}
	return all
}

// A RowRange is the rows of an input from First up to, but not including, Last.
type RowRange struct{ First, Last int64 }

// Ranges divides the rows into up to n ranges of whole blocks of blockRows rows. A range begins where a row group
// begins, or up to a block later: the page in which it begins is decoded for both adjacent ranges.
func (in *Input) Ranges(n int, blockRows int64) (all []RowRange) {
	var ends []int64 // last row of each row group, plus 1
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

// Part is Only for an input whose other rows are read too: files fetch the later row groups ahead.
func (in *Input) Part(r RowRange, buffers *Pool) *Input {
	part := in.Only(r, buffers)
	for i, f := range part.Files {
		if n := len(f.Groups); n > 0 {
			k := slices.IndexFunc(in.Files[i].Groups, func(g rowGroup) bool { return g.number == f.Groups[n-1].number })
			f.laterGroups = in.Files[i].Groups[k+1:]
		}
	}
	return part
}

// Only returns an input with only the rows of r, which are decoded in memory of the given pool.
func (in *Input) Only(r RowRange, buffers *Pool) *Input {
	part := &Input{Roles: in.Roles, Rows: r.Last - r.First, Memory: in.Memory, paths: in.paths, tables: in.tables,
		buffers: buffers}
	for _, f := range in.Files {
		g := &File{path: f.path, Info: f.Info, columns: f.columns, joints: f.joints, removed: f.removed}
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

// FileEnd returns the number of the row after the last row of the file with a row.
func (in *Input) FileEnd(row int64) (end int64) {
	for _, f := range in.Files {
		for _, group := range f.Groups {
			end += group.rows
		}
		if end > row {
			break
		}
	}
	return end
}

// Stored returns the number of bytes that the selected columns take in the files. For each file it returns at most
// the size of the file, because a file may claim that several chunks lie in the same bytes.
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

// Without returns the input with nulls in some of the selected columns, given by their numbers.
func (in *Input) Without(columns []int) column.Input {
	sub := *in
	sub.Files = slices.Clone(in.Files)
	for i, f := range in.Files {
		g := *f
		g.columns, g.Groups = slices.Clone(f.columns), slices.Clone(f.Groups)
		for _, k := range columns {
			g.columns[k].Index, g.columns[k].Constant = column.Absent, nil
		}
		for n := range g.Groups {
			g.Groups[n].Chunks = slices.Clone(f.Groups[n].Chunks)
			for _, k := range columns {
				g.Groups[n].Chunks[k] = chunk{}
			}
		}
		sub.Files[i] = &g
	}
	return &sub
}

// LabelOnly returns the input with the label as its only column.
func (in *Input) LabelOnly() column.Input {
	label := in.Roles.Label
	only := &Input{Rows: in.Rows, Memory: in.Memory, paths: in.paths, tables: in.tables, buffers: in.buffers,
		Roles: &column.Roles{Columns: in.Roles.Columns[label : label+1], Weight: -1}}
	for _, f := range in.Files {
		g := &File{path: f.path, Info: f.Info, columns: f.columns[label : label+1], removed: f.removed}
		for _, group := range f.Groups {
			g.Groups = append(g.Groups, rowGroup{number: group.number, first: group.first, all: group.all,
				skip: group.skip, rows: group.rows, Chunks: group.Chunks[label : label+1], unread: group.unread})
		}
		only.Files = append(only.Files, g)
	}
	return only
}
