package fit

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train"
)

// ErrClassWeights is an error about the weight of a class.
type ErrClassWeights struct {
	Class  string // as it was given
	Weight float64
	What   string // what is wrong, and what to do
}

func (e *ErrClassWeights) Error() string {
	return fmt.Sprintf("the weight of class %s: %s", e.Class, e.What)
}

// weightsOf returns the weight of each class of the rows, in the order of their spec. It returns nil if classes have no
// weights.
func weightsOf[T kernel.Float](ctx context.Context, o *Options, src block.Source[T], workers int) ([]float64, error) {
	switch {
	case o.Balanced:
		return train.BalancedWeights(ctx, src, workers)
	case len(o.ClassWeights) == 0:
		return nil, nil
	}
	return o.givenWeights(src.Spec().Classes)
}

func (o *Options) givenWeights(classes []schema.Class) ([]float64, error) {
	weights := make([]float64, len(classes))
	for _, class := range slices.Sorted(maps.Keys(o.ClassWeights)) {
		weight, i := o.ClassWeights[class], schema.FindClass(classes, class)
		switch {
		case !(weight > 0) || math.IsInf(weight, 0):
			return nil, &ErrClassWeights{class, weight, fmt.Sprintf("%v is no weight: use a number above 0", weight)}
		case i < 0:
			return nil, &ErrClassWeights{class, weight, fmt.Sprintf("no class %q: name some of %s", class, schema.ListClasses(classes))}
		case weights[i] > 0:
			return nil, &ErrClassWeights{class, weight, "the class is named twice: name it once"}
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
