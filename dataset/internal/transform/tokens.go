package transform

import (
	"sort"

	"halfspace/internal/words"
)

// pieceTexts is the number of texts whose words one goroutine counts at a time.
const pieceTexts = 256

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

// Tokens are the tokens of the texts of a column in all rows of the input. The pass that learns the words keeps them, so that the rows
// are made without reading the texts again.
type Tokens struct {
	rows    []int64        // for each batch of that pass, the number of its first row
	batches [][]pieceWords // its pieces of pieceTexts rows
	room    int64          // number of bytes that further tokens may take
}

// add keeps the tokens of a batch whose first row has a number. It returns nil if there is no room for them.
func (t *Tokens) add(row int64, pieces []pieceWords) *Tokens {
	for i := range pieces {
		t.room -= 4 * int64(len(pieces[i].tokens)+len(pieces[i].ends))
	}
	if t.room < 0 {
		return nil
	}
	t.rows, t.batches = append(t.rows, row), append(t.batches, pieces)
	return t
}

// of returns the tokens of a row of the input.
func (t *Tokens) of(row int64) []words.Token {
	batch := sort.Search(len(t.rows), func(i int) bool { return t.rows[i] > row }) - 1
	at := int(row - t.rows[batch])
	return t.batches[batch][at/pieceTexts].of(at % pieceTexts)
}
