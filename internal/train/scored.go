package train

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/passes"
	"halfspace/predict"
)

// ErrorCount is the number of rows that a model predicts wrongly, and their weights.
type ErrorCount struct {
	Rows, Errors int64
	ErrorWeight  float64 // sum of the weights of wrong rows
	TotalWeight  float64 // sum of the weights of all rows
}

// CountErrors returns the errors of m on the rows of src: a row is wrong if its prediction by m isn't its label.
// Weights are summed within chunks, then over the chunks.
func CountErrors(ctx context.Context, m *model.Model, src block.Source, workers int) (t ErrorCount, err error) {
	return countErrors(ctx, m, src, workers, func([][]float32, *block.Block) {})
}

// countErrors is CountErrors. It also calls show with each block and its scores.
func countErrors(ctx context.Context, m *model.Model, src block.Source, workers int,
	show func([][]float32, *block.Block)) (t ErrorCount, err error) {
	spec, err := block.SpecOf(src)
	if err != nil {
		return t, err
	}
	positive := spec.PositiveClass()
	add := func(scores [][]float32, b *block.Block) {
		show(scores, b)
		threshold := m.ScoreThreshold() // m isn't nil here: there are scores
		chunk, all := 0.0, 0.0
		for i, y := range b.Y {
			if predict.PredictedClassAbove(scores, i, positive, threshold) != predict.LabelClass(y, len(scores), positive) {
				t.Errors++
				chunk += b.Weight(i)
			}
			if all += b.Weight(i); (i+1)%block.ChunkRows == 0 || i == len(b.Y)-1 {
				t.ErrorWeight, t.TotalWeight = t.ErrorWeight+chunk, t.TotalWeight+all
				chunk, all = 0, 0
			}
		}
		t.Rows += int64(len(b.Y)) // scores from another process come without features
	}
	err = eachScored(ctx, m, src, workers, add)
	return t, err
}

// eachScored calls add with the scores of some rows by m, and a block that has their labels and weights, and their features
// if this process reads the rows. Both are valid until add returns.
func eachScored(ctx context.Context, m *model.Model, src block.Source, workers int, add func([][]float32, *block.Block)) error {
	if !passes.InProcess(src) {
		return scoreRemote(ctx, m, src, add, func() error { return nil })
	}
	return eachScoredBlock(ctx, m, src.Blocks(ctx), workers, func(scores [][]float32, b *block.Block) error {
		add(scores, b)
		return nil
	})
}

// eachScoredBlock calls add with each block and its scores by m, which are valid until the call returns.
func eachScoredBlock(ctx context.Context, m *model.Model, blocks iter.Seq2[*block.Block, error], workers int,
	add func([][]float32, *block.Block) error) error {
	scorer, err := predict.NewScorer(m, workers)
	if err != nil {
		return err
	}
	for b, err := range blocks {
		if err != nil {
			return err
		}
		scores, err := scorer.Scores(ctx, b)
		if err == nil {
			err = add(scores, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scoreTask scores rows by a model. Its argument is the model's file.
var scoreTask = passes.NewTask("fit.scores", scorePiece)

// scoredRows is the scores, labels and weights of some rows.
type scoredRows struct {
	scores [][]float32
	y      []float32
	w      []float64
}

func (s *scoredRows) Fields() []any { return []any{&s.scores, &s.y, &s.w} }

func scorePiece(ctx context.Context, piece passes.Piece, file []byte) (all []scoredRows, err error) {
	m, err := model.Read(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	err = eachScoredBlock(ctx, m, piece.Blocks(ctx), piece.Workers, func(scores [][]float32, b *block.Block) error {
		s := scoredRows{y: b.Y, w: b.W}
		for _, of := range scores {
			s.scores = append(s.scores, slices.Clone(of))
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// scoreRemote scores rows in the processes that read them. It calls add with the scores, and a block that has the labels
// and the weights.
func scoreRemote(ctx context.Context, m *model.Model, src block.Source, add func([][]float32, *block.Block), added func() error) error {
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		return err
	}
	first := int64(0)
	return scoreTask.Each(ctx, src, file.Bytes(), passes.Consecutive(src.Rows()), func(all []scoredRows) error {
		for _, s := range all {
			add(s.scores, &block.Block{First: first, Y: s.y, W: s.w})
			first += int64(len(s.y))
		}
		return added()
	})
}
