package transform

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/words"
	"halfspace/schema"
)

// pieceTexts is the number of texts whose words one goroutine counts at a time.
const pieceTexts = 256

// A wordCounter counts in how many rows of a column each bucket of words is, and keeps the first word of each bucket.
type wordCounter struct {
	of    *schema.Words
	rows  []int64           // of each bucket
	texts map[uint32]string // the first word of each bucket
	room  int               // number of bytes that further words may take
}

// newWordCounters returns the counters of the columns of words, nil for other columns.
func newWordCounters(s *Binding) []*wordCounter {
	counters, columns := make([]*wordCounter, len(s.Plan.Inputs)), 0
	for k := range s.Plan.Inputs {
		if c := &s.Plan.Inputs[k]; c.Words != nil && c.Learned() {
			counters[k] = &wordCounter{of: c.Words, rows: make([]int64, 1<<c.Words.Bits), texts: map[uint32]string{}}
			columns++
		}
	}
	for _, c := range counters {
		if c != nil {
			c.room = schema.MaxWordTexts / columns
		}
	}
	return counters
}

// splitters cut the texts of the rows that are counted.
var splitters = sync.Pool{New: func() any { return words.NewSplitter() }}

// pieceWords are the words of some rows.
type pieceWords struct {
	buckets []uint32 // of each row, each once
	first   []firstWord
	row     int    // the first wrong row
	wrong   string // its error text, or ""
}

// A firstWord is the first word of some rows in a bucket.
type firstWord struct {
	bucket uint32
	text   string
}

// add counts the words of rows of an array. It returns the first wrong row and the error text, or "".
func (w *wordCounter) add(ctx context.Context, p column.Pool, a arrow.Array, rows Cut) (row int, what string, err error) {
	pieces := make([]pieceWords, (rows.Len()+pieceTexts-1)/pieceTexts)
	err = p.Each(ctx, len(pieces), func(i int) error {
		return column.Recovered(func() error {
			pieces[i] = w.read(a, rows.slice(i*pieceTexts, min(pieceTexts, rows.Len()-i*pieceTexts)))
			return nil
		})
	})
	if err != nil {
		return 0, "", err
	}
	for i := range pieces { // in the order of the rows
		if pieces[i].wrong != "" {
			return pieces[i].row, pieces[i].wrong, nil
		}
		for _, f := range pieces[i].first {
			if w.rows[f.bucket] == 0 && w.room >= len(f.text) {
				w.room -= len(f.text)
				w.texts[f.bucket] = f.text
			}
		}
		for _, b := range pieces[i].buckets {
			w.rows[b]++
		}
	}
	return 0, "", nil
}

// read returns the words of rows. It leaves out the first words of buckets that rows before these have.
func (w *wordCounter) read(a arrow.Array, rows Cut) (p pieceWords) {
	s := splitters.Get().(*words.Splitter)
	defer splitters.Put(s)
	isNew := map[uint32]bool{}
	for _, span := range rows.Spans() {
		for row := span.Lo; row < span.Hi; row++ {
			if column.IsMissing(a, row) {
				continue
			}
			text, what := textOf(a, row)
			if what != "" {
				p.row, p.wrong = row, what
				return p
			}
			hasNew, last := false, uint32(math.MaxUint32)
			for _, b := range s.SortedBuckets(text, w.of) {
				if b != last {
					p.buckets = append(p.buckets, b)
					last = b
				}
				hasNew = hasNew || w.rows[b] == 0
			}
			if !hasNew {
				continue
			}
			s.Each(text, w.of.Form, func(word []byte) {
				if b := words.Bucket(word, w.of.Bits); w.rows[b] == 0 && !isNew[b] {
					isNew[b] = true
					p.first = append(p.first, firstWord{b, string(word)})
				}
			})
		}
	}
	return p
}

// learned returns the words that the features of the column learn from the rows. rows is the number of rows, those without a
// text included.
func (w *wordCounter) learned(rows int64) *schema.Words {
	of, numbers := *w.of, make([]int64, 0, 1024)
	for b, n := range w.rows {
		if n > 0 {
			of.Buckets, of.Texts, numbers = append(of.Buckets, b), append(of.Texts, w.texts[uint32(b)]), append(numbers, n)
		}
	}
	of.Weights = words.Weights(rows, numbers)
	return &of
}

