package train

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/schema"
	"halfspace/train/learner"
)

// Weights are factors of the sample weights by class.
type Weights struct {
	Classes  map[string]float64 // weights of classes by their text; 1 for others
	Balanced bool               // give all classes the same total weight, in place of Classes
	Column   string             // name of the column that the sample weights came from, for the model
}

// hasClassWeights tells whether classes have weights.
func (w *Weights) hasClassWeights() bool { return w.Balanced || len(w.Classes) > 0 }

// Check returns an error if classes can't have these weights, whichever classes there are.
func (w *Weights) Check() error {
	if w.Balanced && len(w.Classes) > 0 {
		return message.Refusal("class-weight", "balanced", "with weights of classes: leave one of them out")
	}
	for _, class := range slices.Sorted(maps.Keys(w.Classes)) {
		if weight := w.Classes[class]; !(weight > 0) || math.IsInf(weight, 0) {
			return message.Refusal("class-weight", fmt.Sprintf("%s=%v", class, weight),
				`: "%v" is no weight, which is a number above 0`, weight)
		}
	}
	return nil
}

// weightsOf returns the weight of each class of src, in the order of its spec, or nil if classes have no weights.
func weightsOf(ctx context.Context, o *Weights, src block.Source, workers int) ([]float64, error) {
	switch {
	case o.Balanced:
		return learner.BalancedWeights(ctx, src, workers)
	case len(o.Classes) == 0:
		return nil, nil
	}
	return o.classWeights(src.Spec().Classes)
}

func (o *Weights) classWeights(classes []schema.Class) ([]float64, error) {
	weights := make([]float64, len(classes))
	for _, class := range slices.Sorted(maps.Keys(o.Classes)) {
		weight, i := o.Classes[class], schema.FindClass(classes, class)
		what := ""
		switch {
		case i < 0:
			what = fmt.Sprintf("no class %q: name some of %s", class, schema.ListClasses(classes))
		case weights[i] > 0:
			what = "the class is named twice: name it once"
		}
		if what != "" {
			return nil, message.Refusal("class-weight", fmt.Sprintf("%s=%v", class, weight), ": %s", what)
		}
		weights[i] = weight
	}
	for i := range weights {
		if weights[i] == 0 {
			weights[i] = 1
		}
	}
	return weights, nil
}
