package transform

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/stats"
	"halfspace/schema"
)

// Learn reads the batches of the input, which has total rows, and returns the binding with everything that the features
// depend on. It makes a pass for the lengths of sparse lists, if these are unknown, and a pass for everything that remains.
// It ignores wrong values: the Builder reports them with their rows.
func (s *Binding) Learn(ctx context.Context, name string, p column.Pool, batches iter.Seq2[*column.Batch, error], total int64,
	progress func(rows, total int64)) (*Binding, error) {
	if s.hasUnknownLists() {
		measured, err := s.measureSparse(ctx, name, p, batches, total, progress)
		if err != nil || !measured.Unlearned() {
			return measured, err
		}
		s = measured
	}
	st := NewStatistics(s, p)
	enough := false
	err := Each(ctx, batches, total, progress, func(bt *column.Batch, _ int64) error {
		err := st.Add(ctx, bt)
		if enough = err == nil && !st.bound.Wholly() && !st.bound.unmeasured(); enough {
			return ErrEnough
		}
		return err
	})
	if err != nil || enough {
		return st.bound, err
	}
	return st.Finish(name)
}

// Statistics collects from batches everything that features depend on: means, deviations, categories and lengths of
// lists.
type Statistics struct {
	bound   *Binding // a copy, which gets the learned values
	pool    column.Pool
	Input   int64             // number of rows of the input
	rows    int64             // number of kept rows
	moments [][]stats.Moments // for each column of numbers, the moments of each feature
	texts   []collector       // for each column
	words   []*wordCounter    // for each column of words; otherwise nil
	OfShare bool              // the rows are a share of a plan's rows: a column of numbers may lack a value, and gets the mean 0
	part    *Learned          // if not nil, the statistics are for a part of the rows, and part stores the moments of each chunk
}

// NewStatistics returns the statistics of no rows, for the features of a binding.
func NewStatistics(s *Binding, p column.Pool) *Statistics {
	s = s.forLearning()
	st := &Statistics{bound: s, pool: p, moments: make([][]stats.Moments, len(s.Plan.Inputs)), texts: make([]collector, len(s.Plan.Inputs)),
		words: newWordCounters(s)}
	for k := range s.Plan.Inputs {
		st.texts[k] = newCollector(&s.Plan.Inputs[k], s.mostCategories())
		if s.Plan.HashTexts && s.Plan.Inputs[k].Hashed() {
			st.texts[k].dictionary = newDictionary(s)
		}
	}
	return st
}

func (st *Statistics) Add(ctx context.Context, bt *column.Batch) error {
	kept, err := st.bound.Kept(ctx, st.pool, bt)
	if err != nil {
		return err
	}
	return st.AddKept(ctx, bt, kept)
}

func (st *Statistics) AddKept(ctx context.Context, bt *column.Batch, kept Cut) error {
	st.Input += bt.Rows
	err := st.bound.measureLists(bt, kept)
	if err != nil {
		return err
	}
	if err := st.bound.checkWidth(); err != nil {
		return Unfit(column.ErrorIn(bt.File, "%w", err))
	}
	if st.bound.Wholly() {
		err = st.pool.Each(ctx, len(st.bound.Plan.Inputs), func(k int) error {
			return column.Recovered(func() error { return st.column(k, bt, kept) })
		})
	}
	if err == nil {
		err = cmp.Or(st.addWords(ctx, bt, kept), st.checkTexts(bt.File))
	}
	st.rows += int64(kept.Len())
	return err
}

// checkTexts returns an error if the names of the categories so far have more than schema.MaxNames bytes.
func (st *Statistics) checkTexts(file string) error {
	all, longest := int64(0), 0
	for k, c := range st.texts {
		all += c.bytes + int64(len(c.texts)*len(st.bound.Plan.Inputs[k].Name))
		if c.bytes > st.texts[longest].bytes {
			longest = k
		}
	}
	if all <= schema.MaxNames {
		return nil
	}
	return Unfit(column.ErrorIn(file, "column %q: the categories of all columns have over %s, those of this one the most: %s",
		st.bound.Plan.Inputs[longest].Name, column.BytesText(schema.MaxNames), adviseCategories()))
}