// addWords adds the words of the kept rows of a batch.
func (st *Statistics) addWords(ctx context.Context, bt *column.Batch, kept Cut) error {
	for k, w := range st.words {
		if w == nil {
			continue
		}
		row, what, err := w.add(ctx, st.pool, st.bound.array(bt, k), kept)
		if err != nil {
			return err
		}
		if what != "" {
			return Unfit(bt.RowError(st.Input-bt.Rows, row, st.bound.Plan.Inputs[k].Name, what))
		}
	}
	return nil
}

// finishWords sets the words of column k, unless each bucket is a feature.
func (st *Statistics) finishWords(k int, name string) error {
	c := &st.bound.Plan.Inputs[k]
	if st.words[k] == nil {
		return nil
	}
	if c.Words = st.words[k].learned(st.rows); c.Width() == 0 {
		return column.ErrorIn(name, "column %q: no text has a word: leave it out with --exclude", c.Name)
	}
	const moreBits, mostAdvised = 2, 20
	if n := len(c.Words.Buckets); 2*n > 1<<c.Words.Bits && c.Words.Bits < mostAdvised {
		typ := fmt.Sprintf("%s:bits=%d", plan.WordOf(c.Words.Form), min(mostAdvised, c.Words.Bits+moreBits))
		st.bound.Plan.Notes = append(slices.Clip(st.bound.Plan.Notes), message.Sprintf("column %q: its words are in %s of %s hash "+
			"buckets, so that many share their weight with others (use --type %s)", c.Name, humanize.Count(int64(n)),
			humanize.Count(1<<c.Words.Bits), column.InShell([]string{c.Name + "=" + typ})))
	}
	return nil
}

// wordFeatures makes the features of a column of words.
type wordFeatures struct {
	*words.Index
	makers sync.Pool // *words.Maker
}

func newWordFeatures(of *schema.Words) *wordFeatures {
	w := &wordFeatures{Index: words.NewIndex(of)}
	w.makers.New = func() any { return w.NewMaker() }
	return w
}

// each calls put with the features of a row that aren't 0, from 0 on, and their values. It returns an error text, or "". A missing
// text has no features, or NaN for the first.
func (w *wordFeatures) each(r *reader, row int, put func(features []uint32, values []float32)) (what string) {
	a := r.cells[0]
	if column.IsMissing(a, row) {
		switch {
		case r.fill == nil:
			return "null" + message.Translate(r.advice)
		case r.fill[0] != r.fill[0]:
			put([]uint32{0}, []float32{float32(math.NaN())})
		}
		return ""
	}
	text, what := textOf(a, row)
	if what != "" {
		return what
	}
	m := w.makers.Get().(*words.Maker)
	defer w.makers.Put(m)
	put(m.Features(text))
	return ""
}

// hasWords returns true for a column of words.
func (r *reader) hasWords() bool { return r.categories != nil && r.categories.words != nil }

// putWords writes the features of words to rows, which are 0 before. It returns the first wrong row and the error text, or "".
func (r *reader) putWords(rows []float32, stride int, c Cut) (row int, what string) {
	for i, span := range c.Spans() {
		for row := span.Lo; row < span.Hi; row, i = row+1, i+1 {
			if what := r.categories.words.each(r, row, func(features []uint32, values []float32) {
				for n, f := range features {
					rows[i*stride+r.first+int(f)] = values[n]
				}
			}); what != "" {
				return row, what
			}
		}
	}
	return 0, ""
}

// addWords adds the features of words in a row. It returns an error text, or "".
func (p *piece) addWords(r *reader, row int) (what string) {
	return r.categories.words.each(r, row, func(features []uint32, values []float32) {
		for n, f := range features {
			p.columns, p.values = append(p.columns, uint32(r.first+int(f))), append(p.values, values[n])
		}
	})
}
