package text

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/source"
	"halfspace/internal/message"
	"halfspace/schema"
)

const (
	svmlightBytes = 256 << 10 // approximate bytes of text that are parsed at a time
	denseBytes    = 4 << 20   // approximate bytes of dense columns that are made at a time
	arrayBytes    = 500       // approximate bytes of each column of a batch, without its values
	leastDense    = 8         // smallest number of lines at a time, because of arrayBytes
)

// Svmlight is the selected columns of svmlight files. A feature that a line doesn't name is 0.
type Svmlight struct {
	source.Input
	rows     int64 // number of rows; -1: not counted
	pairs    int64 // upper bound of the number of pairs; -1: not counted
	least    int   // the smallest index that a feature may have
	label    int   // the label's number among the read columns, or -1
	last     int   // the largest index of a feature
	places   column.Places
	kept     []int32         // for each read column, its number among the kept columns, or -1; nil: no kept columns
	fewer    bool            // the columns belong to a model: lines may have other indices
	Plain    bool            // batches have pairs, and only the label and the kept columns as columns
	spare    sync.Pool       // *column.Pairs to reuse
	rejects  *column.Rejects // nil: a line that can't be read is an error
	sawQuery atomic.Bool
	sawMore  atomic.Bool
	sawZero  atomic.Bool
}

// OpenSvmlight finds the features of the sources and chooses the columns to read.
func OpenSvmlight(ctx context.Context, sources []*source.File, req column.OpenOptions, opt Options, p column.Pool) (*Svmlight, error) {
	in := &Svmlight{Input: source.Input{Files: sources}, rows: -1, pairs: -1, fewer: req.Spec != nil && req.Spec.Width() > 0}
	if opt.IndexBase == "1" {
		in.least = 1
	}
	var err error
	var seen extent
	if in.rejects = req.Rejects; in.rejects != nil {
		err = examine(ctx, p, req.Memory, in.rejects, sources, lines, svmlightBytes,
			func(file int, c Chunk) (int64, []column.Reject, error) {
				return in.check(sources[file].Path, c, req.MostFeatures)
			}, req.Progress)
		if err != nil {
			return nil, err
		}
	}
	if !in.fewer || req.Count {
		if seen, err = in.measure(ctx, p, req.MostFeatures); err != nil {
			return nil, err
		}
		if in.rows, in.pairs = seen.rows, seen.pairs; in.rows == 0 {
			return nil, fmt.Errorf("%s: no rows: name a file that has some", in.Name())
		}
	}
	if in.fewer {
		seen = modelExtent(req.Spec)
	}
	first := 1
	if opt.IndexBase == "0" || seen.zero && opt.IndexBase != "1" {
		first = 0
	}
	cols := in.columns(first, seen, req.Binder.Unnamed)
	if err := column.CheckColumns(in.Name(), len(cols), req.Memory); err != nil {
		return nil, err
	}
	roles, err := req.Binder.BindAll(sources[0].Path, cols, len(cols))
	if err != nil {
		return nil, err
	}
	in.read(roles, seen.last)
	// The columns must be the features in the order of the file, feature k in column k, and the label must be the
	// label of the lines.
	in.Plain = roles.Plain && (roles.Label < 0 || roles.Label == in.label)
	for k, i := range roles.Features {
		in.Plain = in.Plain && i == k && i != in.label
	}
	if in.places.Numbered > 0 && !in.Plain {
		return nil, message.Errorf("%s: %d features, and more than %d are read as they are: leave out --nulls, "+
			"--null-values and --standardize", in.Name(), in.places.Numbered, schema.MaxNamed)
	}
	return in, nil
}

// columns returns the columns of rows whose features have the indices from first on: the label, and a column for each
// feature. All features together have one column if they are too many to be named, or if unnamed returns true for their
// number.
func (in *Svmlight) columns(first int, seen extent, unnamed func(width int) bool) []column.Column {
	last, numbered := seen.last, seen.numbered || seen.last-first+1 > schema.MaxNamed
	if !in.fewer && last >= first {
		numbered = numbered || unnamed(last-first+1)
	}
	if seen.consecutive {
		numbered = numbered || unnamed(last-seen.first+1)
	}
	if numbered && (seen.numbered || seen.consecutive) {
		first = seen.first
	}
	number := arrow.PrimitiveTypes.Float64
	label := column.Column{Name: column.SvmlightLabel, Type: number, Desc: column.Describe(number), Labels: true}
	if numbered {
		return []column.Column{label,
			{Name: column.SvmlightFeature, Desc: fmt.Sprintf("features %d to %d", first, last), Index: first,
				NumberedFeatures: last - first + 1}}
	}
	cols := append(make([]column.Column, 0, last+2), label)
	for i := first; i <= last; i++ {
		cols = append(cols, column.Column{Name: column.SvmlightFeature + strconv.Itoa(i), Type: number, Desc: label.Desc, Index: i})
	}
	return cols
}

