package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/schema"
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
	sel     *chosen
	none    bool          // there are no rows, but a header
	rounded []atomic.Bool // the columns in which a whole number was read as another
	memory  int64         // that a pass may take; 0: no bound
}

// A csvFile is what is known of a file from its first rows.
type csvFile struct {
	path string
	dialect
	place []int // for each column its number in the selection, or -1
	nulls *nullWords
	rows  int // among the first
}

func openCSV(ctx context.Context, sources []*source, req request, opt textOptions, p pool) (*csvInput, error) {
	in := &csvInput{sources: sources}
	nulls := newNullWords(req.words)
	files, first, err := dialects(sources, opt)
	if err != nil {
		return nil, err
	}
	var schema []column
	for i, f := range files {
		f.nulls = nulls
		var bound []column
		if i == 0 {
			if schema, err = f.infer(first.textChunk); err != nil {
				return nil, err
			}
			asModel(req.spec, schema)
			if in.sel, err = req.choose.first(f.path, schema, true); err != nil {
				return nil, err
			}
			if req.live {
				keepLive(in.sel)
			}
			bound = in.sel.columns
		} else if bound, err = req.choose.further(f.path, f.typed(schema)); err != nil {
			return nil, err
		}
		f.place = slices.Repeat([]int{-1}, len(f.names))
		for k, c := range bound {
			f.place[c.index] = k
		}
		in.files = append(in.files, f)
	}
	in.rounded = make([]atomic.Bool, len(in.sel.columns))
	if in.none = first.all && in.files[0].rows == 0; first.all {
		return in, nil
	}
	return in, in.findIntegers(ctx, p, req.progress)
}

// dialects finds out how each of the files is written. The head is the first chunk of the first; all tells whether that is all there is.
func dialects(sources []*source, text textOptions) (files []csvFile, first firstRows, err error) {
	for i, s := range sources {
		size := headBytes
		if i == 0 {
			size = sampleBytes
		}
		head, all, err := headOf(s, size)
		if err != nil {
			return nil, first, err
		}
		if i == 0 {
			first = firstRows{head, all && len(sources) == 1}
		}
		f := csvFile{path: s.path}
		f.dialect, err = detect(s.path, head, text)
		if err == nil && i > 0 && f.guessed {
			like := text
			like.Header = map[bool]string{true: "yes", false: "no"}[files[0].header]
			f.dialect, err = detect(s.path, head, like)
		}
		if err != nil {
			return nil, first, err
		}
		files = append(files, f)
	}
	return files, first, nil
}

// firstRows are the first rows of the first file.
type firstRows struct {
	textChunk
	all bool // there are no others
}

// headOf returns the first chunk of a source, and whether that is all of it.
func headOf(s *source, size int) (c textChunk, all bool, err error) {
	r, err := s.open()
	if err != nil {
		return c, false, err
	}
	defer r.Close()
	cutter := newChunker(r, true, size, nil)
	cutter.live, cutter.least = s.live(), decisive
	if c, err = cutter.next(); err == io.EOF {
		err = nil
	}
	if err == nil && len(bytes.TrimSpace(c.text)) == 0 {
		err = fmt.Errorf("%s: the file is empty: write it again", s.path)
	}
	return c, cutter.end, err
}

// asModel gives the columns of a model the types that it takes, where the first rows would do for them too: digits may be text, and fields
// that are all missing may be numbers.
func asModel(spec *schema.Spec, cols []column) {
	if spec == nil {
		return
	}
	types := map[string]arrow.DataType{}
	for _, in := range spec.Columns() {
		switch in.Kind {
		case schema.NumberColumn:
			types[in.Name] = arrow.PrimitiveTypes.Float64
		case schema.OneHotColumn, schema.HashColumn:
			types[in.Name] = map[string]arrow.DataType{"": arrow.BinaryTypes.String, schema.Number.String(): arrow.PrimitiveTypes.Float64,
				schema.Bool.String(): arrow.FixedWidthTypes.Boolean}[in.Values]
		}
	}
	for i := range cols {
		c := &cols[i]
		if typ := types[c.name]; typ != nil && (c.empty || typ.ID() == arrow.STRING) {
			c.typ, c.desc = typ, describe(typ)
		}
	}
}

// keepLive gives columns that are handed on types that later rows fit too, since only the first few are known: text, or numbers where the model
// wants those.
func keepLive(s *chosen) {
	for _, k := range s.keep {
		c := &s.columns[k]
		switch {
		case !slices.Contains(s.features, k):
			c.typ = arrow.BinaryTypes.String
		case c.typ.ID() == arrow.INT64:
			c.typ = arrow.PrimitiveTypes.Float64
		}
		c.desc = describe(c.typ)
	}
}

