package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/schema"
)

// svmlightLabel is the name of the column of the labels; the feature of index 7 is named f7.
const svmlightLabel = "label"

const (
	svmlightBytes = 256 << 10 // of text that is parsed at a time, about
	denseBytes    = 4 << 20   // of dense columns that are made of lines at a time, about
)

// svmlightInput is the selected columns of svmlight files: what a line doesn't name is 0.
type svmlightInput struct {
	sources  []*source
	sel      *chosen
	rows     int64     // -1 where nobody counted
	least    int       // index that a feature may have
	label    int       // its number in the selection, or -1
	place    []int     // for each index its number in the selection, or -1
	fewer    bool      // the columns are a model's: lines may have more
	plain    bool      // batches have pairs, and no columns but the label
	texts    sync.Pool // *[]byte, chunks to use again: new memory takes longer to get than to fill
	spare    sync.Pool // *pairs
	memory   int64     // that a pass may take; 0: no bound
	sawQuery atomic.Bool
	sawMore  atomic.Bool
	sawZero  atomic.Bool
}

func openSvmlight(ctx context.Context, sources []*source, req request, opt textOptions, p pool) (*svmlightInput, error) {
	in := &svmlightInput{sources: sources, rows: -1, fewer: req.spec != nil && len(req.spec.Features) > 0}
	var seen extent
	if in.fewer {
		seen = modelExtent(req.spec.Features)
	} else {
		var err error
		if seen, err = in.measure(ctx, p); err != nil {
			return nil, err
		}
		if in.rows = seen.rows; in.rows == 0 {
			return nil, fmt.Errorf("%s: no rows: name a file that has some", in.name())
		}
	}
	first := 1
	if opt.IndexBase == "0" || seen.zero && opt.IndexBase != "1" {
		first = 0
	}
	if opt.IndexBase == "1" {
		in.least = 1
	}
	number := arrow.PrimitiveTypes.Float64
	cols := []column{{name: svmlightLabel, typ: number, desc: describe(number)}}
	for i := first; i <= seen.last; i++ {
		cols = append(cols, column{name: fmt.Sprint("f", i), typ: number, desc: describe(number), index: i})
	}
	sel, err := req.choose.first(sources[0].path, cols, true)
	if err != nil {
		return nil, err
	}
	in.read(sel, seen.last)
	// Features must be the numbers in the file, feature k of column k, and the label that of the lines.
	others := 0
	if in.label >= 0 {
		others = 1
	}
	in.plain = sel.plain && in.label == sel.label && len(sel.keep) == 0 && len(sel.columns) == len(sel.features)+others
	return in, nil
}

// read sets the columns that are read; last is the last index that a feature has.
func (in *svmlightInput) read(sel *chosen, last int) {
	in.sel, in.place, in.label = sel, slices.Repeat([]int{-1}, last+1), -1
	for k, c := range sel.columns {
		if c.name == svmlightLabel {
			in.label = k
		} else {
			in.place[c.index] = k
		}
	}
}

// An extent is what lines of svmlight hold.
type extent struct {
	rows int64
	zero bool // the index 0 is there
	last int  // index
}

// modelExtent returns the extent of the features of a model, of those that have indices.
func modelExtent(features []string) (e extent) {
	for _, name := range features {
		if i, err := strconv.Atoi(name[min(1, len(name)):]); err == nil && i >= 0 && i <= schema.MaxFeatures &&
			name == fmt.Sprint("f", i) {
			e.zero = e.zero || i == 0
			e.last = max(e.last, i)
		}
	}
	return e
}

// measure finds the extent of all sources. It looks at the first and last pair of a line only, since indices ascend;
// that they do is checked when the line is parsed.
func (in *svmlightInput) measure(ctx context.Context, p pool) (all extent, err error) {
	var mu sync.Mutex
	jobs := chunks(in.sources, false, svmlightBytes, &in.texts, func(file int, c textChunk) iter.Seq[job] {
		return one(c, func() (*batch, error) {
			defer c.recycle(&in.texts)
			seen, err := measured(in.sources[file].path, c)
			mu.Lock()
			defer mu.Unlock()
			all.merge(seen)
			return &batch{}, err
		})
	})
	for _, err := range inOrder(ctx, p, in.memory, jobs) {
		if err != nil {
			return all, err
		}
	}
	return all, ctx.Err()
}

