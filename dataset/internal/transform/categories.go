package transform

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/schema"
)

// categoryNumbers maps the categories of a column to feature numbers.
type categoryNumbers struct {
	numbers map[string]int     // for a one-hot column: the feature number of each category
	bits    int                // for a hashed column: the number of hash bits
	buckets map[int]int        // for a hashed column: the feature number of each bucket; nil: the bucket is the feature number
	unknown atomic.Int64       // number of rows with an unknown category
	kinds   []schema.ClassKind // of the categories; for a cross, of each part
	words   *wordFeatures      // of a column of words, which has no other of these; otherwise nil
}

// newCategoryNumbers returns the categories of each column of a binding, nil for a column of numbers.
func newCategoryNumbers(bound *Binding) []*categoryNumbers {
	all := make([]*categoryNumbers, len(bound.Plan.Inputs))
	for k, c := range bound.Plan.Inputs {
		switch c.Kind {
		case schema.WordsColumn:
			all[k] = &categoryNumbers{words: newWordFeatures(c.Words)}
		case schema.OneHotColumn:
			all[k] = &categoryNumbers{numbers: make(map[string]int, len(c.Categories)), kinds: kindsOf(c)}
			for i, text := range c.Categories {
				all[k].numbers[text] = i
			}
		case schema.HashColumn, schema.CrossColumn:
			all[k] = &categoryNumbers{bits: c.HashBits, kinds: kindsOf(c)}
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

// kindsOf returns the kind of the categories of a column, or of each part of a cross.
func kindsOf(c schema.Column) (kinds []schema.ClassKind) {
	if c.Kind != schema.CrossColumn {
		return []schema.ClassKind{schema.KindOf(c.Values)}
	}
	for _, part := range c.Of {
		kinds = append(kinds, schema.KindOf(part.Values))
	}
	return kinds
}

func (c *categoryNumbers) canonical(k int, text string) string {
	return schema.StringClass(text).TextAs(c.kinds[k])
}

func (c *categoryNumbers) number(a arrow.Array, i int) (int, string) {
	class, what := ClassOf(a, i)
	if what != "" {
		return 0, what
	}
	text := class.TextAs(c.kinds[0])
	if c.numbers == nil {
		return c.ofBucket(schema.HashBucket(text, c.bits)), ""
	}
	if n, ok := c.numbers[text]; ok {
		return n, ""
	}
	return -1, ""
}

// crossed returns the feature number for the text of a cross, or -1.
func (c *categoryNumbers) crossed(text []byte) int {
	return c.ofBucket(schema.CrossBucket(text, c.bits))
}

// ofBucket returns the feature number of a bucket, or -1.
func (c *categoryNumbers) ofBucket(b int) int {
	if c.buckets == nil {
		return b
	}
	if n, ok := c.buckets[b]; ok {
		return n
	}
	return -1
}

// A collector collects the categories of a column, or the buckets of a hashed column.
type collector struct {
	texts   map[string]bool
	buckets []uint64 // a bit for each bucket; nil for a one-hot column
	bits    int
	most    int   // maximum number of categories
	bytes   int64 // of all texts together

	dictionary *dictionary // texts of a hashed column's buckets; nil: not collected
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

// adviseCategories is the remedy if the categories of a column are too many or too long.
func adviseCategories() string {
	return message.Sprintf("leave it out with --exclude, or use --categorical hash:BITS")
}

func (c *collector) number(a arrow.Array, i int) (int, string) {
	class, what := ClassOf(a, i)
	switch {
	case what != "": // the builder reports the error with its row
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
		return 0, what + ": " + adviseCategories()
	}
	if len(c.texts) == c.most {
		return 0, fmt.Sprintf("more than %d categories: %s", len(c.texts), adviseCategories())
	}
	c.texts[class.Text] = true
	c.bytes += int64(len(class.Text))
	return 0, ""
}

// canonical returns the text unchanged: the rows of the training have the categories.
func (c *collector) canonical(_ int, text string) string { return text }

// crossed adds the bucket of the text of a cross.
func (c *collector) crossed(text []byte) int {
	bucket := schema.CrossBucket(text, c.bits)
	c.mark(bucket)
	if c.dictionary.wants(bucket, len(text)) {
		c.dictionary.add(bucket, strings.ReplaceAll(string(text), string([]byte{schema.CrossMark}), "*"))
	}
	return 0
}

func (c *collector) mark(bucket int) { c.buckets[bucket/64] |= 1 << (bucket % 64) }

// Add adds the categories of rows. It returns the first wrong row and the error text, or "".
func (c *collector) Add(a cells, rows Cut) (row int, what string) {
	var numbers [block.ChunkRows]float32
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

// A dictionary collects texts for each bucket of a hashed column: the first texts in row order.
type dictionary struct {
	texts map[int][]string // by bucket
	room  int              // number of bytes that further texts may take
	full  bool             // a text was left out because there was no room
}

// textCost is the approximate number of bytes that a text takes in addition to its own bytes.
const textCost = 16

// newDictionary returns an empty dictionary for one of the binding's hashed columns. Each hashed column gets an
// equal part of schema.MaxNames bytes.
func newDictionary(bound *Binding) *dictionary {
	columns := 0
	for i := range bound.Plan.Inputs {
		if bound.Plan.Inputs[i].Hashed() {
			columns++
		}
	}
	return &dictionary{texts: map[int][]string{}, room: schema.MaxNames / columns}
}

// wants returns true if a text with the given number of bytes may be added to the bucket. It also returns true for
// the first text that finds no room, so that add can record this.
func (d *dictionary) wants(bucket, bytes int) bool {
	if d == nil || bytes > schema.MaxTextBytes || len(d.texts[bucket]) >= schema.MaxTexts {
		return false
	}
	return !d.full || bytes+textCost <= d.room
}

// add adds a text to a bucket, unless the bucket has the text already, wants no text, or there is no room.
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

// of returns the texts of a column's features, or nil if texts aren't collected.
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