// fewKept is the largest number of kept columns for which a whole chunk is a batch of pairs. The values of kept
// columns are dense.
const fewKept = 16

// read sets the columns that are read. last is the largest index of a feature.
func (in *Svmlight) read(roles *column.Roles, last int) {
	in.Roles, in.last, in.label = roles, last, -1
	for k, c := range roles.Columns {
		if c.Name == column.SvmlightLabel {
			in.label = k
		} else {
			in.places.Set(k, c, last+1)
		}
	}
	if len(roles.Keep) > 0 {
		in.kept = slices.Repeat([]int32{-1}, len(roles.Columns))
	}
	for k, i := range roles.Keep {
		in.kept[i] = int32(k)
	}
}

func (in *Svmlight) Total() int64 { return in.rows }

func (in *Svmlight) Pairs() int64 { return in.pairs }

func (in *Svmlight) Paired() bool { return in.Plain }

func (in *Svmlight) Most() int64 { return in.rows }

func (in *Svmlight) Notes() (notes []string) {
	notes = in.rejects.Notes(in.Paths())
	if in.sawQuery.Load() {
		notes = append(notes, "qid: ignored, rows are learned from one by one")
	}
	if in.sawMore.Load() {
		notes = append(notes, "indices that are no features of the model are ignored")
	}
	if in.sawZero.Load() {
		notes = append(notes, "index 0 is ignored, since it is no feature of the model: number the indices from 1 if they were so in "+
			"training")
	}
	return notes
}

func (in *Svmlight) Batches(ctx context.Context, p column.Pool, _ memory.Allocator) iter.Seq2[*column.Batch, error] {
	spare := new(sync.Pool) // getting new memory takes longer than filling it
	return column.InOrder(ctx, p, in.Files[0].MemoryAhead(in.Memory), Chunks(in.Files, lines, svmlightBytes, spare,
		func(file int, c Chunk) iter.Seq[column.Job] {
			path := in.Files[file].Path
			columns := len(in.Roles.Columns)
			if in.Plain {
				columns = len(in.Roles.Keep)
			}
			if in.Plain && columns <= fewKept {
				return One(c, func() (*column.Batch, error) {
					defer c.recycle(spare)
					return in.parse(path, c)
				})
			}
			row := 8 * max(1, columns)
			most := max(leastDense, denseBytes/row)
			return func(yield func(column.Job) bool) {
				for lines := range c.Split(most) {
					dense := func() (*column.Batch, error) {
						b, err := in.parse(path, lines)
						if err != nil || in.Plain {
							return b, err
						}
						defer b.Release()
						return in.dense(b), nil
					}
					if !yield(column.Job{Bytes: int64(most*row+arrayBytes*columns) + parsedBytes(len(lines.Text)), Make: dense}) {
						return
					}
				}
			}
		}))
}

// LabelOnly returns the input with the label as its only column, so that no dense rows are made.
func (in *Svmlight) LabelOnly() column.Input {
	label := in.Roles.Columns[in.Roles.Label]
	only := &Svmlight{Input: source.Input{Files: in.Files, Memory: in.Memory}, rows: in.rows, least: in.least,
		fewer: in.fewer, rejects: in.rejects}
	only.read(&column.Roles{Columns: []column.Column{label}, Weight: -1}, in.last)
	return only
}

// Split cuts a chunk into chunks of at most most lines.
func (c Chunk) Split(most int) iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		for len(c.Text) > 0 {
			end, lines := 0, 0
			for ; lines < most && end < len(c.Text); lines++ {
				end += lineLength(c.Text[end:])
			}
			if !yield(Chunk{Text: c.Text[:end], line: c.line}) {
				return
			}
			c.Text, c.line = c.Text[end:], c.line+int64(lines)
		}
	}
}

