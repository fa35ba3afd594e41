// Package model holds what a training learned, the parameters of a linear classifier with what they mean, and its file.
//
// # The file
//
// A model file is indented JSON with "format": "halfspace-model/1". Nothing in it depends on how it came about: not on
// the number of workers, the instruction set, memory, paths, file formats, the time or the version of the program. The
// same data, options and seed give the same bytes.
//
// Weights and bias are written as the shortest decimals that parse back, as float64, to the exact value, also where the
// weight is a float32: any reader of JSON gets the exact number. The score of a row is the dot product of its features
// with the one row of "weights", plus the "bias"; above zero, or above the "threshold" where there is one, it predicts the class
// "positive", else the other one. Of more than two
// classes each has a row and a bias; the greatest score predicts its class. A model of support rows has an "expansion" in place of
// "weights"; see Expansion.
//
// A voted perceptron also has "voters", of which "weights" are the mean. Their "weights" are vectors of little-endian float32
// in base64, each with the bias at its end. Each vector votes with its number in "counts", for "positive" if its score is
// above zero. The row's score is the share of those votes less that of the others. For more than two classes, "sizes" has the number of
// vectors of each class, in the order of "classes". They vote for the class or against it, and the class with the largest share of its
// votes is predicted.
//
// The last key, on a line of its own, is "checksum": the SHA-256 of every byte of the file before that line. To check it
// by hand:
//
//	head -n -2 m.json | sha256sum
//
// A reader accepts keys that it doesn't know, and no other number than 1 after the slash of "format".
//
// # In a program
//
// A program reads a model, and package predict applies it to rows:
//
//	m, err := model.Load("m.json")
//	...
//	p, err := predict.New(m)
//	...
//	class, err := p.Class([]float64{5.1, 3.5, 1.4, 0.2})
//
// A training of package fit gives a whole model, and Save writes it. New makes one of weights that a program has. Files that can't be
// used are the errors ErrNoModel, ErrVersion and ErrDamaged.
package model

import (
	"errors"
	"fmt"
	"slices"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/schema"
)

// Format is the first thing that a model file says.
const Format = "halfspace-model/1"

// Float32 is the Dtype of every model: rows, weights and scores are float32.
const Float32 = "float32"

// Model is a classifier: a linear one, or one with an Expansion in place of Weights. Of two classes, Weights has one row with a weight for each feature, and Bias one number, or
// none when it was trained without one. Of more classes both have a row and a number for each.
type Model struct {
	Format    string         `json:"format"`
	Algorithm string         `json:"algorithm"`
	Dtype     string         `json:"dtype"` // of features, weights and scores: Float32
	Label     string         `json:"label"` // name of the label's column
	Classes   []schema.Class `json:"classes"`
	Positive  schema.Class   `json:"positive"`
	Features  []string       `json:"features"` // names; none: Preprocessing gives them. See Width and FeatureName

	Preprocessing *schema.Preprocessing `json:"preprocessing,omitempty"` // how features are made; nil: each is a column's number

	FitBias bool        `json:"fit_bias"`
	Weights [][]float64 `json:"weights"`
	Bias    []float64   `json:"bias"`

	// SparseWeights are in the file of a wide model, in place of Weights: those that aren't 0. Read sets Weights and leaves it nil.
	SparseWeights []SparseVector `json:"sparse_weights,omitempty"`

	// Expansion has a nonlinear model's support rows, in place of Weights.
	Expansion *Expansion `json:"expansion,omitempty"`

	// Voters are the weights of a voted perceptron, of which Weights and Bias are the mean.
	Voters *Voters `json:"voters,omitempty"`

	// StdErrors are the standard errors of the weights of a logistic regression of two classes, then of the bias if there is one. 0
	// stands for a feature that others determine: the weight is 0, and the other standard errors are those without the feature.
	StdErrors []float64 `json:"std_errors,omitempty"`

	// Robust tells that StdErrors are those of the sandwich estimator, since the weights of rows weren't counts.
	Robust bool `json:"robust,omitempty"`

	// Projection has the discriminant directions of a linear discriminant analysis, where it was asked for them.
	Projection *Projection `json:"projection,omitempty"`

	// Calibration makes probabilities of scores that aren't logarithms of odds; nil: nothing does.
	Calibration *Calibration `json:"calibration,omitempty"`

	// Threshold is the score above which a model of two classes predicts Positive; nil: 0. SetThreshold sets it.
	Threshold *float64 `json:"threshold,omitempty"`

	// State is what the learner needs beside the weights to go on with the training; nil: nothing.
	State State `json:"state,omitempty"`

	Options  Options  `json:"options"`
	Data     Data     `json:"data"`
	Training Training `json:"training"`
}

