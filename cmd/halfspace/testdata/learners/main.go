// Command learners makes the compiler generate the code of every learner. It isn't run.
package main

import (
	"context"

	"halfspace/internal/block"
	"halfspace/separability"
	"halfspace/train/ftrl"
	"halfspace/train/kernelperceptron"
	"halfspace/train/lda"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/passiveaggressive"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
	"halfspace/train/winnow"
)

func main() {
	var data *block.Data
	ctx, src := context.Background(), block.Source(data)
	ftrl.TrainAdaGrad(ctx, src, ftrl.AdaGradSettings{})
	ftrl.TrainFTRL(ctx, src, ftrl.Settings{})
	kernelperceptron.Train(ctx, data, kernelperceptron.Settings{})
	lda.Train(ctx, src, lda.Settings{})
	logistic.Train(ctx, src, logistic.Settings{})
	perceptron.Train(ctx, src, perceptron.Settings{})
	separability.Check(ctx, src, separability.Options{})
	svm.Train(ctx, src, svm.Settings{})
	learner.ChooseVectors(ctx, src, 1, nil, nil)
	passiveaggressive.Train(ctx, src, passiveaggressive.Settings{})
	winnow.Train(ctx, src, winnow.Settings{})
}
