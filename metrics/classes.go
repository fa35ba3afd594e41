package metrics

import (
	"runtime"

	"golang.org/x/sync/errgroup"
)

// ClassScores keeps the scores of every class, for figures of more than two classes that depend on the order of scores.
// Each class is compared with the rest: the rows of the class are positive, and all other rows negative.
type ClassScores struct {
	classes []Scores
	labels  []float32
	areas   []float64 // result of AUC; nil after Add
}

// NewClassScores returns the scores of no rows. classes is the number of classes.
func NewClassScores(classes int) *ClassScores {
	return &ClassScores{classes: make([]Scores, classes)}
}

// Bin makes s keep histograms; see Scores.Bin.
func (s *ClassScores) Bin() {
	for k := range s.classes {
		s.classes[k].Bin()
	}
}

// Class returns the scores of a class versus the rest.
func (s *ClassScores) Class(class int) *Scores { return &s.classes[class] }

// Add adds rows. scores has the scores of each class, [class][row]. classes has the class number of each row, and
// weights the weight of each row. If weights is nil, each row counts once.
func (s *ClassScores) Add(scores [][]float32, classes []float32, weights []float64) {
	s.areas = nil
	for k := range s.classes {
		s.labels = s.labels[:0]
		for _, y := range classes {
			label := float32(-1)
			if int(y) == k {
				label = 1
			}
			s.labels = append(s.labels, label)
		}
		s.classes[k].Add(scores[k], s.labels, weights)
	}
}

// Bytes returns the most bytes of memory of the scores; see Scores.Bytes.
func (s *ClassScores) Bytes() (bytes int64) {
	for k := range s.classes {
		bytes += s.classes[k].Bytes()
	}
	return bytes
}

// AUC returns the area under the ROC curve of each class versus the rest; see Scores.AUC.
func (s *ClassScores) AUC() []float64 {
	if s.areas != nil {
		return s.areas
	}
	areas := make([]float64, len(s.classes))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range s.classes {
		g.Go(func() error { areas[k] = s.classes[k].AUC(); return nil })
	}
	g.Wait() // no error
	s.areas = areas
	return areas
}

// MacroAUC returns the mean of AUC over the classes whose area is defined. It is NaN if no area is defined.
func (s *ClassScores) MacroAUC() float64 { return mean(len(s.classes), s.area, equalWeight) }

// WeightedAUC returns the mean of AUC over the classes whose area is defined, weighted by the weight of their rows. It
// is NaN if no area is defined.
func (s *ClassScores) WeightedAUC() float64 {
	return mean(len(s.classes), s.area, func(class int) float64 { return s.classes[class].positive.weight() })
}

func (s *ClassScores) area(class int) float64 { return s.AUC()[class] }
