// Command learners makes the compiler generate the code of every learner. It isn't run.
package main

import (
	"context"

	"halfspace/block"
	"halfspace/separable"
	"halfspace/train"
	"halfspace/train/adaptive"
	"halfspace/train/dual"
	"halfspace/train/lda"
	"halfspace/train/logistic"
	"halfspace/train/passive"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
	"halfspace/train/winnow"
)

func main() {
	var data *block.Data
	ctx, src := context.Background(), block.Source(data)
	adaptive.TrainAdaGrad(ctx, src, adaptive.AdaGradOptions{})
	adaptive.TrainFTRL(ctx, src, adaptive.Options{})
	dual.Train(ctx, data, dual.Options{})
	lda.Train(ctx, src, lda.Options{})
	logistic.Train(ctx, src, logistic.Options{})
	perceptron.Train(ctx, src, perceptron.Options{})
	separable.Check(ctx, src, separable.Options{})
	svm.Train(ctx, src, svm.Options{})
	train.Choose(ctx, src, 1, nil, nil)
	passive.Train(ctx, src, passive.Options{})
	winnow.Train(ctx, src, winnow.Options{})
}
