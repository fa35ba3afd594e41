package plan

import (
	"slices"

	"halfspace/schema"
)

// A Plan gives the role of each column of a table, its features, and the rows that are kept. It is a plain value, without
// a file, a row or a function: equal tables and options have equal plans, and other processes get a plan as a value.
type Plan struct {
	Label  string   // column of the classes; "": none
	Weight string   // column of the sample weights; "": none
	Keep   []string // columns, or patterns of columns, that are passed on
	// KeepsTexts: passed-on columns of a text file have its texts, digit for digit, not the numbers that texts stand for
	KeepsTexts bool

	// Inputs are the features in order, with the values that they learn from rows: means, deviations, categories, lengths of lists.
	Inputs      []schema.Column
	Spec        *schema.Spec // of a model, which determines features and classes; nil: none
	Positive    string       // text of the class +1; "": the greater class
	Bias        bool         // rows end in a column of ones
	Nulls       schema.Nulls // treatment of missing values
	NullWords   []string     // texts that are nulls; nil: the model's texts, or the default texts
	Standardize bool
	KeepWide    bool // if there are more features than may be standardized, none is
	HashTexts   bool // collect texts of hashed columns
	Storage     Storage

	Where          string  // condition that chooses rows; "": all
	Forms          []Form  // for columns of texts that Where compares with numbers, booleans or dates
	Sample         float64 // share of the rows to keep, which a hash of their numbers chooses; 0: all
	End            int64   // number of the input row from which on no row is kept; 0: none
	DropUnlabelled bool    // leave out the rows without a label

	Notes []string // about the features
}

// A Form is how the texts of a column are read.
type Form struct {
	Column   string
	Input    *schema.Column // a feature that derives from the texts; nil: none does
	Examples []string       // some of the texts
}

// Words returns the texts that are nulls: the options' texts, or the model's; nil means the default texts.
func (p *Plan) Words() []string {
	if p.NullWords == nil && p.Spec != nil && p.Spec.Preprocessing != nil {
		return p.Spec.Preprocessing.NullValues
	}
	return p.NullWords
}

// WithoutLearned returns the plan without the means, deviations, categories and texts that its features learned from rows. Lengths
// of lists stay.
func (p Plan) WithoutLearned() Plan {
	p.Inputs = slices.Clone(p.Inputs)
	for k := range p.Inputs {
		c := &p.Inputs[k]
		c.Means, c.Center, c.Scale, c.Categories, c.Buckets, c.Dictionary = nil, nil, nil, nil, nil, nil
		c.Words = c.Words.WithoutLearned()
	}
	return p
}

// A Draft is a plan before the columns of its table are known. Options may name its features, by names and patterns of
// columns, in place of Inputs.
type Draft struct {
	Plan
	Features, Exclude []string
	RankBy            string // column that groups or orders rows; it is among Exclude
	Categorical       string // see dataset.Options
	Cross             []string
	Types             map[string]Word // of the option type, by the names of columns
	Limit             int64           // number of rows that Where and Sample choose, after which End follows; 0: no limit

	Prepare          bool // the values of columns decide how these become features
	ExcludesFromKeep bool // an empty Keep means all columns, and Exclude removes columns from Keep
	KeepsSparseLists bool // Keep accepts sparse lists too
	KeepsTypes       bool // with KeepsTexts, columns of integers and booleans keep their types
	MakesBlocks      bool // columns that are only features may be read as float32
	CountsRows       bool // count the rows of svmlight files, also for a model
	HasUnlabelled    bool // some row has no label; Prepare leaves it out
}

// Decides returns true if the values of columns decide how these become features.
func (d *Draft) Decides() bool { return d.Prepare && d.Spec == nil }
