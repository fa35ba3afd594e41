package training

import (
	"math"
	"strings"

	"halfspace/internal/cli/console"
	"halfspace/internal/decimal"
	"halfspace/train"
)

// balanced is the value of --class-weight that gives all classes the same total weight.
const balanced = "balanced"

// checkWeights returns an error if the options on weights can't be used, and reads the class weights.
func (o *trainOptions) checkWeights(l *train.Learner) error {
	o.Storage.Weighted = o.Columns.SampleWeight != "" || len(o.classWeight) > 0
	if o.Storage.Weighted && l.NoWeights != "" {
		name := "sample-weight"
		if o.Columns.SampleWeight == "" {
			name = "class-weight"
		}
		return console.Usagef("--%s with --algo %s, %s: leave it out", name, l.Name, l.NoWeights)
	}
	if o.balanced() {
		return nil
	}
	for _, item := range o.classWeight {
		class, weight, err := classWeight(item)
		if err != nil {
			return err
		}
		if o.weights == nil {
			o.weights = map[string]float64{}
		}
		if o.weights[class] > 0 {
			return console.Usagef("--class-weight %s: the class is named twice: name it once", item)
		}
		o.weights[class] = weight
	}
	return nil
}

func (o *trainOptions) balanced() bool {
	return len(o.classWeight) == 1 && o.classWeight[0] == balanced
}

// classWeight reads an item of --class-weight, CLASS=NUMBER.
func classWeight(item string) (class string, weight float64, err error) {
	i := strings.LastIndexByte(item, '=')
	if i < 0 {
		return "", 0, console.Usagef("--class-weight %s: use %s, or CLASS=W,... with a weight for each class, or \"A,B=W\",... for one with a comma", item, balanced)
	}
	weight, err = decimal.Parse(item[i+1:])
	if err != nil || !(weight > 0) || math.IsInf(weight, 0) {
		return "", 0, console.Usagef("--class-weight %s: %q is no weight, which is a number above 0", item, item[i+1:])
	}
	return item[:i], weight, nil
}
