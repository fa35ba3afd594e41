package encode

import "github.com/apache/arrow/go/v17/arrow"

// addTexts looks at the first n texts of an array. It ends where half of the first rows have a text that came before.
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
			c.cleared, c.texts = true, map[string]struct{}{}
			return
		}
		c.texts[a.ValueStr(i)] = struct{}{}
	}
}

// isName tells whether texts seem to name the rows: of ten, at least nine differ from all before.
func (c *suspect) isName() bool {
	return !c.cleared && c.rows >= leastSuspects && 10*len(c.texts) >= 9*c.rows
}
