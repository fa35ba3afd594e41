package transform

import (
	"hash/maphash"

	"github.com/apache/arrow/go/v17/arrow"
)

// addTexts adds the first n texts of an array. It stops and clears the suspicion if more than half of the rows so
// far, which must be at least fewSuspects, repeat a text.
func (c *suspect) addTexts(a arrow.Array, n int) {
	if a.Len() < n {
		c.cleared = true
		return
	}
	for i := range n {
		if a.IsNull(i) {
			continue
		}
		if c.rows++; c.rows >= fewSuspects && 2*len(c.texts) < c.rows {
			c.cleared, c.texts = true, map[uint64]struct{}{}
			return
		}
		c.texts[maphash.String(textSeed, a.ValueStr(i))] = struct{}{} // a text may take megabytes
	}
}

// isName returns true if the texts seem to name the rows: at least nine of ten differ from all texts before.
func (c *suspect) isName() bool {
	return !c.cleared && c.rows >= leastSuspects && 10*len(c.texts) >= 9*c.rows
}
