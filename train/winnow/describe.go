package winnow

import (
	"context"

	"halfspace/kernel"
	"halfspace/train"
)

// Learner describes Winnow.
var Learner = &train.Learner{Name: "winnow", Minimises: "mistakes: they grow with the logarithm of the number of features, since weights are multiplied",
	Use: "features that are 0 or 1, if only a few of them matter", NeedsBias: "which has a threshold", NoWeights: "which multiplies weights by one number",
	Options: []train.Option{train.MaxUpdatesOption, train.EpochsOption, variantOption}, Example: "--winnow balanced",
	New: func() train.Settings {
		return &Options{Options: train.Options{Epochs: 100, Seed: 1}, Variant: Winnow2}
	},
	ScaleFree: func(train.Settings) bool { return true },
	NotFound:  "no disjunction, or other plane that this variant finds, was found",
	Float32:   learnTask[float32], Float64: learnTask[float64]}

var variantOption = train.Option{Name: "winnow", Help: "How to lower the weights of a row that is wrongly positive: divide them (winnow2) or set them to zero (winnow1). " +
	"balanced has weights of either sign.", Words: train.WordsOf(Variants), Bare: true, Field: train.FieldOf(func(o *Options) any { return &o.Variant })}

func learnTask[T kernel.Float](ctx context.Context, task *train.Task[T]) (*train.Learned[T], error) {
	r, err := Train(ctx, task.Rows, *task.Settings.(*Options))
	if r == nil {
		return nil, err
	}
	return &train.Learned[T]{Result: r, Own: r}, err
}
