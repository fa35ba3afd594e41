package cli

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"halfspace/block"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/schema"
	"halfspace/train"
)

// balanced is the --class-weight by which all classes weigh the same.
const balanced = "balanced"

// checkWeights looks for what is wrong in the options on what rows weigh, before there are any.
func (o *trainOptions) checkWeights() error {
	o.storage.weighted = o.data.sampleWeight != "" || len(o.classWeight) > 0
	if o.storage.weighted && o.learner.noWeights != "" {
		name := "sample-weight"
		if o.data.sampleWeight == "" {
			name = "class-weight"
		}
		return usagef("--%s with --algo %s, %s: leave it out", name, o.algo.value, o.learner.noWeights)
	}
	if o.balanced() {
		return nil
	}
	for _, item := range o.classWeight {
		if _, _, err := classWeight(item); err != nil {
			return err
		}
	}
	return nil
}

func (o *trainOptions) balanced() bool {
	return len(o.classWeight) == 1 && o.classWeight[0] == balanced
}

// classWeight reads CLASS=W.
func classWeight(item string) (class string, weight float64, err error) {
	i := strings.LastIndexByte(item, '=')
	if i < 0 {
		return "", 0, usagef("--class-weight %s: use %s, or CLASS=W,... with a weight for each class", item, balanced)
	}
	weight, err = strconv.ParseFloat(item[i+1:], 64)
	if err != nil || !(weight > 0) || math.IsInf(weight, 0) {
		return "", 0, usagef("--class-weight %s: %q is no weight, which is a number above 0", item, item[i+1:])
	}
	return item[:i], weight, nil
}

// weighed returns the job with rows that weigh what --class-weight says too, and the weights of the classes; the job itself where it
// says nothing. What is balanced are the rows to learn from.
func (j *job[T]) weighed(ctx context.Context) (*job[T], []float64, error) {
	if len(j.classWeight) == 0 {
		return j, nil, nil
	}
	classes, err := classWeights(ctx, j.trainOptions, j.src)
	if err != nil {
		return nil, nil, err
	}
	w := *j
	if w.src = train.Weigh(j.src, classes); j.validation != nil {
		w.validation = train.Weigh(j.validation, classes)
	}
	return &w, classes, nil
}

// classWeights returns what rows of each class weigh.
func classWeights[T kernel.Float](ctx context.Context, o *trainOptions, src block.Source[T]) ([]float64, error) {
	if o.balanced() {
		return train.BalancedWeights(ctx, src, o.workers)
	}
	classes := src.Spec().Classes
	weights := make([]float64, len(classes))
	for _, item := range o.classWeight {
		class, weight, err := classWeight(item)
		if err != nil {
			return nil, err
		}
		i := schema.FindClass(classes, class)
		if i < 0 {
			return nil, usagef("--class-weight %s: no class %q: name some of %s", item, class, schema.ListClasses(classes))
		}
		if weights[i] > 0 {
			return nil, usagef("--class-weight %s: the class is named twice: name it once", item)
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

// weightsText tells what rows weighed in a training, where they didn't weigh 1.
func weightsText(m *model.Model) []string {
	var parts []string
	if column := m.Options.SampleWeight; column != "" {
		parts = append(parts, "of rows "+column)
	}
	for i, w := range m.Options.ClassWeight {
		parts = append(parts, fmt.Sprintf("of class %s: %s", schema.NameClass(m.Classes[i]), say.Real(w)))
	}
	if parts == nil {
		return nil
	}
	const most = 10
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("and %d more", more))
	}
	return []string{"weights", strings.Join(parts, ", ")}
}
