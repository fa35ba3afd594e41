// Command learners makes the compiler generate the code of every learner. It isn't run.
package main

import (
	"context"

	"halfspace/block"
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
	ftrl.TrainAdaGrad(ctx, src, ftrl.AdaGradOptions{})
	ftrl.TrainFTRL(ctx, src, ftrl.Options{})
	kernelperceptron.Train(ctx, data, kernelperceptron.Options{})
	lda.Train(ctx, src, lda.Options{})
	logistic.Train(ctx, src, logistic.Options{})
	perceptron.Train(ctx, src, perceptron.Options{})
	separability.Check(ctx, src, separability.Options{})
	svm.Train(ctx, src, svm.Options{})
	learner.Choose(ctx, src, 1, nil, nil)
	passiveaggressive.Train(ctx, src, passiveaggressive.Options{})
	winnow.Train(ctx, src, winnow.Options{})
}
