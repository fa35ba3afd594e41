package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// svmlightLabel is the name of the column of the labels; the feature of index 7 is named f7.
const svmlightLabel = "label"

// ErrNoWeights is about files that can't have a column of weights.
var ErrNoWeights = errors.New("svmlight files have no column of weights: convert them to another format, with such a column")

// denseBytes is about how much of dense columns is made of lines at a time.
const denseBytes = 4 << 20

// svmlightInput is the selected columns of svmlight files, dense: what a line doesn't name is 0.
type svmlightInput struct {
	sources  []*source
	sel      *selection
	rows     int64 // -1 where nobody counted
	least    int   // index that a feature may have
	label    int   // its number in the selection, or -1
	place    []int // for each index its number in the selection, or -1
	fewer    bool  // the columns are a model's: lines may have more
	sawQuery atomic.Bool
	sawMore  atomic.Bool
	sawZero  atomic.Bool
}

func openSvmlight(ctx context.Context, sources []*source, opt Options) (input, error) {
	if opt.SampleWeight != "" {
		return nil, fmt.Errorf("%s: %w", sources[0].path, ErrNoWeights)
	}
	in := &svmlightInput{sources: sources, rows: -1, fewer: opt.Spec != nil && len(opt.Spec.Features) > 0}
	var seen extent
	if in.fewer {
		seen = modelExtent(opt.Spec.Features)
	} else {
		var err error
		if seen, err = measure(ctx, sources); err != nil {
			return nil, err
		}
		if in.rows = seen.rows; in.rows == 0 {
			return nil, fmt.Errorf("%s: no rows: name a file that has some", in.name())
		}
	}
	first := 1
	if opt.Text.IndexBase == "0" || seen.zero && opt.Text.IndexBase != "1" {
		first = 0
	}
	if opt.Text.IndexBase == "1" {
		in.least = 1
	}
	number := arrow.PrimitiveTypes.Float64
	cols := []column{{name: svmlightLabel, typ: number, desc: describe(number)}}
	for i := first; i <= seen.last; i++ {
		cols = append(cols, column{name: fmt.Sprint("f", i), typ: number, desc: describe(number), index: i})
	}
	sel, err := choose(newSchema(sources[0].path, cols), namedLabel(opt, cols))
	if err != nil {
		return nil, err
	}
	in.read(sel, seen.last)
	return in, nil
}

// read sets the columns that are read; last is the last index that a feature has.
func (in *svmlightInput) read(sel *selection, last int) {
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
		if i, err := strconv.Atoi(name[min(1, len(name)):]); err == nil && i >= 0 && i < maxTextColumns &&
			name == fmt.Sprint("f", i) {
			e.zero = e.zero || i == 0
			e.last = max(e.last, i)
		}
	}
	return e
}

// measure finds the extent of all sources. It looks at the first and last pair of a line only, since indices ascend;
// that they do is checked when the line is parsed.
func measure(ctx context.Context, sources []*source) (e extent, err error) {
	for _, s := range sources {
		for c, err := range s.chunks(false, chunkBytes) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return e, err
			}
			n := c.line
			for line := range bytes.Lines(c.text) {
				if err := e.add(line); err != nil {
					return e, fmt.Errorf("%s: line %d: %w", s.path, n, err)
				}
				n++
			}
		}
	}
	return e, nil
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
	if errors.Is(err, strconv.ErrRange) || last >= maxTextColumns {
		return fmt.Errorf("index %s: dense rows have at most %d features: leave the larger indices out", line[start:colon],
			maxTextColumns)
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

func (in *svmlightInput) name() string          { return nameOf(in.sources) }
func (in *svmlightInput) total() int64          { return in.rows }
func (in *svmlightInput) selection() *selection { return in.sel }

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
	most := max(1, denseBytes/(8*max(1, len(in.sel.columns))))
	return inOrder(ctx, p, chunks(in.sources, false, func(file int, c textChunk) iter.Seq[job] {
		path := in.sources[file].path
		return func(yield func(job) bool) {
			for lines := range c.split(most) {
				if !yield(func() (*batch, error) { return in.parse(path, lines) }) {
					return
				}
			}
		}
	}))
}

// labelOnly returns the input with the label as its only column: no dense row is made.
func (in *svmlightInput) labelOnly() input {
	label := in.sel.columns[in.sel.label]
	only := &svmlightInput{sources: in.sources, rows: in.rows, least: in.least, fewer: in.fewer}
	only.read(&selection{columns: []column{label}, weight: -1}, len(in.place)-1)
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

// parse reads the selected columns of lines.
func (in *svmlightInput) parse(path string, c textChunk) (*batch, error) {
	lines := bytes.Count(c.text, []byte{'\n'}) + 1
	columns := make([][]float64, len(in.sel.columns))
	values := make([]float64, lines*len(columns))
	for k := range columns {
		columns[k] = values[k*lines : (k+1)*lines]
	}
	rows, n := 0, c.line
	for line := range bytes.Lines(c.text) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := in.row(line, columns, rows); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
			}
			rows++
		}
		n++
	}
	b := &batch{file: path, rows: int64(rows)}
	for _, col := range columns {
		data := array.NewData(arrow.PrimitiveTypes.Float64, rows, []*memory.Buffer{nil,
			memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(col[:rows]))}, nil, 0, 0)
		b.columns = append(b.columns, array.NewFloat64Data(data))
		data.Release()
	}
	return b, nil
}

// row reads a line into row r of columns.
func (in *svmlightInput) row(line []byte, columns [][]float64, r int) error {
	label, rest := numberAt(line)
	if rest == nil {
		return fmt.Errorf("the label %s is not a number: write one label in front of each line", quote(word(line)))
	}
	if in.label >= 0 {
		columns[in.label][r] = label
	}
	for last := -1; ; {
		if rest = bytes.TrimLeft(rest, blankBytes); len(rest) == 0 {
			return nil
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
			columns[in.place[index]][r] = v
		case index >= len(in.place) && in.fewer:
			in.sawMore.Store(true)
		case index == 0 && in.fewer:
			in.sawZero.Store(true)
		}
		last = index
	}
}

// numberAt reads the number that text begins with, up to a blank, and returns what follows it, or nil if it is none.
func numberAt(text []byte) (v float64, rest []byte) {
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
