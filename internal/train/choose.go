package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"halfspace/internal/humanize"
)

// choosePoint computes the figures of the points, and chooses the best point.
func (c *crossState) choosePoint(weighted bool) error {
	cv := c.CrossValidation
	for i := range cv.Points {
		p := &cv.Points[i]
		if p.failure != nil {
			p.FailureText, p.FoldAccuracy = p.failure.Error(), nil
			continue
		}
		if p.sum.Rows == 0 {
			continue
		}
		accuracy := float64(p.sum.Rows-p.sum.Errors) / float64(p.sum.Rows)
		cv.Rows = max(cv.Rows, p.sum.Rows)
		p.Errors, p.Accuracy = &p.sum.Errors, &accuracy
		if weighted {
			p.ErrorWeight = &p.sum.ErrorWeight
		}
	}
	err := c.chooseByScore()
	if err != nil && c.Points[0].Figures != nil && slices.ContainsFunc(cv.Points, func(p Point) bool { return p.Errors != nil }) {
		return nil // the caller sees that no learner has the score
	}
	return err
}

// chooseByScore computes the scores of the points that haven't failed, and chooses the best point. It returns an error
// if no point has a score.
func (c *crossState) chooseByScore() error {
	cv := c.CrossValidation
	cv.ChosenPoint = -1
	for i := range cv.Points {
		p := &cv.Points[i]
		if p.failure != nil {
			continue
		}
		mean, deviation := p.verdict.mean()
		p.Score, p.StdError = knownOrNil(mean), knownOrNil(deviation)
		if p.Score != nil && (cv.ChosenPoint < 0 || p.cost(cv.Score) < cv.Points[cv.ChosenPoint].cost(cv.Score)) {
			cv.ChosenPoint = i
		}
	}
	switch {
	case cv.ChosenPoint >= 0:
	case slices.ContainsFunc(cv.Points, func(p Point) bool { return len(p.verdict) > 0 && p.failure == nil }):
		return fmt.Errorf("the score %s is undefined in every fold: choose by another score", cv.Score)
	default:
		return cv.Points[0].failure
	}
	if c.cv.OneStandardError {
		best := cv.ChosenPoint
		cv.TopScorePoint, cv.ChosenPoint = &best, c.strongestPoint(best)
	}
	return nil
}

// cost returns a number that is least for the best point. Sums of errors are compared without rounding, but for points of a
// path, which have none.
func (p *Point) cost(score string) float64 {
	switch {
	case score == ByErrors && p.sum.Rows > 0:
		return float64(p.sum.Errors)
	case score == ByWeight && p.sum.Rows > 0:
		return p.sum.ErrorWeight
	case GreatestIsBest(score):
		return -*p.Score
	}
	return *p.Score
}

// knownOrNil returns a pointer to v for JSON, or nil (null) if v is NaN or infinite.
func knownOrNil(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// penaltyOptions are the options that make a model simpler as they grow, the most important first.
var penaltyOptions = []string{"l1", "l2"}

// strongestPoint returns the point with the strongest penalty among the points whose score is at most one standard
// error worse than the best point's, and whose other options are the options of the best point.
func (c *crossState) strongestPoint(best int) int {
	points := c.Points
	b, found := &points[best], best
	if b.StdError == nil {
		return best
	}
	limit := *b.StdError
	for i := range points {
		p := &points[i]
		if p.Score == nil || !(math.Abs(*p.Score-*b.Score) <= limit) || !samePenalized(p.Learner, b.Learner) {
			continue
		}
		if comparePenalties(p.Learner, points[found].Learner) > 0 {
			found = i
		}
	}
	return found
}

// samePenalized tells whether a grid set all options but penalties to the same values in a and b.
func samePenalized(a, b Learner) bool {
	for option, value := range a.VariedOptions {
		if !slices.Contains(penaltyOptions, option) && b.VariedOptions[option] != value {
			return false
		}
	}
	return true
}

// comparePenalties compares the penalties of two learners, in the order of penaltyOptions.
func comparePenalties(a, b Learner) int {
	for _, option := range penaltyOptions {
		x, _ := humanize.ParseNumber(a.Text(option)) // 0 if the learner lacks the option
		y, _ := humanize.ParseNumber(b.Text(option))
		if way := cmp.Compare(x, y); way != 0 {
			return way
		}
	}
	return 0
}
