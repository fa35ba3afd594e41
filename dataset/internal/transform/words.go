package transform

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/internal/words"
	"halfspace/schema"
)

// A wordCounter counts in how many rows of a column each bucket of words is, and keeps the first word of each bucket.
type wordCounter struct {
	of            *schema.Words
	rows          []int64           // of each bucket
	seen          []uint64          // a bit for each bucket: a batch before has it
	texts         map[uint32]string // the first word of each bucket
	room          int               // number of bytes that further words may take
	earlierTokens *Tokens           // tokens of the texts, from another pass; nil: none
	keptTokens    *Tokens           // tokens to keep; nil: none
	takesMissing  bool              // a missing text may be among the texts of the tokens to keep
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
			keptTokens: s.newTokens(), takesMissing: s.keepsMissing()}
		if s.tokens != nil {
			counters[k].earlierTokens = s.tokens[k]
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

// KeepTokens makes a later Learn keep the tokens of the columns of words in at most the given number of bytes.
func (s *Binding) KeepTokens(bytes int64) { s.tokenRoom = bytes }

// TokenColumns returns the numbers of the read columns whose values are not needed beside their tokens.
func (s *Binding) TokenColumns() (columns []int) {
	uses := make([]int, len(s.Columns))
	for _, of := range append(slices.Clone(s.Further), s.Features, s.Keep, s.tested, []int{s.Label, s.Weight}) {
		for _, i := range of {
			if i >= 0 {
				uses[i]++
			}
		}
	}
	for k, t := range s.tokens {
		if t != nil && uses[s.Features[k]] == 1 {
			columns = append(columns, s.Features[k])
		}
	}
	return columns
}

// ReleaseTokens releases the tokens of all columns if they take more than the given number of bytes.
func (s *Binding) ReleaseTokens(most int64) {
	for _, t := range s.tokens {
		if t != nil {
			most -= s.tokenRoom - t.room
		}
	}
	if most < 0 {
		s.tokens = nil
	}
}

// newTokens returns the tokens of no rows for a column of words, or nil if they are not kept. If rows are dropped, the texts decide which
// ones.
func (s *Binding) newTokens() *Tokens {
	if s.tokenRoom == 0 || s.tokens != nil || s.Drops() {
		return nil
	}
	return &Tokens{room: s.tokenRoom}
}

// keepsMissing returns true if a missing text has no features, as a text without words.
func (s *Binding) keepsMissing() bool {
	return s.Plan.Nulls == schema.NullsZero || s.Plan.Nulls == schema.NullsMean
}

func (w *wordCounter) saw(bucket uint32) bool { return w.seen[bucket/64]>>(bucket%64)&1 != 0 }

// wordReaders read the words of rows that are counted.
var wordReaders = sync.Pool{New: func() any { return &wordReader{splitter: words.NewSplitter()} }}

// A wordReader is the work memory for the words of some rows.
type wordReader struct {
	splitter *words.Splitter
	tokens   []words.Token
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
		if pieces[i].missing && !w.takesMissing {
			w.keptTokens = nil
		}
		w.count(&pieces[i])
	}
	if w.keptTokens != nil {
		w.keptTokens = w.keptTokens.add(first, pieces)
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
	if w.earlierTokens != nil {
		tokens = w.earlierTokens.of(first + int64(row))
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
