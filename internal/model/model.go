// Package model holds the result of a training as a model file. The public package halfspace/model has the description
// of the file.
package model

import (
	"errors"
	"fmt"
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/schema"
)

// Format is the value of "format", the first key of a model file.
const Format = "halfspace-model/1"

// Float32 is the Dtype of every model: rows, weights and scores are float32.
const Float32 = "float32"

// Model is a linear classifier, or a classifier with an Expansion in place of Weights. With two classes, Weights has
// one row with a weight for each feature, and Bias has one number, or none if the model was trained without a bias.
// With more classes, Weights has a row and Bias a number for each class.
type Model struct {
	Format    string         `json:"format"`
	Algorithm string         `json:"algorithm"`
	Dtype     string         `json:"dtype"` // type of features, weights and scores: Float32
	Label     string         `json:"label"` // name of the label column
	Classes   []schema.Class `json:"classes"`
	Positive  schema.Class   `json:"positive"`
	Features  []string       `json:"features"` // names; if empty, Preprocessing gives them. See Width and FeatureName

	Preprocessing *schema.Preprocessing `json:"preprocessing,omitempty"` // how features are made; nil: each is a column's number

	FitBias bool        `json:"fit_bias"`
	Weights [][]float64 `json:"weights"`
	Bias    []float64   `json:"bias"`

	// SparseWeights are the weights that aren't 0. The file of a wide model has them in place of Weights. Read sets
	// Weights from them, and sets SparseWeights to nil.
	SparseWeights []SparseVector `json:"sparse_weights,omitempty"`

	// Expansion has the support rows of a nonlinear model, in place of Weights.
	Expansion *Expansion `json:"expansion,omitempty"`

	// Voters are the weight vectors of a voted perceptron. Weights and Bias are their mean.
	Voters *Voters `json:"voters,omitempty"`

	// StdErrors are the standard errors of the weights of a logistic regression of two classes, then of the bias if
	// there is one. The value 0 marks a feature that other features determine: its weight is 0, and the other standard
	// errors hold without the feature.
	StdErrors []float64 `json:"std_errors,omitempty"`

	// HasRobustErrors tells that StdErrors come from the sandwich estimator, since the weights of rows weren't counts.
	HasRobustErrors bool `json:"robust,omitempty"`

	// Projection has the discriminant directions of a linear discriminant analysis, if the training was asked for them.
	Projection *Projection `json:"projection,omitempty"`

	// Calibration turns scores that aren't logarithms of odds into probabilities; nil: there is no calibration.
	Calibration *Calibration `json:"calibration,omitempty"`

	// Threshold is the score above which a model of two classes predicts Positive; nil: 0. SetThreshold sets it.
	Threshold *float64 `json:"threshold,omitempty"`

	// State is the learner's data, in addition to the weights, that it needs to continue the training; nil: none.
	State State `json:"state,omitempty"`

	Options  Options  `json:"options"`
	Data     Data     `json:"data"`
	Training Training `json:"training"`
}

