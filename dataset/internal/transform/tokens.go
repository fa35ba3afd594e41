package transform

import (
	"slices"
	"sort"

	"halfspace/internal/words"
	"halfspace/schema"
)

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