// Options are the training options that shaped the result. An option without an effect, such as the seed of a training in file order, is
// absent.
type Options struct {
	Order      string  `json:"order,omitempty"`
	Epochs     int64   `json:"epochs,omitempty"`
	MaxUpdates int64   `json:"max_updates"` // 0 is no limit
	Eta        float64 `json:"eta,omitempty"`
	Margin     float64 `json:"margin,omitempty"` // an update happens on rows with y(w.x+b) of at most this
	EarlyStop  int64   `json:"early_stop,omitempty"`
	Seed       *uint64 `json:"seed,omitempty"`
	Pocket     string  `json:"pocket,omitempty"`
	Multiclass string  `json:"multiclass,omitempty"` // of more than two classes: OneVersusRest or Joint; a file without it is of the former, and none is written
	Form       string  `json:"form,omitempty"`       // of a dual training: averaged or voted; absent where the last weights are kept
	Validation float64 `json:"validation,omitempty"` // share of the rows that was held back for it

	Winnow string `json:"winnow,omitempty"` // the variant

	L2          *float64 `json:"l2,omitempty"`          // penalty of a logistic regression or a support vector machine
	L1          float64  `json:"l1,omitempty"`          // penalty on the absolute values of weights, of the same
	NonNegative bool     `json:"nonnegative,omitempty"` // weights are 0 or more

	Loss string `json:"loss,omitempty"` // of a support vector machine: squared_hinge or hinge

	Solver    string `json:"solver,omitempty"`    // of a logistic regression, if it isn't newton, or lda, if it isn't cholesky
	Shrinkage string `json:"shrinkage,omitempty"` // of lda: auto or a share

	Group   string `json:"group,omitempty"`    // the column of groups, of which none is on two sides of a hold-out or in two folds
	OrderBy string `json:"order_by,omitempty"` // the column of times, where later rows are held back
	Split   string `json:"split,omitempty"`    // SplitTime, where later rows are held back in the order of the rows; "": none of this

	SampleWeight string    `json:"sample_weight,omitempty"` // the column of sample weights
	ClassWeight  []float64 `json:"class_weight,omitempty"`  // factor of the sample weights of each class, in the order of Classes

	ThresholdBy string `json:"threshold_by,omitempty"` // how the training chose Model.Threshold, in the words of predict.ParseThreshold

	Others map[string]any `json:"others,omitempty"` // options of learners that have no key of their own here, by name; see Set
}

// SplitTime is the Options.Split of rows in order of time.
const SplitTime = "time"

// A Projection is directions in which classes differ: a row's coordinate along one is its product with the row's features.
type Projection struct {
	Directions [][]float64 `json:"directions"` // each a number for each feature
	Explained  []float64   `json:"explained"`  // each one's share of what all tell of the classes
}

func (p *Projection) check(features int) error {
	if len(p.Directions) == 0 || len(p.Explained) != len(p.Directions) {
		return fmt.Errorf("projection has %d directions, and shares of %d", len(p.Directions), len(p.Explained))
	}
	for _, d := range p.Directions {
		if len(d) != features {
			return fmt.Errorf("a direction of the projection has %d numbers for %d features", len(d), features)
		}
		if !allFinite(d) || !allFinite(p.Explained) {
			return errors.New("projection holds a number that isn't finite")
		}
	}
	return nil
}

