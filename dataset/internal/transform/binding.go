// Package transform converts columns to the features, labels or sample weights of rows.
package transform

import (
	"fmt"
	"slices"
	"sync/atomic"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/where"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Binding is the columns that are read, each once, and their purposes.
type Binding struct {
	*column.Roles
	Plan    plan.Plan // its Inputs are for the feature columns, in order
	Further [][]int   // for each input that is a cross, its columns except the first; nil for other inputs
	Sparse  bool      // blocks are sparse
	// Elements is the approximate number of elements of all rows of sparse blocks, the bias included; 0: unknown.
	Elements int64
	Counted  bool  // Elements is exact
	KeptRows int64 // number of kept rows of the input, if a pass over all of them learned the features; otherwise 0
	leftOut  leftOut
	passed   []string // columns, with their types, that match a pattern of Keep and can't be kept

	lists   listCounts
	full    []string         // hashed columns with more texts than there is room for
	wide    bool             // there are too many features to standardize them, although the options asked for it
	where   *where.Condition // chooses rows; nil: all
	tested  []int            // numbers in Columns of the columns of where
	Gaps    bool             // some number is missing in the rows from which features were learned
	derives bool             // some input derives its number from the value of its column
	// for each input, the texts from which no number derives, and those that are numbers with marks; nil unless derives
	strange, marked []inputTexts
	booleansTold    *atomic.Bool // there was a note about booleans for numbers
	// infinite is, for each column, whether a pass saw an infinite date; nil if no feature has dates
	infinite    []atomic.Bool
	classNote   string    // see noteOfClasses
	makesBlocks bool      // otherwise rows are counted: dates of any unit have the same features
	tokens      []*Tokens // for each input, the tokens of its texts, or nil; nil: none
	tokenRoom   int64     // number of bytes of tokens that Learn may keep for each column
	Fixed       bool      // a model determines the features: nothing is computed from the data
}

func (s *Binding) Width() int {
	n := 0
	for i := range s.Plan.Inputs {
		n += s.Plan.Inputs[i].Width()
	}
	return n
}

// MostElements returns the maximum number of elements of a sparse row, the bias included. For sparse lists, it uses
// their mean number of elements.
func (s *Binding) MostElements() int64 {
	n, some := int64(0), false
	for i := range s.Plan.Inputs {
		switch c := &s.Plan.Inputs[i]; {
		case c.Words != nil:
			n += c.Words.MeanFeatures()
		case c.Categorical():
			n++
		case s.sparseLists(i) && !s.Plan.Standardize && c.Center == nil:
			some = true
		default:
			n += int64(c.Width())
		}
	}
	if some {
		n += s.lists.mean()
	}
	if s.Plan.Bias {
		n++
	}
	return n
}

// mostCategories returns the maximum number of categories of a column.
func (s *Binding) mostCategories() int {
	if s.Plan.Storage.Widest() > schema.MaxFeatures {
		return s.Plan.Storage.Widest()
	}
	return schema.MaxCategories
}

// MostStandardized is the largest number of features of svmlight files, and of sparse lists, that are standardized. A
// block of dense rows with that many features has 256 MiB.
const MostStandardized = 1 << 14

// checkWidth returns an error if the features known so far are more than a row may have, or if their names have more
// bytes than a model may have.
func (s *Binding) checkWidth() error {
	all, bytes, widest, most := int64(0), int64(0), 0, int64(max(schema.MaxFeatures, s.Plan.Storage.Widest()))
	for i := range s.Plan.Inputs {
		switch {
		case s.Plan.Inputs[i].Kind == schema.ListColumn && !s.sparseLists(i):
			most = schema.MaxFeatures // every element of a list is stored
		case isNumbered(s.Plan.Inputs[i]):
			most = schema.MaxNumbered
		}
		n := s.Plan.Inputs[i].Width()
		all, bytes = all+int64(n), bytes+s.Plan.Inputs[i].NameBytes()
		if n > s.Plan.Inputs[widest].Width() {
			widest = i
		}
	}
	switch {
	case all <= most && bytes <= schema.MaxNames:
		return nil
	case all <= most:
		return message.Errorf("the names of %d features, %d of them from column %q, have over %s: rename columns, or "+
			"leave some out with --exclude",
			all, s.Plan.Inputs[widest].Width(), s.Plan.Inputs[widest].Name, column.BytesText(schema.MaxNames))
	}
	advice := message.Sprintf("leave columns out with --exclude")
	if s.Plan.Inputs[widest].Kind == schema.NumberedColumn {
		advice = "leave the larger indices out"
	}
	return fmt.Errorf("%d features, %d of them from column %q, and a row has at most %d features: %s", all,
		s.Plan.Inputs[widest].Width(), s.Plan.Inputs[widest].Name, most, advice)
}

// Spec returns the spec of blocks without labels.
func (s *Binding) Spec() (*schema.Spec, error) {
	spec := &schema.Spec{Bias: s.Plan.Bias, Preprocessing: s.preprocessing(), Weighted: s.Weight >= 0}
	if s.Width() > schema.MaxNamed {
		return spec, nil
	}
	if len(s.Plan.Inputs) == 1 { // its names differ
		spec.Features = s.Plan.Inputs[0].Names()
		return spec, nil
	}
	of := map[string]string{}
	for i := range s.Plan.Inputs {
		for _, name := range s.Plan.Inputs[i].Names() {
			if other, ok := of[name]; ok {
				return nil, fmt.Errorf("columns %q and %q both have a feature %q: rename one", other, s.Plan.Inputs[i].Name, name)
			}
			of[name] = s.Plan.Inputs[i].Name
			spec.Features = append(spec.Features, name)
		}
	}
	return spec, nil
}

// preprocessing returns the preprocessing with which a model makes the features again, or nil if the features are the
// columns' numbers and the Spec lists their names.
func (s *Binding) preprocessing() *schema.Preprocessing {
	if s.plain() && !(slices.ContainsFunc(s.Plan.Inputs, isNumbered) && s.Width() > schema.MaxNamed) {
		return nil
	}
	return &schema.Preprocessing{Nulls: s.Plan.Nulls, NullValues: s.Plan.NullWords, Columns: s.Plan.Inputs}
}

// plain returns true if the features are the columns' numbers.
func (s *Binding) plain() bool {
	other := func(c schema.Column) bool {
		return c.Kind != schema.NumberColumn && !isNumbered(c) || c.Unit != "" || c.Derive != ""
	}
	return s.Plan.Nulls == schema.NullsError && !s.Plan.Standardize && s.Plan.NullWords == nil && !slices.ContainsFunc(s.Plan.Inputs, other)
}

func isNumbered(c schema.Column) bool { return c.Kind == schema.NumberedColumn }

// Drops returns true if rows are dropped: with a missing value, without a label, or by the options where, sample and limit. If a
// model is given and there is no label, no row is dropped, because each row gets a prediction.
func (s *Binding) Drops() bool {
	return s.dropsNulls() || s.Plan.DropUnlabelled && s.Label >= 0 || s.where != nil || s.Plan.Sample > 0 || s.Plan.End > 0
}

// dropsNulls returns true if rows with a missing value are dropped.
func (s *Binding) dropsNulls() bool {
	return s.Plan.Nulls == schema.NullsDrop && (!s.Fixed || s.Label >= 0)
}

// Notes returns a note about the columns that match a pattern of Keep and can't be kept.
func (s *Binding) Notes() []string {
	if len(s.passed) == 0 {
		return nil
	}
	return []string{humanize.Columns(s.passed) + ": left out, values of such a type can't be handed on"}
}

// sparseLists returns true if input k has sparse lists in the data.
func (s *Binding) sparseLists(k int) bool {
	return s.Plan.Inputs[k].Kind == schema.ListColumn && column.SparseLists(s.Columns[s.Features[k]].Type)
}

// further returns the columns of input k except the first column, which Features has. Only a cross has further
// columns.
func (s *Binding) further(k int) []int {
	if k < len(s.Further) {
		return s.Further[k]
	}
	return nil
}

// listCounts are the numbers of training rows and of the values in their sparse lists. If rows is 0, they are
// unknown.
type listCounts struct{ rows, values int64 }

// mean returns the mean number of values in the sparse lists of a row, rounded up. If it is unknown, mean returns a
// guess.
func (c listCounts) mean() int64 {
	const usual = 100
	if c.rows == 0 {
		return usual
	}
	return (c.values + c.rows - 1) / c.rows
}

// Unlearned returns true if the features depend on more than the types of their columns.
func (s *Binding) Unlearned() bool {
	if s.Fixed {
		return false
	}
	return s.Wholly() || s.unmeasured()
}

// Wholly returns true if the features depend on all rows.
func (s *Binding) Wholly() bool {
	return s.counted() || slices.ContainsFunc(s.Plan.Inputs, s.collects)
}

// collects returns true if the categories or the texts of a column are collected from the rows.
func (s *Binding) collects(c schema.Column) bool {
	return c.Learned() || s.Plan.HashTexts && c.Hashed()
}

// counted returns true if the features depend on the moments of the columns.
func (s *Binding) counted() bool { return s.Plan.Nulls == schema.NullsMean || s.Plan.Standardize }

// unmeasured returns true if the length of the lists of some column is unknown.
func (s *Binding) unmeasured() bool {
	return slices.ContainsFunc(s.Plan.Inputs, func(c schema.Column) bool { return c.Width() == 0 })
}

// forLearning returns a copy of the binding whose features have learned nothing from rows. A pass over rows writes only
// into such a copy: the plan of s stays as it is.
func (s *Binding) forLearning() *Binding {
	own := *s
	own.Plan = s.Plan.WithoutLearned()
	return &own
}
