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
	of     *schema.Words
	rows   []int64           // of each bucket
	seen   []uint64          // a bit for each bucket: a batch before has it
	texts  map[uint32]string // the first word of each bucket
	room   int               // number of bytes that further words may take
	before *Tokens           // tokens of the texts, from another pass; nil: none
	keep   *Tokens           // tokens to keep; nil: none
	fills  bool              // a missing text may be among them
}

// newWordCounters returns the counters of the columns of words, nil for other columns.
func newWordCounters(s *Binding) []*wordCounter {
	counters, columns := make([]*wordCounter, len(s.Plan.Inputs)), 0
	for k := range s.Plan.Inputs {
		c := &s.Plan.Inputs[k]
		if c.Words == nil || !c.Learned() {
			continue
		}
		n := 1 << c.Words.Bits
		counters[k] = &wordCounter{of: c.Words, rows: make([]int64, n), seen: make([]uint64, n/64), texts: map[uint32]string{},
			keep: s.newTokens(), fills: s.keepsMissing()}
		if s.tokens != nil {
			counters[k].before = s.tokens[k]
		}
		columns++
	}
	for _, c := range counters {
		if c != nil {
			c.room = schema.MaxWordTexts / columns
		}
	}
	return counters
}

func (w *wordCounter) saw(bucket uint32) bool { return w.seen[bucket/64]>>(bucket%64)&1 != 0 }

// wordReaders read the words of rows that are counted.
var wordReaders = sync.Pool{New: func() any { return &wordReader{splitter: words.NewSplitter()} }}

// A wordReader is the work memory for the words of some rows.
type wordReader struct {
	splitter *words.Splitter
	tokens   []words.Token
}

// pieceWords are the words of some rows.
type pieceWords struct {
	tokens  []words.Token // of each row, ascending
	ends    []uint32      // of the tokens of each row
	first   []firstWord
	missing bool   // a text is missing
	row     int    // the first wrong row
	wrong   string // its error text, or ""
}

// of returns the tokens of a row.
func (p *pieceWords) of(i int) []words.Token {
	if i == 0 {
		return p.tokens[:p.ends[0]]
	}
	return p.tokens[p.ends[i-1]:p.ends[i]]
}

// A firstWord is the first word of some rows in a bucket.
type firstWord struct {
	bucket uint32
	text   string
}

// add counts the words of rows of an array, whose first row has a number. It returns the first wrong row and the error text, or "".
func (w *wordCounter) add(ctx context.Context, p column.Pool, a arrow.Array, first int64, rows Cut) (row int, what string, err error) {
	pieces := make([]pieceWords, (rows.Len()+pieceTexts-1)/pieceTexts)
	err = p.Each(ctx, len(pieces), func(i int) error {
		return column.Recovered(func() error {
			pieces[i] = w.read(a, first, rows.slice(i*pieceTexts, min(pieceTexts, rows.Len()-i*pieceTexts)))
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
		if pieces[i].missing && !w.fills {
			w.keep = nil
		}
		w.count(&pieces[i])
	}
	if w.keep != nil {
		w.keep = w.keep.add(first, pieces)
	}
	return 0, "", nil
}

// count counts the words of a piece.
func (w *wordCounter) count(p *pieceWords) {
	for _, f := range p.first {
		if w.rows[f.bucket] == 0 && w.room >= len(f.text) {
			w.room -= len(f.text)
			w.texts[f.bucket] = f.text
		}
		w.seen[f.bucket/64] |= 1 << (f.bucket % 64)
	}
	p.first = nil
	at := uint32(0)
	for _, end := range p.ends {
		last := uint32(math.MaxUint32)
		for _, t := range p.tokens[at:end] {
			if b := t.Bucket(); b != last { // not again for more words than a token counts
				w.rows[b]++
				last = b
			}
		}
		at = end
	}
}

// read returns the words of rows. It leaves out the first words of buckets that rows before these have.
func (w *wordCounter) read(a arrow.Array, first int64, rows Cut) (p pieceWords) {
	r := wordReaders.Get().(*wordReader)
	defer wordReaders.Put(r)
	r.tokens, p.ends = r.tokens[:0], make([]uint32, 0, rows.Len())
	isNew := map[uint32]bool{}
	for _, span := range rows.Spans() {
		for row := span.Lo; row < span.Hi; row++ {
			if column.IsMissing(a, row) {
				p.missing = true
			} else if what := w.readRow(r, &p, a, first, row, isNew); what != "" {
				p.row, p.wrong = row, what
				return p
			}
			p.ends = append(p.ends, uint32(len(r.tokens)))
		}
	}
	p.tokens = slices.Clone(r.tokens)
	return p
}

// readRow adds the tokens of a row to r, and its words of new buckets to p. It returns an error text, or "".
func (w *wordCounter) readRow(r *wordReader, p *pieceWords, a arrow.Array, first int64, row int, isNew map[uint32]bool) (what string) {
	text, what := textOf(a, row)
	if what != "" {
		return what
	}
	var tokens []words.Token
	if w.before != nil {
		tokens = w.before.of(first + int64(row))
	} else {
		tokens = r.splitter.Tokens(text, w.of)
	}
	r.tokens = append(r.tokens, tokens...)
	if !slices.ContainsFunc(tokens, func(t words.Token) bool { return !w.saw(t.Bucket()) }) {
		return ""
	}
	r.splitter.Each(text, w.of.Form, func(word []byte) {
		if b := words.Bucket(word, w.of.Bits); !w.saw(b) && !isNew[b] {
			isNew[b] = true
			p.first = append(p.first, firstWord{b, string(word)})
		}
	})
	return ""
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
		row, what, err := w.add(ctx, st.pool, st.bound.array(bt, k), bt.First, kept)
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
	if st.words[k].keep != nil {
		if st.bound.tokens == nil {
			st.bound.tokens = make([]*Tokens, len(st.bound.Plan.Inputs))
		}
		st.bound.tokens[k] = st.words[k].keep
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
	if r.tokens != nil {
		m := w.makers.Get().(*words.Maker)
		defer w.makers.Put(m)
		put(m.FeaturesOf(r.tokens.of(r.firstRow + int64(row))))
		return ""
	}
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
