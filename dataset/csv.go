package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// sampleBytes is how much of the first file decides on the types of the columns, and headBytes how much of each file on
// its dialect.
const (
	sampleBytes = 4 << 20
	headBytes   = 64 << 10
)

// csvInput is the selected columns of CSV files.
type csvInput struct {
	sources []*source
	files   []csvFile
	sel     *selection
}

// A csvFile is what is known of a file from its first rows.
type csvFile struct {
	path string
	dialect
	place []int // for each column its number in the selection, or -1
}

func openCSV(sources []*source, opt Options) (input, error) {
	in := &csvInput{sources: sources}
	var schema []column
	for i, s := range sources {
		size := headBytes
		if i == 0 {
			size = sampleBytes
		}
		head, err := s.head(size)
		if err != nil {
			return nil, err
		}
		f := csvFile{path: s.path}
		if f.dialect, err = detect(s.path, head, opt.Text); err != nil {
			return nil, err
		}
		var bound []column
		if i == 0 {
			if schema, err = f.infer(s.path, head); err != nil {
				return nil, err
			}
			if in.sel, err = choose(newSchema(s.path, schema), namedLabel(opt, schema)); err != nil {
				return nil, err
			}
			bound = in.sel.columns
		} else if bound, err = in.sel.bind(newSchema(s.path, f.typed(schema))); err != nil {
			return nil, err
		}
		f.place = slices.Repeat([]int{-1}, len(f.names))
		for k, c := range bound {
			f.place[c.index] = k
		}
		in.files = append(in.files, f)
	}
	return in, nil
}

// head returns the first chunk of a source.
func (s *source) head(size int) (textChunk, error) {
	r, err := s.open()
	if err != nil {
		return textChunk{}, err
	}
	defer r.Close()
	c, err := newChunker(r, true, size).next()
	if err == io.EOF {
		err = nil
	}
	if err == nil && len(bytes.TrimSpace(c.text)) == 0 {
		err = fmt.Errorf("%s: the file is empty: write it again", s.path)
	}
	return c, err
}

// typed returns the columns of a further file: those that the first one has too are read as there.
func (d dialect) typed(first []column) []column {
	types := map[string]column{}
	for _, c := range first {
		types[c.name] = c
	}
	cols := make([]column, len(d.names))
	for i, name := range d.names {
		cols[i] = types[name]
		cols[i].name, cols[i].index = name, i
	}
	return cols
}

// namedLabel gives a label that is the number of a column, or "last", the column's name.
func namedLabel(opt Options, cols []column) Options {
	if opt.Label == "" || slices.ContainsFunc(cols, func(c column) bool { return c.name == opt.Label }) {
		return opt
	}
	n, err := strconv.Atoi(opt.Label)
	if opt.Label == "last" {
		n, err = len(cols), nil
	}
	if err == nil && 1 <= n && n <= len(cols) {
		opt.Label = cols[n-1].name
	}
	return opt
}

func (in *csvInput) labelOnly() input      { return in }
func (in *csvInput) name() string          { return nameOf(in.sources) }
func (in *csvInput) total() int64          { return -1 }
func (in *csvInput) selection() *selection { return in.sel }
func (in *csvInput) notes() []string       { return nil }

func (in *csvInput) batches(ctx context.Context, p pool, _ memory.Allocator) iter.Seq2[*batch, error] {
	return inOrder(ctx, p, chunks(in.sources, true, func(file int, c textChunk) iter.Seq[job] {
		return func(yield func(job) bool) {
			yield(func() (*batch, error) { return in.files[file].parse(c, in.sel.columns) })
		}
	}))
}

// parse reads the selected columns of a chunk.
func (f *csvFile) parse(c textChunk, columns []column) (*batch, error) {
	s := scanner{text: c.text, line: c.line, comma: f.comma}
	if c.first && f.header {
		s.skipRecord()
	}
	// A record has a line break and a delimiter after each field but the last.
	most := min(bytes.Count(c.text, []byte{'\n'})+1, len(c.text)/len(f.names)+1)
	values := make([]cells, len(columns))
	for k, col := range columns {
		values[k] = newCells(col.typ, most)
	}
	b := &batch{file: f.path}
	for s.record() {
		if err := f.row(&s, values); err != nil {
			return nil, err
		}
		b.rows++
	}
	for k, col := range columns {
		b.columns = append(b.columns, values[k].array(col.typ))
	}
	return b, nil
}

// row reads a record into cells.
func (f *csvFile) row(s *scanner, to []cells) error {
	first, n := s.line, 0
	for ; s.more; n++ {
		k := -1
		if n < len(f.place) {
			k = f.place[n]
		}
		if k >= 0 && to[k].typ == arrow.FLOAT64 {
			if v, ok := s.number(); ok {
				to[k].numbers = append(to[k].numbers, v)
				continue
			}
		}
		line := s.line
		text, quoted, err := s.field()
		if err == nil && k >= 0 {
			err = to[k].add(text, quoted)
		}
		switch {
		case err == nil:
		case n < len(f.names):
			return fmt.Errorf("%s: line %d, column %q: %w", f.path, line, f.names[n], err)
		default:
			return fmt.Errorf("%s: line %d: %w", f.path, line, err)
		}
	}
	if n != len(f.names) {
		return fmt.Errorf("%s: line %d: the number of fields is %d, but %d in the first line: mend the line", f.path, first, n, len(f.names))
	}
	return nil
}

// most returns no fewer rows than there are, each of whose columns takes a character and a separator; -1 where files are
// compressed.
func (in *csvInput) most() (rows int64) {
	for _, s := range in.sources {
		size := int64(len(s.data))
		if s.info != nil {
			size = s.info.Size()
		}
		if compressed, err := s.compressed(); compressed || err != nil {
			return -1
		}
		rows += size/int64(max(2, 2*len(in.sel.columns)-1)) + 1
	}
	return rows
}