// Options are the training options that shaped the result. An option without an effect is absent, such as the seed of a
// training in file order.
type Options struct {
	Order      string  `json:"order,omitempty"`
	Epochs     int64   `json:"epochs,omitempty"`
	MaxUpdates int64   `json:"max_updates"` // 0: no limit
	Eta        float64 `json:"eta,omitempty"`
	Margin     float64 `json:"margin,omitempty"` // rows with y(w.x+b) of at most Margin cause an update
	EarlyStop  int64   `json:"early_stop,omitempty"`
	Seed       *uint64 `json:"seed,omitempty"`
	Pocket     string  `json:"pocket,omitempty"`
	// Multiclass is OneVersusRest or Joint, for more than two classes. A file without it means OneVersusRest, and every
	// file is written with it.
	Multiclass string  `json:"multiclass,omitempty"`
	Form       string  `json:"form,omitempty"`       // for a dual training: averaged or voted; absent if the last weights are kept
	Validation float64 `json:"validation,omitempty"` // share of the rows that was held back for validation

	Winnow string `json:"winnow,omitempty"` // the variant of winnow

	L2          *float64 `json:"l2,omitempty"`          // penalty of a logistic regression or a support vector machine
	L1          float64  `json:"l1,omitempty"`          // penalty on the absolute values of their weights
	NonNegative bool     `json:"nonnegative,omitempty"` // weights are 0 or more

	Loss string `json:"loss,omitempty"` // for a support vector machine: squared_hinge or hinge

	Solver    string `json:"solver,omitempty"`    // for a logistic regression if it isn't newton, and for lda if it isn't cholesky
	Shrinkage string `json:"shrinkage,omitempty"` // for lda: auto or a share

	Group   string `json:"group,omitempty"`    // the column of groups; no group is on both sides of a hold-out or in two folds
	OrderBy string `json:"order_by,omitempty"` // the column of times; later rows are held back
	Split   string `json:"split,omitempty"`    // SplitTime: later rows are held back, in the order of the rows; otherwise ""

	SampleWeight string    `json:"sample_weight,omitempty"` // the column of sample weights
	ClassWeight  []float64 `json:"class_weight,omitempty"`  // factor of the sample weights of each class, in the order of Classes

	ThresholdBy string `json:"threshold_by,omitempty"` // how the training chose Model.Threshold; see predict.ParseThreshold

	Others map[string]any `json:"others,omitempty"` // by name, options of learners for which Options has no field; see Set
}

// SplitTime is the Options.Split for rows in order of time.
const SplitTime = "time"

// A Projection is a list of directions in which the classes differ. A row's coordinate along a direction is the dot
// product of the direction and the row's features.
type Projection struct {
	Directions      [][]float64 `json:"directions"` // each has one number for each feature
	ExplainedShares []float64   `json:"explained"`  // each direction's share of the explained differences
}

func (m *Model) checkProjection() error {
	p := m.Projection
	if p == nil {
		return nil
	}
	if len(p.Directions) == 0 || len(p.ExplainedShares) != len(p.Directions) {
		return fmt.Errorf("projection has %d directions, and shares of %d", len(p.Directions), len(p.ExplainedShares))
	}
	for _, d := range p.Directions {
		if len(d) != m.Width() {
			return fmt.Errorf("a direction of the projection has %d numbers for %d features", len(d), m.Width())
		}
		if !allFinite(d) || !allFinite(p.ExplainedShares) {
			return errors.New("projection holds a number that isn't finite")
		}
	}
	return nil
}

// The values of Options.Multiclass.
const (
	OneVersusRest = "ovr"   // each class has weights that tell it from the rest, trained on their own
	Joint         = "joint" // the vectors of all classes were trained together
)

// Data identifies the rows that a model was trained on.
type Data struct {
	Fingerprint string `json:"fingerprint"` // see block.Fingerprint
	Rows        int64  `json:"rows"`
	Lake        string `json:"lake,omitempty"` // the version of the lake table with the rows, in words, such as Delta version 41
}

