package predict

import (
	"cmp"
	"math"
	"slices"

	"halfspace/internal/humanize"
	"halfspace/internal/preprocess"
	"halfspace/model"
	"halfspace/plot"
	"halfspace/train"
)

// misses returns the section of the rows that were most wrong, or nil if there are none.
func (r *evalReport) misses(m *model.Model) *plot.Section {
	if len(r.worst) == 0 {
		return nil
	}
	s := &plot.Section{Heading: "Hard rows", Text: []string{"Rows are numbered from 0 in the order of the files. Rows that were skipped have no number."}}
	t := plot.Table{Caption: "Wrong rows whose scores are farthest from " + thresholdOf(r), Head: []string{"row", "class", "predicted", "score"}}
	odds := m.HasProbabilities()
	if len(r.Classes) > 2 {
		t.Head[3] = "difference of scores"
		if t.Caption = "Wrong rows whose predicted class is farthest above their own"; odds {
			t.Caption = "Wrong rows with the least probabilities of their class"
		}
	}
	if odds {
		t.Head = append(t.Head, "probability of the class")
	}
	shown := shownFeatures(m, r.worst)
	for _, i := range shown {
		t.Head = append(t.Head, m.FeatureName(i))
	}
	if len(shown) < m.Width() && shown != nil {
		s.Text = append(s.Text, "Of the features, those are shown that moved the scores of these rows most.")
	}
	scale := preprocess.New(m.Spec())
	for _, miss := range r.worst {
		row := []string{humanize.Count(miss.Row), r.Classes[miss.Class].Text, r.Classes[miss.Predicted].Text, humanize.Real(miss.Score)}
		if odds {
			row = append(row, humanize.Real(miss.Probability))
		}
		for _, i := range shown {
			center, deviation := scale.Scale(i)
			value := 0.0
			if at, ok := slices.BinarySearchFunc(miss.Features, i, func(v train.Value, i int) int { return cmp.Compare(v.Feature, i) }); ok {
				value = miss.Features[at].Value
			}
			row = append(row, humanize.Real(value*deviation+center))
		}
		t.Rows = append(t.Rows, row)
	}
	s.Tables = []plot.Table{t}
	return s
}

// mostShown is the largest number of features that are shown for a wrong row.
const mostShown = 8

// shownFeatures returns the features with the largest sums of |weight * value| over wrong rows, at most mostShown, in
// ascending order. For a model without weights it sums |value|. It returns nil if the values aren't known.
func shownFeatures(m *model.Model, worst []train.Misclassified) (shown []int) {
	positive, moved := m.Spec().PositiveClass(), map[int]float64{}
	for _, miss := range worst {
		for _, v := range miss.Features {
			moved[v.Feature] += math.Abs(v.Value * weightOf(m, v.Feature, miss.Class, miss.Predicted, positive))
		}
	}
	for i := range moved {
		shown = append(shown, i)
	}
	slices.SortFunc(shown, func(a, b int) int { return cmp.Or(cmp.Compare(moved[b], moved[a]), cmp.Compare(a, b)) })
	shown = shown[:min(len(shown), mostShown)]
	slices.Sort(shown)
	return shown
}

// weightOf returns the weight of a feature in the difference of two scores: the score of the predicted class minus the
// score of the row's class. It returns 1 for a model without weights.
func weightOf(m *model.Model, feature, class, predicted, positive int) float64 {
	switch {
	case len(m.Weights) == 0:
		return 1
	case len(m.Weights) == 1 && predicted == positive:
		return m.Weights[0][feature]
	case len(m.Weights) == 1:
		return -m.Weights[0][feature]
	}
	return m.Weights[predicted][feature] - m.Weights[class][feature]
}