// decisive tells whether the first records of a file are enough to tell how it is written: two, or one that is no header.
func decisive(text []byte) bool {
	n := 0
	for fields, err := range records(textChunk{text: text, line: 1}, detectComma(textChunk{text: text, line: 1})) {
		if n++; err != nil || n == 2 || slices.ContainsFunc(fields, csvField.typed) {
			return true
		}
	}
	return false
}

// findIntegers finds out whether the columns of integers that are to be handed on are that to their end. Otherwise they are
// numbers: what is handed on has one type. Features and labels are numbers either way, and so take no pass for that.
func (in *csvInput) findIntegers(ctx context.Context, p pool, progress func(rows, total int64)) error {
	var whole []int
	for _, k := range in.sel.keep {
		if in.sel.columns[k].typ.ID() == arrow.INT64 {
			whole = append(whole, k)
		}
	}
	if len(whole) == 0 {
		return nil
	}
	rows := int64(0)
	for b, err := range in.only(whole).batches(ctx, p, memory.DefaultAllocator) {
		if err != nil {
			return err
		}
		for i, a := range b.columns {
			if c := &in.sel.columns[whole[i]]; a.DataType().ID() == arrow.FLOAT64 {
				c.typ, c.desc = a.DataType(), describe(a.DataType())
			}
		}
		b.release()
		if rows += b.rows; progress != nil {
			progress(rows, -1)
		}
	}
	return nil
}

// only returns the input with some of the selected columns, by their numbers.
func (in *csvInput) only(columns []int) *csvInput {
	sub := &csvInput{sources: in.sources, files: slices.Clone(in.files), sel: &chosen{}, rounded: make([]atomic.Bool, len(columns)),
		memory: in.memory}
	for _, k := range columns {
		sub.sel.columns = append(sub.sel.columns, in.sel.columns[k])
	}
	for i := range sub.files {
		f := &sub.files[i]
		f.place = slices.Clone(f.place)
		for n, k := range f.place {
			f.place[n] = slices.Index(columns, k)
		}
	}
	return sub
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

func (in *csvInput) labelOnly() input { return in }
func (in *csvInput) name() string     { return nameOf(in.sources) }
func (in *csvInput) total() int64     { return -1 }
func (in *csvInput) chosen() *chosen  { return in.sel }
func (in *csvInput) lastPass()        { lastPass(in.sources) }

func (in *csvInput) notes() (notes []string) {
	if f := in.files[0]; f.guessed && f.header {
		notes = append(notes, f.path+": all is text, and the first line is taken for the names of the columns (use --header no if it "+
			"is data)")
	}
	for _, c := range in.sel.columns {
		if c.advice != "" {
			notes = append(notes, c.advice)
		}
	}
	notes = append(notes, in.sel.odd...)
	for k := range in.rounded {
		if in.rounded[k].Load() {
			notes = append(notes, fmt.Sprintf("column %q: whole numbers beyond 2^53 are rounded, since not all are 64-bit integers",
				in.sel.columns[k].name))
		}
	}
	return notes
}

func (in *csvInput) batches(ctx context.Context, p pool, _ memory.Allocator) iter.Seq2[*batch, error] {
	return inOrder(ctx, p, in.sources[0].ahead(in.memory), chunks(in.sources, true, chunkBytes, nil, func(file int, c textChunk) iter.Seq[job] {
		return one(c, func() (*batch, error) { return in.parse(&in.files[file], c) })
	}))
}

// parse reads the selected columns of a chunk.
func (in *csvInput) parse(f *csvFile, c textChunk) (*batch, error) {
	s := scanner{text: c.text, line: c.line, comma: f.comma}
	if c.first && f.header {
		s.skipRecord()
	}
	// A record has a line break and a delimiter after each field but the last.
	most := min(bytes.Count(c.text, []byte{'\n'})+1, len(c.text)/len(f.names)+1)
	values := make([]cells, len(in.sel.columns))
	for k, col := range in.sel.columns {
		values[k] = newCells(col.typ, most, f.nulls)
	}
	b := &batch{file: f.path}
	for s.record() {
		if err := f.row(&s, values); err != nil {
			return nil, err
		}
		b.rows++
	}
	for k := range values {
		b.columns = append(b.columns, values[k].array())
		if values[k].rounded {
			in.rounded[k].Store(true)
		}
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
				if f.nulls.number(v) {
					to[k].addNull()
				} else {
					to[k].numbers = append(to[k].numbers, v)
				}
				continue
			}
		}
		if k >= 0 && to[k].typ == arrow.INT64 {
			if v, ok := s.integer(); ok {
				if f.nulls.number(float64(v)) {
					to[k].addNull()
				} else {
					to[k].whole = append(to[k].whole, v)
				}
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
// compressed, and of standard input.
func (in *csvInput) most() (rows int64) {
	for _, s := range in.sources {
		if s.stdin != nil {
			return -1
		}
		if compressed, err := s.compressed(); compressed || err != nil {
			return -1
		}
		rows += s.info.Size()/int64(max(2, 2*len(in.sel.columns)-1)) + 1
	}
	return rows
}