// What Options.Multiclass says.
const (
	OneVersusRest = "ovr"   // each class has weights that tell it from the rest, learned in a training of its own
	Joint         = "joint" // the vectors of all classes were learned together
)

// Data tells which rows a model was trained on.
type Data struct {
	Fingerprint string `json:"fingerprint"` // of block.Fingerprint
	Rows        int64  `json:"rows"`
}

// Training tells how the training went. Where each class had a training of its own, Epochs and Visits are the most of any class. Updates,
// Loss and Optimum are sums over the classes, and Converged tells that all converged.
type Training struct {
	Rows          int64           `json:"rows"`
	Epochs        int64           `json:"epochs"`
	Visits        int64           `json:"visits"`
	Updates       int64           `json:"updates"`
	Errors        *int64          `json:"errors"`             // rows whose prediction isn't their label, without sample weights; nil after one pass over a stream, or if an interrupt left no time
	Mistakes      *int64          `json:"mistakes,omitempty"` // rows that were predicted wrongly before they were learned from
	Converged     bool            `json:"converged"`
	Loss          *float64        `json:"loss,omitempty"`   // nil if an interrupt left no time; sum of -y(w.x+b) over the rows where that isn't negative; logistic: of log(1+e^(-y(w.x+b))); svm: of Options.Loss; lda: 0
	Radius        *float64        `json:"radius,omitempty"` // nil as Loss; largest Euclidean norm of a row, the bias included
	Norm          *float64        `json:"norm,omitempty"`   // nil as Loss; Euclidean norm of the weights, the bias included
	Kept          *int64          `json:"kept,omitempty"`
	Misclassified []Misclassified `json:"misclassified,omitempty"` // rows with the most updates, of a dual training
	Ridge         float64         `json:"ridge,omitempty"`         // what a singular matrix of the solver took to be regular, relative to its diagonal

	Dependent []Dependence `json:"dependent,omitempty"` // features whose weight is 0, since others tell their values

	Optimum *Optimum `json:"optimum,omitempty"` // of a support vector machine, and of a logistic regression whose gap is known

	Validation *Validation `json:"validation,omitempty"` // where a pocket judged on other rows

	CrossValidation *CrossValidation `json:"cross_validation,omitempty"`

	Path *Path `json:"path,omitempty"` // the penalties l1 that were tried

	// Of weights that separate the rows: the smallest y(w.x+b)/|w|, and the most updates that the perceptron can make on
	// such rows by Novikoff's theorem, (radius/margin)^2.
	Margin       *float64 `json:"margin,omitempty"`
	MistakeBound *float64 `json:"mistake_bound,omitempty"`

	// MixedUpdates are, with shards, the updates times the shares of their shards in the mixes: what the bound holds for then.
	MixedUpdates float64 `json:"mixed_updates,omitempty"`
}

// Misclassified tells how often a row was on the wrong side when it was visited: its n_i, summed over the classes where there are
// more than two.
type Misclassified struct {
	Row     int64 `json:"row"`
	Updates int64 `json:"updates"`
}

// Optimum tells how near the optimum a training came.
type Optimum struct {
	Objective float64 `json:"objective"`         // loss and penalty
	Gap       float64 `json:"duality_gap"`       // Objective less that of a point of the dual problem: the optimum is nearer than that
	Rounded   bool    `json:"rounded,omitempty"` // before the weights were rounded to the model's dtype, the gap was small enough
}

// A Dependence is a feature that is a sum of multiples of other columns, but for rounding. "(bias)" may be among these
// columns. If there are none, the feature is 0 in all rows.
type Dependence struct {
	Feature string   `json:"feature"`
	On      []string `json:"on,omitempty"`
}

// CrossValidation tells how models with the same options do on rows that they weren't trained on.
type CrossValidation struct {
	Folds  int   `json:"folds"`
	Errors int64 `json:"errors"` // of all rows, each predicted by the model of the folds that it isn't in
}

