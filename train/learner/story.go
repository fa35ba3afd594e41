package learner

import (
	"fmt"

	"halfspace/internal/humanize"
	"halfspace/internal/model"
)

// StepsSummary describes a training that solves for an optimum in steps: its options, the steps of its method, the loss,
// of which sum is the description, and the duality gap. It returns nil if the model has no l2: another program learned
// its weights.
func StepsSummary(m *model.Model, method, sum string) []string {
	if m.Options.L2 == nil {
		return nil
	}
	t, loss, converged := &m.Training, "", "converged"
	if m.Options.Loss != "" {
		loss = m.Options.Loss + ", "
	}
	if !t.Converged {
		converged = "not converged"
	}
	if m.Options.L1 > 0 {
		loss += "l1 " + humanize.Real(m.Options.L1) + ", "
	}
	if m.Options.NonNegative {
		loss += "weights of 0 or more, "
	}
	story := []string{"options", fmt.Sprintf("%sl2 %s, at most %s", loss, humanize.Real(*m.Options.L2), humanize.Passes(m.Options.Epochs)),
		"solver", fmt.Sprintf("%s of %s in %s, %s", humanize.Plural(t.Updates, "step"), method, humanize.Passes(t.Epochs), converged),
		"loss", humanize.NumberOrUnknown(t.Loss, ", the sum of "+sum)}
	if t.Optimum != nil {
		story = append(story, "objective", fmt.Sprintf("%s, at most %s above the optimum (the duality gap)",
			humanize.Real(t.Optimum.Objective), humanize.Real(t.Optimum.Gap)))
	}
	if m.Options.L1 > 0 || m.Options.NonNegative {
		story = append(story, "weights", sparsity(m))
	}
	if p := t.Path; p != nil {
		story = append(story, pathTexts(p)...)
	}
	return story
}

// pathTexts describes a regularisation path: its penalties, the chosen penalty, and the greatest penalty whose loss is
// within chance of the best.
func pathTexts(p *model.Path) []string {
	of := func(i int) string {
		point := p.Points[i]
		return fmt.Sprintf("l1 %s, loss %s +- %s in %d folds, %s", humanize.Real(point.L1), humanize.Real(point.Loss),
			humanize.Real(point.StdError), p.Folds, humanize.Plural(int64(point.NonzeroWeights), "weight"))
	}
	last := len(p.Points) - 1
	return []string{"path", fmt.Sprintf("l1 from %s to %s, %s in %s", humanize.Real(p.Points[0].L1),
		humanize.Real(p.Points[last].L1), humanize.Plural(int64(last+1), "point"), humanize.Passes(p.Passes)),
		"chosen", of(p.ChosenPoint), "sparser", of(p.PointWithinError)}
}

// sparsity returns a text with the number of weights that aren't 0.
func sparsity(m *model.Model) string {
	left, all := 0, 0
	for _, w := range m.Weights {
		for _, v := range w {
			if all++; v != 0 {
				left++
			}
		}
	}
	return fmt.Sprintf("%s of %s are not 0; they have no standard errors", humanize.Count(int64(left)), humanize.Count(int64(all)))
}