// measured returns the extent of a chunk.
func measured(path string, c textChunk) (seen extent, err error) {
	n := c.line
	for line := range bytes.Lines(c.text) {
		if err := seen.add(line); err != nil {
			return seen, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		n++
	}
	return seen, nil
}

func (e *extent) merge(other extent) {
	e.rows += other.rows
	e.zero = e.zero || other.zero
	e.last = max(e.last, other.last)
}

func (e *extent) add(line []byte) error {
	line, _, _ = bytes.Cut(line, []byte{'#'})
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	e.rows++
	e.zero = e.zero || beginsAtZero(line)
	colon := bytes.LastIndexByte(line, ':')
	if colon < 0 {
		return nil
	}
	start := colon
	for start > 0 && line[start-1]-'0' < 10 {
		start--
	}
	last, err := strconv.Atoi(string(line[start:colon]))
	if errors.Is(err, strconv.ErrRange) || last > schema.MaxFeatures {
		return fmt.Errorf("index %s: a row has at most %d features: leave the larger indices out", line[start:colon],
			schema.MaxFeatures)
	}
	e.last = max(e.last, last)
	return nil
}

// beginsAtZero tells whether the first index of a line is 0.
func beginsAtZero(line []byte) bool {
	for rest := line; ; {
		rest = bytes.TrimLeft(rest[len(word(rest)):], blankBytes)
		if !bytes.HasPrefix(rest, []byte("qid:")) {
			return bytes.HasPrefix(bytes.TrimLeft(rest, "0"), []byte{':'})
		}
	}
}

// looksSvmlight tells whether text is svmlight: in the first line with a pair, pairs are all that follows the label.
func looksSvmlight(text []byte) bool {
	for line := range bytes.Lines(text) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		tokens := bytes.Fields(line)
		if len(tokens) < 2 {
			if len(tokens) == 1 && bytes.ContainsAny(tokens[0], ",;|\"") {
				return false
			}
			continue
		}
		for _, t := range tokens[1:] {
			index, value, ok := bytes.Cut(t, []byte{':'})
			if !ok || len(index) == 0 || len(value) == 0 || index[0]-'0' >= 10 && string(index) != "qid" {
				return false
			}
		}
		return true
	}
	return false
}

func (in *svmlightInput) name() string    { return nameOf(in.sources) }
func (in *svmlightInput) total() int64    { return in.rows }
func (in *svmlightInput) most() int64     { return in.rows }
func (in *svmlightInput) chosen() *chosen { return in.sel }
func (in *svmlightInput) lastPass()       { lastPass(in.sources) }

func (in *svmlightInput) notes() (notes []string) {
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

func (in *svmlightInput) batches(ctx context.Context, p pool, _ memory.Allocator) iter.Seq2[*batch, error] {
	return inOrder(ctx, p, in.sources[0].ahead(in.memory), chunks(in.sources, false, svmlightBytes, &in.texts, func(file int, c textChunk) iter.Seq[job] {
		path := in.sources[file].path
		if in.plain {
			return one(c, func() (*batch, error) {
				defer c.recycle(&in.texts)
				return in.parse(path, c)
			})
		}
		most := max(1, denseBytes/(8*max(1, len(in.sel.columns))))
		return func(yield func(job) bool) {
			for lines := range c.split(most) {
				dense := func() (*batch, error) {
					b, err := in.parse(path, lines)
					if err != nil {
						return nil, err
					}
					defer b.release()
					return in.dense(b), nil
				}
				if !yield(job{max(denseBytes, 8*int64(len(in.sel.columns))) + parsedBytes(len(lines.text)), dense}) {
					return
				}
			}
		}
	}))
}

// labelOnly returns the input with the label as its only column: no dense row is made.
func (in *svmlightInput) labelOnly() input {
	label := in.sel.columns[in.sel.label]
	only := &svmlightInput{sources: in.sources, rows: in.rows, least: in.least, fewer: in.fewer, memory: in.memory}
	only.read(&chosen{columns: []column{label}, weight: -1}, len(in.place)-1)
	return only
}

// split cuts a chunk into chunks of at most that many lines.
func (c textChunk) split(most int) iter.Seq[textChunk] {
	return func(yield func(textChunk) bool) {
		for len(c.text) > 0 {
			end, lines := 0, 0
			for lines < most && end < len(c.text) {
				n := bytes.IndexByte(c.text[end:], '\n')
				if n < 0 {
					n = len(c.text) - end - 1
				}
				end += n + 1
				lines++
			}
			if !yield(textChunk{text: c.text[:end], line: c.line}) {
				return
			}
			c.text, c.line = c.text[end:], c.line+int64(lines)
		}
	}
}

// A pairs is the labels and the pairs of rows.
type pairs struct {
	labels []float64
	ends   []int32 // of each row's pairs, after a 0
	index  []int32
	value  []float64

	place []int // for each index the number of its feature
	home  *sync.Pool
}

// parse returns a batch whose only column is the label, if that is read. Its pairs are those that are wanted.
func (in *svmlightInput) parse(path string, c textChunk) (*batch, error) {
	rows, _ := in.spare.Get().(*pairs)
	if rows == nil {
		const perLine, perPair = 32, 5 // bytes, to begin with
		lines, most := 1+len(c.text)/perLine, 1+len(c.text)/perPair
		rows = &pairs{labels: make([]float64, 0, lines), ends: make([]int32, 1, 1+lines), index: make([]int32, 0, most),
			value: make([]float64, 0, most), place: in.place, home: &in.spare}
	}
	rows.labels, rows.ends, rows.index, rows.value = rows.labels[:0], rows.ends[:1], rows.index[:0], rows.value[:0]
	n := c.line
	for line := range bytes.Lines(c.text) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := in.row(line, rows); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
			}
		}
		n++
	}
	b := &batch{file: path, rows: int64(len(rows.labels)), columns: make([]arrow.Array, len(in.sel.columns)), pairs: rows}
	if in.label >= 0 {
		b.columns[in.label] = numbers(rows.labels)
	}
	return b, nil
}