// parse returns a batch with the pairs of the selected features. Its columns are the label, if it is read, and the
// kept columns if in.Plain is set.
func (in *Svmlight) parse(path string, c Chunk) (*column.Batch, error) {
	rows, _ := in.spare.Get().(*column.Pairs)
	if rows == nil {
		const perLine, perPair = 32, 4 // bytes; there is room for all pairs
		lines, most := 1+len(c.Text)/perLine, 1+len(c.Text)/perPair
		rows = &column.Pairs{Labels: make([]float64, 0, lines), Ends: make([]int32, 1, 1+lines), Index: make([]int32, 0, most),
			Value: make([]float64, 0, most), Home: &in.spare}
	}
	rows.Labels, rows.Ends, rows.Index, rows.Value = rows.Labels[:0], rows.Ends[:1], rows.Index[:0], rows.Value[:0]
	out, _ := in.rejects.Of(path)
	for n, line := range c.rows(out, true) {
		if err := in.row(line, rows); err != nil {
			return nil, column.LineError(path, n, err)
		}
	}
	b := &column.Batch{File: path, Rows: int64(len(rows.Labels)), Pairs: rows}
	if in.Roles.Label >= 0 {
		b.Columns = []arrow.Array{column.Floats(rows.Labels)}
	}
	if in.Plain {
		in.handOn(b)
	}
	return b, nil
}

// handOn adds the kept columns to a batch of pairs, and removes the pairs that aren't features.
func (in *Svmlight) handOn(b *column.Batch) {
	p, features, rows := b.Pairs, int32(len(in.Roles.Features)), len(b.Pairs.Labels)
	values := make([]float64, rows*len(in.Roles.Keep)) // the columns outlive the pairs
	for k, i := range in.Roles.Keep {
		if own := values[k*rows : (k+1)*rows]; i == in.label {
			copy(own, p.Labels)
		}
	}
	for r := range rows {
		for i := p.Ends[r]; len(values) > 0 && in.places.Numbered == 0 && i < p.Ends[r+1]; i++ {
			if k := in.kept[p.Index[i]]; k >= 0 {
				values[int(k)*rows+r] = p.Value[i]
			}
		}
	}
	for k := range in.Roles.Keep {
		b.Columns = append(b.Columns, column.Floats(values[k*rows:(k+1)*rows]))
	}
	if len(in.Roles.Keep) == 0 || len(in.Roles.Columns) == int(features) || in.places.Numbered > 0 {
		return
	}
	n, from := int32(0), int32(0)
	for r, to := range p.Ends[1:] {
		for ; from < to; from++ {
			if p.Index[from] < features {
				p.Index[n], p.Value[n] = p.Index[from], p.Value[from]
				n++
			}
		}
		p.Ends[r+1] = n
	}
}

func (in *Svmlight) dense(b *column.Batch) *column.Batch {
	columns := b.Pairs.Dense(len(in.Roles.Columns))
	if in.label >= 0 {
		copy(columns[in.label], b.Pairs.Labels)
	}
	all := &column.Batch{File: b.File, Rows: b.Rows}
	for _, col := range columns {
		all.Columns = append(all.Columns, column.Floats(col))
	}
	return all
}

// check finds the lines of a chunk that are no rows. most is the largest index that a line may have.
func (in *Svmlight) check(path string, c Chunk, most int) (rows int64, rejects []column.Reject, err error) {
	n := c.line
	seen, tried := extent{most: most}, &column.Pairs{Ends: []int32{0}}
	for line := range bytes.Lines(c.Text) {
		row, _, _ := bytes.Cut(line, []byte{'#'})
		if row = bytes.TrimSpace(row); len(row) > 0 {
			tried.Labels, tried.Ends, tried.Index, tried.Value = tried.Labels[:0], tried.Ends[:1], tried.Index[:0], tried.Value[:0]
			err := in.row(row, tried)
			if err == nil && !in.fewer {
				err = seen.Add(row)
			}
			if err == nil {
				rows++
			} else {
				rejects = append(rejects, rejectOf(path, n, line, err))
			}
		}
		n++
	}
	return rows, rejects, nil
}

// lines returns the breaks of a format whose lines are records.
func lines(int) Breaks { return Breaks{} }
