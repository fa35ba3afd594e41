package npy

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/block"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/schema"
)

// Beside are the files with the labels and the weights of the rows, each an array of one column; "" is none.
type Beside struct {
	Labels, Weights       string
	LabelName, WeightName string // names of their columns
}

// The columns of Beside have these values of column.Column.Index. Column k of the rows has k.
const (
	labelIndex  = 1 << 30
	weightIndex = labelIndex + 1
)

// Input is the selected columns of arrays, one array after the other.
type Input struct {
	source.Input
	parts  []part
	beside map[int]*Array // by the index of their columns
	rows   int64
}

type part struct {
	*Array
	first   int64 // number of the array's first row in the input
	columns []int // for each read column, its number in the array or of Beside, or column.Absent
	bound   []column.Column
}

// Open reads the headers of arrays and chooses the columns to read. The columns of the rows are x0, x1 and so on.
func Open(sources []*source.File, req column.OpenOptions, beside Beside) (*Input, error) {
	in := &Input{Input: source.Input{Files: sources}, beside: map[int]*Array{}}
	for _, s := range sources {
		a, err := openArray(s.Path, s.Info)
		if err != nil {
			return nil, err
		}
		in.parts = append(in.parts, part{Array: a, first: in.rows})
		in.rows += a.rows
	}
	further, err := in.openBeside(beside)
	if err != nil {
		return nil, err
	}
	tables := column.NewTables(in.Paths(), req)
	for i := range in.parts {
		p := &in.parts[i]
		switch {
		case p.cols > schema.MaxFeatures:
			return nil, fmt.Errorf("%s: an array of shape %s, and a row has at most %d features: save a sparse "+
				"matrix by scipy.sparse.save_npz", p.path, p.shapeText(), schema.MaxFeatures)
		case p.cols != in.parts[0].cols:
			return nil, fmt.Errorf("%s: an array of %d columns, but %d in %s: save arrays of the same width", p.path,
				p.cols, in.parts[0].cols, in.parts[0].path)
		}
		var cols []column.Column
		for k := range int(p.cols) {
			cols = append(cols, column.Column{Name: "x" + strconv.Itoa(k), Type: p.typ, Desc: column.Describe(p.typ), Index: k})
		}
		tables.Set(i, append(cols, further...))
	}
	return in, in.assignRoles(tables, func(p *part) {
		for _, c := range p.bound {
			p.columns = append(p.columns, c.Index)
		}
	})
}

// assignRoles chooses the columns to read, and calls place with each array, whose chosen columns are known.
func (in *Input) assignRoles(tables *column.Tables, place func(p *part)) (err error) {
	if in.Roles, err = tables.AssignRoles(false); err != nil {
		return err
	}
	for i := range in.parts {
		p := &in.parts[i]
		if p.bound, err = tables.Bind(i); err != nil {
			return err
		}
		place(p)
	}
	return nil
}

// openBeside opens the arrays beside the rows, and returns their columns.
func (in *Input) openBeside(b Beside) (cols []column.Column, err error) {
	for _, of := range []struct {
		path, name, what string
		index            int
	}{{b.Labels, b.LabelName, "label", labelIndex}, {b.Weights, b.WeightName, "weight", weightIndex}} {
		if of.path == "" {
			continue
		}
		info, err := files.Stat(of.path)
		if err != nil {
			return nil, column.PathError(of.path, err)
		}
		a, err := openArray(of.path, info)
		switch {
		case err != nil:
			return nil, err
		case a.cols != 1:
			return nil, fmt.Errorf("%s: an array of shape %s, and each row has one %s: save an array of shape (%d,)",
				of.path, a.shapeText(), of.what, in.rows)
		case a.rows != in.rows:
			return nil, fmt.Errorf("%s: %s, but %s in %s: save one for each row", of.path,
				humanize.Plural(a.rows, of.what), humanize.Plural(in.rows, "row"), in.Name())
		}
		in.beside[of.index] = a
		cols = append(cols, column.Column{Name: of.name, Type: a.typ, Desc: column.Describe(a.typ), Index: of.index})
	}
	return cols, nil
}

func (in *Input) Total() int64 { return in.rows }

func (in *Input) Most() int64 { return in.rows }

// Notes returns nil: passes over arrays have no notes.
func (in *Input) Notes() []string { return nil }

func (in *Input) Stored() (bytes int64) {
	for _, p := range in.parts {
		bytes += p.info.Size()
	}
	return bytes
}

// LabelOnly returns the input with the label as its only column.
func (in *Input) LabelOnly() column.Input {
	k := in.Roles.Label
	only := &Input{Input: in.Input, beside: in.beside, rows: in.rows}
	only.Roles = &column.Roles{Columns: in.Roles.Columns[k : k+1], Weight: -1}
	for _, p := range in.parts {
		p.columns, p.bound = p.columns[k:k+1], p.bound[k:k+1]
		only.parts = append(only.parts, p)
	}
	return only
}

// leastRows is the smallest number of rows of a batch, because each column of a batch takes some 500 bytes besides its values.
const leastRows = 8

func (in *Input) Batches(ctx context.Context, p column.Pool, _ memory.Allocator) iter.Seq2[*column.Batch, error] {
	return column.InOrder(ctx, p, in.Memory, func(yield func(column.Job) bool) {
		for i := range in.parts {
			p := &in.parts[i]
			each := in.rowBytes(p)
			step := min(max(column.BatchBytes/each, leastRows), column.MaxBatchRows)
			if step > block.ChunkRows {
				step -= step % block.ChunkRows
			}
			for lo := int64(0); lo < p.rows; lo += step {
				hi := min(p.rows, lo+step)
				if !yield(column.Job{Bytes: 2 * each * (hi - lo), Make: func() (*column.Batch, error) { return in.batch(p, lo, hi) }}) {
					return
				}
			}
		}
	})
}

// rowBytes returns the number of bytes that are read for a row of an array.
func (in *Input) rowBytes(p *part) int64 {
	bytes, some := int64(0), false
	for _, c := range p.columns {
		if a := in.beside[c]; a != nil {
			bytes += a.size
		} else if c == column.Absent {
			bytes += 8
		} else if some = true; p.fortran {
			bytes += p.size
		}
	}
	if some && !p.fortran {
		bytes += p.size * p.cols
	}
	return max(1, bytes)
}

// batch reads the rows of an array from lo up to, but not including, hi.
func (in *Input) batch(p *part, lo, hi int64) (*column.Batch, error) {
	b := &column.Batch{File: p.path, Rows: hi - lo, Columns: make([]arrow.Array, len(p.columns))}
	var own, places []int
	for k, c := range p.columns {
		if in.beside[c] == nil && c != column.Absent {
			own, places = append(own, c), append(places, k)
		}
	}
	if len(own) > 0 {
		all, err := p.read(lo, hi, own)
		if err != nil {
			return nil, err
		}
		for i, k := range places {
			b.Columns[k] = all[i]
		}
	}
	for k, c := range p.columns {
		if a := in.beside[c]; a != nil {
			all, err := a.read(p.first+lo, p.first+hi, []int{0})
			if err != nil {
				b.Release()
				return nil, err
			}
			b.Columns[k] = all[0]
		}
	}
	if err := b.Complete(p.bound, in.Roles.Columns); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}
