package encode

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/block"
	"halfspace/schema"
)

// categories has the feature number of each category of a column.
type categories struct {
	numbers map[string]int // of a one-hot column
	bits    int            // of a hashed one
	buckets map[int]int    // the feature numbers of its buckets; nil: these are the features
	unknown atomic.Int64   // rows with a category that isn't there
}

// newCategories returns the categories of each column of a selection, nil for a column of numbers.
func newCategories(sel *Selection) []*categories {
	all := make([]*categories, len(sel.Inputs))
	for k, c := range sel.Inputs {
		switch c.Kind {
		case schema.OneHotColumn:
			all[k] = &categories{numbers: make(map[string]int, len(c.Categories))}
			for i, text := range c.Categories {
				all[k].numbers[text] = i
			}
		case schema.HashColumn, schema.CrossColumn:
			all[k] = &categories{bits: c.HashBits}
			if c.Learned() {
				all[k].buckets = make(map[int]int, len(c.Buckets))
				for i, b := range c.Buckets {
					all[k].buckets[b] = i
				}
			}
		}
	}
	return all
}

func (c *categories) number(a arrow.Array, i int) (int, string) {
	class, what := ClassOf(a, i)
	if what != "" {
		return 0, what
	}
	if c.numbers == nil {
		return c.ofBucket(schema.HashBucket(class.Text, c.bits)), ""
	}
	if n, ok := c.numbers[class.Text]; ok {
		return n, ""
	}
	return -1, ""
}

// crossed returns the feature number of a cross's text, or -1.
func (c *categories) crossed(text []byte) int { return c.ofBucket(schema.CrossBucket(text, c.bits)) }

// ofBucket returns the feature number of a bucket, or -1.
func (c *categories) ofBucket(b int) int {
	if c.buckets == nil {
		return b
	}
	if n, ok := c.buckets[b]; ok {
		return n
	}
	return -1
}

// putCategories writes a one to the feature of each row's category. The rows have zeros there. Its results are those of
// read.
func (r *reader) putCategories(rows []float32, stride int, c Cut, s *scratch) (row int, what string) {
	numbers := s.values[:c.Len()]
	if row, what := r.readCategories(c, numbers); what != "" {
		return row, what
	}
	for i, n := range numbers {
		switch {
		case n >= 0:
			rows[i*stride+r.first+int(n)] = 1
		case n != n:
			rows[i*stride+r.first] = n
		}
	}
	return 0, ""
}

// readCategories writes the feature number of each row's category to dst, from 0. It is -1 of a row without one, and NaN of a
// row that the training would have dropped. Its results are those of read.
func (r *reader) readCategories(c Cut, dst []float32) (row int, what string) {
	for i, span := range c.Spans() {
		gaps := r.cells.missing(span.Lo, span.Hi)
		for from, g := span.Lo, 0; from < span.Hi; g++ {
			to := span.Hi
			if g < len(gaps) {
				to = gaps[g]
			}
			numbers := dst[i+from-span.Lo:][:to-from]
			if row, what := encodeCells(r.categories, r.cells, from, numbers); what != "" {
				return row, what
			}
			for _, n := range numbers {
				if n < 0 {
					r.categories.unknown.Add(1)
				}
			}
			if g < len(gaps) {
				if r.fill == nil {
					return to, "null" + r.advice
				}
				dst[i+to-span.Lo] = float32(r.fill[0]) - 1 // a fill is 0 or NaN
			}
			from = to + 1
		}
	}
	return 0, ""
}

// A collector finds the categories of a column, or the buckets of a hashed one.
type collector struct {
	texts   map[string]bool
	buckets []uint64 // a bit for each bucket; nil of a one-hot column
	bits    int
	most    int   // categories
	bytes   int64 // of all texts

	dictionary *dictionary // of a hashed one, if it was asked for
}

func newCollector(of *schema.Column, most int) collector {
	c := collector{most: most, bits: of.HashBits}
	if of.Hashed() {
		c.buckets = make([]uint64, (1<<c.bits+63)/64)
	} else {
		c.texts = map[string]bool{}
	}
	return c
}

// adviseCategories says what to do if the categories of a column are too many or too long.
const adviseCategories = "leave it out with --exclude, or use --categorical hash:BITS"

