package metrics

import (
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// ClassScores keeps the scores of every class, for the figures of more than two classes that depend on the order of scores.
// Each class is compared with the rest: the rows of the class are positive, and all others negative.
type ClassScores struct {
	classes []Scores
	labels  []float32
	areas   []float64 // what AUC returned; nil after Add
}

// NewClassScores returns the scores of no rows.
func NewClassScores(classes int) *ClassScores {
	return &ClassScores{classes: make([]Scores, classes)}
}

// Class returns the scores of a class versus the rest.
func (s *ClassScores) Class(class int) *Scores { return &s.classes[class] }

// Add adds rows by the scores of each class, [class][row], as many numbers of classes and as many weights. Without weights,
// nil, each row counts once.
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

// Bytes returns the most bytes that the scores take. See Scores.Bytes.
func (s *ClassScores) Bytes() (bytes int64) {
	for k := range s.classes {
		bytes += s.classes[k].Bytes()
	}
	return bytes
}

// AUC returns the area under the ROC curve of each class versus the rest. See Scores.AUC.
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

// MacroAUC returns the mean of AUC over the classes whose area is defined. It is NaN if there are none.
func (s *ClassScores) MacroAUC() float64 {
	return s.mean(func(*Scores) float64 { return 1 })
}

// WeightedAUC returns the mean of AUC over the classes whose area is defined, each with the weight of its rows. It is NaN if
// there are none.
func (s *ClassScores) WeightedAUC() float64 {
	return s.mean(func(class *Scores) float64 { return class.positive.weight() })
}

func (s *ClassScores) mean(weight func(*Scores) float64) float64 {
	sum, all := 0.0, 0.0
	for k, area := range s.AUC() {
		if !math.IsNaN(area) {
			w := weight(&s.classes[k])
			sum, all = sum+float64(area*w), all+w
		}
	}
	return sum / all
}