func (st *Statistics) column(k int, bt *column.Batch, kept Cut) error {
	c, a := &st.bound.Plan.Inputs[k], st.bound.array(bt, k)
	switch {
	case c.Words != nil: // see addWords
	case st.bound.collects(*c):
		if row, what := st.texts[k].Add(st.bound.cells(bt, k), kept); what != "" {
			return Unfit(bt.RowError(st.Input-bt.Rows, row, c.Name, what))
		}
	case !c.Categorical() && c.Derive != schema.Missing && st.bound.counted():
		return st.count(k, a, kept)
	}
	return nil
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

// count adds rows of column k to its moments. It sums each column in the order of the kept rows, chunk by chunk, so that
// the result depends only on these rows.
func (st *Statistics) count(k int, a arrow.Array, kept Cut) error {
	c := &st.bound.Plan.Inputs[k]
	if len(st.moments[k]) != c.Width() {
		st.moments[k] = make([]stats.Moments, c.Width())
		st.countEmpty(st.moments[k])
	}
	r := reader{width: c.Width()}
	var err error
	switch r.sparse = column.NewLists(a); {
	case r.sparse != nil:
		r.fill = []float64{math.NaN()}
		a = r.sparse.Values
	case c.Kind == schema.ListColumn:
		if r.list, err = asList(a); err != nil {
			return err
		}
		a = r.list.ListValues()
	}
	if r.wide, err = column.NewView64(a); err != nil {
		return err
	}
	const four = 4 * block.ChunkRows
	memory := scratches.Get().(*[]float64)
	defer scratches.Put(memory)
	*memory = slices.Grow((*memory)[:0], max(min(four, a.Len()), c.Width()))
	row, scratch := st.rows, (*memory)[:cap(*memory)]
	for _, span := range kept.Spans() {
		for lo := span.Lo; lo < span.Hi; {
			if n := min(four, (span.Hi-lo)/block.ChunkRows*block.ChunkRows); !r.byRow() && row%block.ChunkRows == 0 && n > 0 &&
				st.countChunks(k, r.wide, lo, lo+n, scratch) {
				lo, row = lo+n, row+int64(n)
				continue
			}
			n := min(span.Hi-lo, block.ChunkRows-int(row%block.ChunkRows))
			if !r.byRow() {
				st.countNumbers(&st.moments[k][0], r.wide, lo, lo+n, scratch)
			} else {
				st.countLists(k, r, lo, lo+n, scratch)
			}
			if lo, row = lo+n, row+int64(n); row%block.ChunkRows == 0 {
				st.endChunk(k)
			}
		}
	}
	return nil
}

// scratches hold the numbers of some rows of a column, while they are counted.
var scratches = sync.Pool{New: func() any { return new([]float64) }}

// countChunks adds one to four chunks of a column of numbers, the rows from lo up to, but not including, hi. It returns
// false, and adds nothing, if a value is missing.
func (st *Statistics) countChunks(k int, v column.View[float64], lo, hi int, scratch []float64) bool {
	var all []stats.Sums
	if v.Array.DataType().ID() == arrow.FLOAT32 {
		floats, _ := column.NewView32(v.Array) // no error: v views the same array
		all = chunkSums(floats, lo, hi, nil)
	} else {
		all = chunkSums(v, lo, hi, scratch)
	}
	for _, sums := range all {
		if st.part == nil {
			st.moments[k][0].AddChunk(sums)
		} else {
			st.part.chunks[k] = append(st.part.chunks[k], sums)
		}
	}
	return all != nil
}

// chunkSums returns the sums of one to four chunks of rows, or nil if a value is missing.
func chunkSums[F float32 | float64](v column.View[F], lo, hi int, scratch []F) []stats.Sums {
	values, _ := v.Read(lo, hi, scratch)
	if !v.Sound(lo, values) {
		return nil
	}
	return stats.FourChunks(values, block.ChunkRows)
}

// countNumbers adds the rows from lo up to, but not including, hi of a column of numbers.
func (st *Statistics) countNumbers(m *stats.Moments, v column.View[float64], lo, hi int, scratch []float64) {
	values, _ := v.Read(lo, hi, scratch)
	if v.Sound(lo, values) {
		for _, x := range values {
			m.Add(x)
		}
		return
	}
	for i, x := range values {
		if !column.IsMissing(v.Array, lo+i) {
			m.Add(x)
		} else {
			st.countMissing(m)
		}
	}
}

// countMissing adds the number 0 for a missing value if nulls are replaced by zero; otherwise it adds nothing. A
// missing value that is replaced by the mean doesn't change the mean.
func (st *Statistics) countMissing(m *stats.Moments) {
	if st.bound.Plan.Nulls == schema.NullsZero {
		m.Add(0)
	}
}

// countEmpty adds the rows so far to the moments of a column of lists. All lists in these rows were null or empty.
func (st *Statistics) countEmpty(columns []stats.Moments) {
	for row := range st.rows {
		for i := range columns {
			st.countMissing(&columns[i])
		}
		if (row+1)%block.ChunkRows == 0 {
			stats.EndChunk(columns)
		}
	}
}

// countLists adds the elements of lists. It ignores lists of another length, which are errors when blocks are built.
func (st *Statistics) countLists(k int, r reader, lo, hi int, scratch []float64) {
	columns := st.moments[k]
	if r.sparse != nil {
		st.countSparse(columns, r, lo, hi, scratch)
		return
	}
	for row := lo; row < hi; row++ {
		from, to := r.list.ValueOffsets(row)
		switch {
		case r.list.IsNull(row):
			for i := range columns {
				st.countMissing(&columns[i])
			}
		case int(to-from) == r.width:
			values, _ := r.wide.Read(int(from), int(to), scratch)
			sound := r.wide.Sound(int(from), values)
			for i, x := range values {
				if sound || !column.IsMissing(r.wide.Array, int(from)+i) {
					columns[i].Add(x)
				} else {
					st.countMissing(&columns[i])
				}
			}
		}
	}
}

// countSparse adds the elements of sparse lists, and zeros for the other features. It ignores wrong lists, which are
// errors when blocks are built.
func (st *Statistics) countSparse(columns []stats.Moments, r reader, lo, hi int, scratch []float64) {
	values := scratch[:len(columns)]
	var read pairScratch[float64]
	for row := lo; row < hi; row++ {
		pairs, _, what := pairsOf(&r, r.wide, row, &read)
		if what != "" {
			continue
		}
		clear(values)
		for _, p := range pairs {
			values[p.index] = p.value
		}
		for i, x := range values {
			if x-x == 0 {
				columns[i].Add(x)
			} else {
				st.countMissing(&columns[i])
			}
		}
	}
}

// Finish returns the binding with the values that its features learn from the rows.
func (st *Statistics) Finish(name string) (*Binding, error) {
	if st.rows == 0 {
		return st.bound, nil // the caller reports it
	}
	if !st.OfShare {
		st.bound.KeptRows = st.rows
	}
	for k := range st.bound.Plan.Inputs {
		c := &st.bound.Plan.Inputs[k]
		switch {
		case c.Words != nil:
			if err := st.finishWords(k, name); err != nil {
				return nil, err
			}
			continue
		case c.Learned():
			c.Categories, c.Buckets = st.texts[k].sorted()
			if c.Width() == 0 {
				return nil, column.ErrorIn(name, "column %q: every value is missing, so that there is no category: leave "+
					"it out with --exclude", c.Name)
			}
			st.keepTexts(k)
			continue
		case c.Hashed():
			st.keepTexts(k)
			continue
		case c.Derive == schema.Missing: // 0 or 1 in each row
			continue
		case c.Width() == 0:
			return nil, column.ErrorIn(name, "column %q: no list has an element: leave it out with --exclude", c.Name)
		}
		stats.EndChunk(st.moments[k])
		for i := range st.moments[k] {
			st.bound.Gaps = st.bound.Gaps || st.moments[k][i].Count() < st.rows
			if what := st.note(c, &st.moments[k][i]); what != "" {
				return nil, column.ErrorIn(name, "column %q: %s: leave it out with --exclude", c.Name, what)
			}
		}
	}
	if err := st.bound.checkWidth(); err != nil {
		return nil, column.ErrorIn(name, "%w", err)
	}
	return st.bound, nil
}

// note appends the moments of a column's next feature to the column. It returns an error text, or "".
func (st *Statistics) note(c *schema.Column, m *stats.Moments) (what string) {
	mean := 0.0
	switch {
	case st.bound.Plan.Nulls != schema.NullsMean || !m.IsEmpty():
		if mean, what = m.Mean(); what != "" {
			return what
		}
	case !st.OfShare:
		return "every value is missing, so that there is no mean"
	}
	if st.bound.Plan.Nulls == schema.NullsMean {
		c.Means = append(c.Means, mean)
	}
	if st.bound.Plan.Standardize {
		scale, what := m.Scale(st.rows) // missing values equal the mean, so they add no squares
		if what != "" {
			return what
		}
		c.Center, c.Scale = append(c.Center, mean), append(c.Scale, scale)
	}
	return ""
}

// finishWords sets the words of column k, unless each bucket is a feature.
func (st *Statistics) finishWords(k int, name string) error {
	c := &st.bound.Plan.Inputs[k]
	if st.words[k] == nil {
		return nil
	}
	if st.words[k].keptTokens != nil {
		if st.bound.tokens == nil {
			st.bound.tokens = make([]*Tokens, len(st.bound.Plan.Inputs))
		}
		st.bound.tokens[k] = st.words[k].keptTokens
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

// Learned is a part's contribution to everything that features depend on: moments, categories and buckets. A part is
// consecutive rows, the first of which begins a chunk.
type Learned struct {
	rows    int64
	chunks  [][]stats.Sums // for each column, the moments of its features in the first chunk, then in the next chunk
	texts   [][]string     // for each column, its categories
	buckets [][]int        // for each hashed column, its buckets
}

// Fields returns pointers to the fields, for the messages to other processes.
func (l *Learned) Fields() []any { return []any{&l.rows, &l.chunks, &l.texts, &l.buckets} }

// Parted returns true if LearnPart and Merge can compute everything that features depend on. They can if no row is
// dropped, the lengths of all lists are known, and no texts of hashed columns are collected.
func (s *Binding) Parted() bool {
	return !s.Drops() && !s.Plan.HashTexts && !slices.ContainsFunc(s.Plan.Inputs,
		func(c schema.Column) bool { return c.Kind == schema.ListColumn && c.Elements == 0 || c.Words != nil })
}

// LearnPart computes the Learned of a part from its batches, for Merge. The first row must begin a chunk. LearnPart
// releases the batches.
func (s *Binding) LearnPart(ctx context.Context, p column.Pool, batches iter.Seq2[*column.Batch, error]) (*Learned, error) {
	st := NewStatistics(s, p)
	st.part = &Learned{chunks: make([][]stats.Sums, len(s.Plan.Inputs))}
	err := Each(ctx, batches, -1, nil, func(bt *column.Batch, _ int64) error { return st.Add(ctx, bt) })
	if err != nil {
		return nil, err
	}
	st.part.rows = st.rows
	for k := range s.Plan.Inputs {
		if st.rows%block.ChunkRows > 0 {
			st.endChunk(k)
		}
		texts, buckets := st.texts[k].sorted()
		st.part.texts, st.part.buckets = append(st.part.texts, texts), append(st.part.buckets, buckets)
	}
	return st.part, nil
}

// endChunk ends a chunk of column k. If the statistics are for a part, it stores the chunk's moments separately.
func (st *Statistics) endChunk(k int) {
	if st.part == nil {
		stats.EndChunk(st.moments[k])
		return
	}
	st.part.chunks[k] = stats.TakeChunk(st.part.chunks[k], st.moments[k])
}

// Merge adds the rows of the next part. It returns false if there are now too many categories, or if their texts are
// too long.
func (st *Statistics) Merge(l *Learned) bool {
	for k, chunks := range l.chunks {
		c, texts := &st.bound.Plan.Inputs[k], &st.texts[k]
		if width := c.Width(); len(chunks) > 0 && len(st.moments[k]) == 0 {
			st.moments[k] = make([]stats.Moments, width)
		}
		for i, r := range chunks {
			st.moments[k][i%len(st.moments[k])].AddChunk(r)
		}
		for _, text := range l.texts[k] {
			if !texts.texts[text] {
				texts.texts[text] = true
				texts.bytes += int64(len(text))
			}
		}
		for _, b := range l.buckets[k] {
			texts.mark(b)
		}
		if len(texts.texts) > texts.most {
			return false
		}
	}
	st.rows += l.rows
	st.Input += l.rows
	return st.checkTexts("") == nil
}

// keepTexts stores the texts of column k in its copy of the binding, if texts were collected.
func (st *Statistics) keepTexts(k int) {
	c, d := &st.bound.Plan.Inputs[k], st.texts[k].dictionary
	c.Dictionary = d.of(c)
	if d != nil && d.full {
		st.bound.full = append(st.bound.full, fmt.Sprintf("%q", c.Name))
	}
}