// Training describes the course of the training. If each class was trained on its own, Epochs and Visits are the
// largest over the classes; Updates, Loss and Optimum are sums over the classes; and Converged is true only if all
// trainings converged.
type Training struct {
	Rows    int64 `json:"rows"`
	Epochs  int64 `json:"epochs"`
	Visits  int64 `json:"visits"`
	Updates int64 `json:"updates"`
	// Errors is the number of rows whose prediction isn't their label, without sample weights. It is nil after one pass
	// over a stream, or if an interrupt left no time.
	Errors    *int64 `json:"errors"`
	Mistakes  *int64 `json:"mistakes,omitempty"` // rows that were predicted wrong before they were learned
	Converged bool   `json:"converged"`
	// Loss is the sum over the rows of max(0, -y(w.x+b)); for logistic, of log(1+e^(-y(w.x+b))); for svm, of
	// Options.Loss; for lda it is 0. It is nil if an interrupt left no time.
	Loss              *float64           `json:"loss,omitempty"`
	Radius            *float64           `json:"radius,omitempty"` // largest Euclidean norm of a row, the bias included; nil as Loss
	Norm              *float64           `json:"norm,omitempty"`   // Euclidean norm of the weights, the bias included; nil as Loss
	KeptUpdate        *int64             `json:"kept,omitempty"`
	MisclassifiedRows []MisclassifiedRow `json:"misclassified,omitempty"` // rows with the most updates, in a dual training
	Ridge             float64            `json:"ridge,omitempty"`         // made a singular matrix regular, relative to its diagonal

	Dependences []Dependence `json:"dependent,omitempty"` // features whose weight is 0, since other features determine their values

	Optimum *Optimum `json:"optimum,omitempty"` // for a support vector machine, and for a logistic regression whose gap is known

	Validation *Validation `json:"validation,omitempty"` // if a pocket judged on other rows

	CrossValidation *CrossValidation `json:"cross_validation,omitempty"`

	Path *Path `json:"path,omitempty"` // the penalties l1 that were tried

	// Margin, for weights that separate the rows, is the smallest y(w.x+b)/|w|. MistakeBound is the largest number of
	// updates that the perceptron can make on these rows by Novikoff's theorem, (radius/margin)^2.
	Margin       *float64 `json:"margin,omitempty"`
	MistakeBound *float64 `json:"mistake_bound,omitempty"`

	// MixedUpdates is, for a training with shards, the sum of the updates times the shares of their shards in the
	// mixes. With shards, MistakeBound bounds this sum.
	MixedUpdates float64 `json:"mixed_updates,omitempty"`
}

// MisclassifiedRow tells how often a row was on the wrong side when it was visited: its n_i. With more than two classes
// it is the sum over the classes.
type MisclassifiedRow struct {
	Row     int64 `json:"row"`
	Updates int64 `json:"updates"`
}

// Optimum tells how close a training came to the optimum.
type Optimum struct {
	Objective float64 `json:"objective"` // loss and penalty
	// Gap is Objective minus the objective of a point of the dual problem: the optimum is at most Gap below Objective.
	Gap               float64 `json:"duality_gap"`
	MetBeforeRounding bool    `json:"rounded,omitempty"` // the gap was small enough before the weights were rounded to the model's dtype
}

// A Dependence is a feature that is a linear combination of other columns, up to rounding. "(bias)" may be one of these
// columns. If there are none, the feature is 0 in all rows.
type Dependence struct {
	Feature string   `json:"feature"`
	On      []string `json:"on,omitempty"`
}

// CrossValidation is the result of models with the same options on rows that they weren't trained on.
type CrossValidation struct {
	Folds  int   `json:"folds"`
	Errors int64 `json:"errors"` // over all rows, each predicted by the model that wasn't trained on the row's fold
}

// Validation is the result of the model on rows that served to choose the model, but not to train it.
type Validation struct {
	Fingerprint string `json:"fingerprint"` // see block.Fingerprint
	Rows        int64  `json:"rows"`
	Errors      int64  `json:"errors"`
}

// New returns the model with these weights for rows of that specification. weights has a weight for each feature, then
// the bias if there is one, then any padding; Check reports weights that are too few. With more than two classes,
// weights has one vector of this layout for each class, all of equal length. The caller fills in Algorithm, Options,
// Data and Training; if weights is empty, also Expansion and Bias; and if there are more than two classes, also
// Options.Multiclass. The model shares the names of spec.
func New(spec *schema.Spec, weights []float32) *Model {
	m := &Model{
		Format:   Format,
		Dtype:    Float32,
		Label:    spec.Label,
		Classes:  slices.Clone(spec.Classes),
		Features: slices.Clip(spec.Features),
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

// vectors returns the number of weight vectors that the classes need.
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

// Texts returns texts of the training rows that the hashed column has in feature i, if the training kept them; see
// schema.Dictionary.
func (m *Model) Texts(i int) []string {
	if m.Preprocessing == nil {
		return nil
	}
	return m.Preprocessing.Texts(i)
}

// Spec returns the specification of the rows that the model can score: features, bias, label and classes.
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

// Vector returns the weights for kernels: a weight for each feature, the bias if there is one, then zeros up to
// kernel.Stride. With more than two classes, it returns a vector of this layout for each class. Scores by these weights
// repeat the arithmetic of the training.
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