// Validation tells how the model does on rows that it was chosen, but not trained on.
type Validation struct {
	Fingerprint string `json:"fingerprint"` // of block.Fingerprint
	Rows        int64  `json:"rows"`
	Errors      int64  `json:"errors"`
}

// New returns the model of those weights for rows of that specification: a weight for each feature, then the bias if
// there is one, then any padding; Check tells of weights that are too few. Of more than two classes, weights has such a vector for each, all as long. The caller
// fills in Algorithm, Options, Data and Training, and without weights Expansion and Bias. Of more than two classes it says in
// Options.Multiclass how they were learned.
func New(spec *schema.Spec, weights []float32) *Model {
	m := &Model{
		Format:   Format,
		Dtype:    Float32,
		Label:    spec.Label,
		Classes:  slices.Clone(spec.Classes),
		Features: append([]string{}, spec.Features...),
		FitBias:  spec.Bias,
		Bias:     []float64{},

		Preprocessing: spec.Preprocessing,
		Training:      Training{Loss: new(0.0), Radius: new(0.0), Norm: new(0.0)},
	}
	if p := spec.PositiveClass(); p < len(spec.Classes) {
		m.Positive = spec.Classes[p]
	}
	if len(weights) == 0 {
		m.Weights = [][]float64{}
		return m
	}
	for v := range slices.Chunk(weights, max(1, len(weights)/m.vectors())) {
		row := make([]float64, min(len(v), spec.Width()))
		for i := range row {
			row[i] = float64(v[i])
		}
		m.Weights = append(m.Weights, row)
		if spec.Bias && len(v) > len(row) {
			m.Bias = append(m.Bias, float64(v[len(row)]))
		}
	}
	return m
}

// HasProbabilities tells whether scores give a probability of each class: as logarithms of odds, or by a calibration.
func (m *Model) HasProbabilities() bool { return m.LogOdds() || m.Calibration != nil }

// LogOdds tells whether scores are logarithms of odds.
func (m *Model) LogOdds() bool {
	switch m.Algorithm {
	case "logistic", "lda", "ftrl":
		return true
	case "adagrad":
		return m.Options.Loss == "logistic"
	}
	return false
}

// vectors returns how many vectors of weights the classes need.
func (m *Model) vectors() int {
	if len(m.Classes) <= 2 {
		return 1
	}
	return len(m.Classes)
}

// columns returns the spec of the features.
func (m *Model) columns() *schema.Spec {
	return &schema.Spec{Features: m.Features, Preprocessing: m.Preprocessing}
}

// Width returns the number of features.
func (m *Model) Width() int { return m.columns().Width() }

// FeatureName returns the name of feature i, from 0.
func (m *Model) FeatureName(i int) string { return m.columns().FeatureName(i) }

// Texts returns texts of the training rows that a hashed column has in feature i, if the training kept them; see schema.Dictionary.
func (m *Model) Texts(i int) []string {
	if m.Preprocessing == nil {
		return nil
	}
	return m.Preprocessing.Texts(i)
}

// Spec says what the columns of a block that the model can score mean.
func (m *Model) Spec() *schema.Spec {
	s := &schema.Spec{
		Features: slices.Clone(m.Features),
		Bias:     m.FitBias,
		Label:    m.Label,
		Classes:  slices.Clone(m.Classes),

		Preprocessing: m.Preprocessing,
	}
	s.SetPositive(slices.Index(m.Classes, m.Positive))
	return s
}

// Vector returns the weights for kernels: a weight for each feature, the bias where there is one, then zeros up to
// kernel.Stride; of more than two classes, such a vector for each. Scores by it repeat the arithmetic of the training.
func Vector(m *Model) []float32 {
	stride := kernel.Stride(m.cols())
	w := block.Alloc[float32](stride * len(m.Weights))
	for c, row := range m.Weights {
		for i, v := range row {
			w[c*stride+i] = float32(v)
		}
		if m.FitBias {
			w[c*stride+len(row)] = float32(m.Bias[c])
		}
	}
	return w
}