func (c *collector) number(a arrow.Array, i int) (int, string) {
	class, what := ClassOf(a, i)
	switch {
	case what != "": // the builder says where it is
		return 0, ""
	case c.buckets != nil:
		bucket := schema.HashBucket(class.Text, c.bits)
		c.mark(bucket)
		c.dictionary.add(bucket, class.Text)
		return 0, ""
	case c.texts[class.Text]:
		return 0, ""
	}
	if what := schema.CheckText(class.Text, "category"); what != "" {
		return 0, what + ": " + adviseCategories
	}
	if len(c.texts) == c.most {
		return 0, fmt.Sprintf("more than %d categories: %s", len(c.texts), adviseCategories)
	}
	c.texts[class.Text] = true
	c.bytes += int64(len(class.Text))
	return 0, ""
}

// crossed adds the bucket of a cross's text.
func (c *collector) crossed(text []byte) int {
	bucket := schema.CrossBucket(text, c.bits)
	c.mark(bucket)
	if c.dictionary.wants(bucket, len(text)) {
		c.dictionary.add(bucket, strings.ReplaceAll(string(text), string([]byte{schema.CrossMark}), "*"))
	}
	return 0
}

func (c *collector) mark(bucket int) { c.buckets[bucket/64] |= 1 << (bucket % 64) }

// Add adds the categories of rows. It returns the first row that is wrong, and what is wrong with it, or "".
func (c *collector) Add(a cells, rows Cut) (row int, what string) {
	var numbers [block.RunRows]float64
	for _, span := range rows.Spans() {
		gaps := a.missing(span.Lo, span.Hi)
		for from, g := span.Lo, 0; from < span.Hi; {
			to := min(span.Hi, from+len(numbers))
			if g < len(gaps) {
				to = min(to, gaps[g])
			}
			if row, what := encodeCells(c, a, from, numbers[:to-from]); what != "" {
				return row, what
			}
			if from = to; g < len(gaps) && to == gaps[g] {
				from, g = to+1, g+1
			}
		}
	}
	return 0, ""
}

// sorted returns the categories, or the buckets, in ascending order.
func (c *collector) sorted() (texts []string, buckets []int) {
	for i, word := range c.buckets {
		for ; word != 0; word &= word - 1 {
			buckets = append(buckets, 64*i+bits.TrailingZeros64(word))
		}
	}
	return slices.Sorted(maps.Keys(c.texts)), buckets
}

// A dictionary collects texts of each bucket of a hashed column: the first ones in the order of the rows.
type dictionary struct {
	texts map[int][]string // of each bucket
	room  int              // bytes that further texts may take
	full  bool             // a text had no room
}

// textCost is what a text takes beside its bytes, about.
const textCost = 16

// newDictionary returns the dictionary of one of the selection's hashed columns. They share the room.
func newDictionary(sel *Selection) *dictionary {
	columns := 0
	for i := range sel.Inputs {
		if sel.Inputs[i].Hashed() {
			columns++
		}
	}
	return &dictionary{texts: map[int][]string{}, room: schema.MaxNames / columns}
}

// wants tells whether a text of that many bytes may be added to a bucket, or may be the first one without room.
func (d *dictionary) wants(bucket, bytes int) bool {
	if d == nil || bytes > schema.MaxTextBytes || len(d.texts[bucket]) >= schema.MaxTexts {
		return false
	}
	return !d.full || bytes+textCost <= d.room
}

// add adds a text to a bucket that doesn't have it, if the bucket wants it and there is room.
func (d *dictionary) add(bucket int, text string) {
	if !d.wants(bucket, len(text)) || slices.Contains(d.texts[bucket], text) {
		return
	}
	if len(text)+textCost > d.room {
		d.full = true
		return
	}
	d.texts[bucket] = append(d.texts[bucket], strings.Clone(text))
	d.room -= len(text) + textCost
}

// of returns the texts of a column's features, or nil if they aren't kept.
func (d *dictionary) of(c *schema.Column) *schema.Dictionary {
	if d == nil {
		return nil
	}
	all := &schema.Dictionary{Features: []int{}, Texts: []string{}}
	for i := range c.Width() {
		bucket := i
		if c.Learned() {
			bucket = c.Buckets[i]
		}
		for _, text := range d.texts[bucket] {
			all.Features, all.Texts = append(all.Features, i), append(all.Texts, text)
		}
	}
	return all
}

// keepTexts writes the texts of column k to the selection, if they were collected.
func (st *Statistics) keepTexts(k int) {
	c, d := &st.sel.Inputs[k], st.texts[k].dictionary
	c.Dictionary = d.of(c)
	if d != nil && d.full {
		st.sel.full = append(st.sel.full, fmt.Sprintf("%q", c.Name))
	}
}
