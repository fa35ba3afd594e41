package predict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/cmd/internal/console"
	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/schema"
)

// explanationName is the column of explanations.
const explanationName = "explanation"

// mostExplained is the largest number of features that --explain takes.
const mostExplained = 1000

const explainUsage = "`NUMBER` Write the column \"explanation\" too: the features with the largest contributions to the score of the " +
	"row, as many as this. The contribution of a feature is its weight x its value, after standardizing if the training " +
	"standardized. With more than two classes, the score is that of the predicted class."

// checkExplain returns an error if --explain is out of range.
func (o *predictOptions) checkExplain() error {
	if o.explain < 0 || o.explain > mostExplained {
		return console.Usagef("--explain is %d: use 1 to %d features", o.explain, mostExplained)
	}
	if o.explain > 0 && o.numpy() {
		return console.Usagef("--explain with a .npy file, which holds numbers: write .parquet or .csv")
	}
	return nil
}

// checkExplains returns an error if --explain is given and the scores of a model aren't sums over its features.
func (o *predictOptions) checkExplains(m *model.Model) error {
	if o.explain == 0 || m.Expansion == nil && m.Voters == nil && len(m.Weights) > 0 {
		return nil
	}
	return message.Errorf("%s: its scores are no sums over the features, so --explain has no contributions: train a model of weights, "+
		"such as one of --algo logistic", o.model)
}

// A contribution is the weight of a feature times its value in a row.
type contribution struct {
	feature int
	value   float64
}

// explanations returns a text for each row of a block: the most features with the largest contributions to the score, the
// largest first. weights has a vector for each score, and classes has the predicted class of each row.
func explanations(spec *schema.Spec, weights [][]float64, b *block.Block, classes []int, most int, valid []bool) arrow.Array {
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	defer texts.Release()
	var all []contribution
	row := make([]float32, b.Stride)
	for r := range b.Len() {
		if valid != nil && !valid[r] {
			texts.AppendNull()
			continue
		}
		of := weights[0]
		if len(weights) > 1 {
			of = weights[classes[r]]
		}
		all = all[:0]
		add := func(i int, v float32) {
			if i < len(of) && v != 0 && of[i] != 0 { // the bias is no feature
				all = append(all, contribution{i, of[i] * float64(v)})
			}
		}
		if b.Sparse != nil {
			columns, values := b.Sparse.Row(r)
			for k, i := range columns {
				add(int(i), values[k])
			}
		} else {
			b.Row(r, row)
			for i := range of {
				add(i, row[i])
			}
		}
		slices.SortStableFunc(all, func(a, b contribution) int { return cmp.Compare(math.Abs(b.value), math.Abs(a.value)) })
		var parts []string
		for _, c := range all[:min(len(all), most)] {
			parts = append(parts, fmt.Sprintf("%s %+.4g", spec.FeatureName(c.feature), c.value))
		}
		texts.Append(strings.Join(parts, ", "))
	}
	return texts.NewArray()
}