// dense returns a batch with all columns.
func (in *svmlightInput) dense(b *batch) *batch {
	n, rows := int(b.rows), b.pairs
	columns := make([][]float64, len(in.sel.columns))
	values := make([]float64, n*len(columns))
	for k := range columns {
		columns[k] = values[k*n : (k+1)*n]
	}
	if in.label >= 0 {
		copy(columns[in.label], rows.labels)
	}
	for r := range n {
		for i := rows.ends[r]; i < rows.ends[r+1]; i++ {
			columns[in.place[rows.index[i]]][r] = rows.value[i]
		}
	}
	all := &batch{file: b.file, rows: b.rows}
	for _, col := range columns {
		all.columns = append(all.columns, numbers(col))
	}
	return all
}

func numbers(v []float64) arrow.Array {
	data := array.NewData(arrow.PrimitiveTypes.Float64, len(v), []*memory.Buffer{nil,
		memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(v))}, nil, 0, 0)
	defer data.Release()
	return array.NewFloat64Data(data)
}

// row adds a line to rows.
func (in *svmlightInput) row(line []byte, rows *pairs) error {
	label, rest := numberAt(line)
	if rest == nil {
		return fmt.Errorf("the label %s is not a number: write one label in front of each line", quote(word(line)))
	}
	last := -1
	for {
		for len(rest) > 0 && isBlank(rest[0]) {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			break
		}
		pair := rest
		index, digits := 0, 0
		for digits < len(rest) && digits < 9 && rest[digits]-'0' < 10 {
			index = index*10 + int(rest[digits]-'0')
			digits++
		}
		if bytes.HasPrefix(rest, []byte("qid:")) && last < 0 {
			in.sawQuery.Store(true)
			rest = rest[len(word(rest)):]
			continue
		}
		if digits == 0 || digits == len(rest) || rest[digits] != ':' {
			return fmt.Errorf("%s is no pair of an index and a number, like 7:0.5: mend it", quote(word(pair)))
		}
		var v float64
		if v, rest = numberAt(rest[digits+1:]); rest == nil {
			return fmt.Errorf("%s is no pair of an index and a number, like 7:0.5: mend it", quote(word(pair)))
		}
		switch {
		case index <= last:
			return fmt.Errorf("index %d follows %d: sort the indices of each line, each once", index, last)
		case index < in.least:
			return fmt.Errorf("index %d, though the first is %d: choose another --index-base", index, in.least)
		case index < len(in.place) && in.place[index] >= 0:
			rows.index, rows.value = append(rows.index, int32(index)), append(rows.value, v)
		case index >= len(in.place) && in.fewer:
			in.sawMore.Store(true)
		case index == 0 && in.fewer:
			in.sawZero.Store(true)
		}
		last = index
	}
	rows.labels, rows.ends = append(rows.labels, label), append(rows.ends, int32(len(rows.index)))
	return nil
}

// numberAt reads the number that text begins with, up to a blank, and returns what follows it, or nil if it is none.
func numberAt(text []byte) (v float64, rest []byte) {
	if len(text) > 1 && text[0]-'0' < 10 && isBlank(text[1]) { // as most are
		return float64(text[0] - '0'), text[1:]
	}
	v, n := parseDecimal(text)
	if n > 0 && (n == len(text) || isBlank(text[n])) {
		return v, text[n:]
	}
	w := word(text)
	v, err := parseNumber(w)
	if err != nil {
		return 0, nil
	}
	return v, text[len(w):]
}

// word returns text up to the first blank.
func word(text []byte) []byte {
	if i := slices.IndexFunc(text, isBlank); i >= 0 {
		return text[:i]
	}
	return text
}

// blankBytes are those of isBlank but the line break.
const blankBytes = " \t\v\f\r"

func isBlank(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }
