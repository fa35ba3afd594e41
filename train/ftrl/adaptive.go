// Package ftrl trains linear classifiers by gradient steps whose size adapts to each feature. The learners are
// FTRL-Proximal and AdaGrad.
package ftrl

import (
	"context"

	"halfspace/internal/block"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// Loss is the loss of a row.
type Loss string

const (
	Logistic Loss = "logistic" // log(1 + e^-m) of a row with the margin m = y(w.x), the default
	Hinge    Loss = "hinge"    // max(0, 1 - m)
)

// Losses lists every loss, the default first.
var Losses = []Loss{Logistic, Hinge}

// Options are the options of FTRL-Proximal. The zero value of a field stands for its default.
type Options struct {
	Order  learner.Order // Cyclic
	Epochs int64         // most passes over the rows; 100

	Alpha float64 // factor of the learning rates, above 0; 0.1
	Beta  float64 // summand of the square root of the sum of squared gradients, above 0; 1
	L1    float64 // penalty on the absolute values of the weights without the bias, 0 or more; 0
	L2    float64 // penalty on the squares of the weights without the bias, 0 or more; 0
}

// Settings are Options, and how the training runs.
type Settings struct {
	Options
	learner.Run
}

// AdaGradOptions are the options of AdaGrad. The zero value of a field stands for its default.
type AdaGradOptions struct {
	Order  learner.Order // Cyclic
	Epochs int64         // most passes over the rows; 100
	Eta    float64       // learning rate, in (0, 1]; 0.1
	Shards int64         // shards of the rows, which learn apart in each epoch; their weights are mixed after it; 1

	Loss Loss // Logistic
}

// AdaGradSettings are AdaGradOptions, and how the training runs.
type AdaGradSettings struct {
	AdaGradOptions
	learner.Run
}

// delta is the summand of AdaGrad beside the square root of the sum of squared gradients.
const delta = 1e-10

// TrainFTRL trains by FTRL-Proximal with a learning rate for each feature (McMahan et al., "Ad click prediction: a view
// from the trenches", KDD 2013, algorithm 1), in opt.Epochs epochs. All weights are 0 at first. After t visits the
// weights are the minimum over w of
//
//	sum over s of g_s.w + 1/2 sum over s and i of sigma_si (w_i - w_si)^2 + l1 |w|_1 + 1/2 l2 |w|^2
//
// where g_s is the gradient of the logistic loss of visit s, which began with the weights w_s. n_i is the sum of g_si^2
// over s. The sum of sigma_si over s is (beta + sqrt n_i)/alpha - beta/alpha. The penalties count once for all visits,
// not once for each visit. The bias has no penalty. The weight of feature i follows from z_i and n_i alone:
//
//	w_i = 0                                                         if |z_i| <= l1
//	w_i = -(z_i - sign(z_i) l1) / ((beta + sqrt n_i)/alpha + l2)    otherwise
//	z_i = z_i + g_i - (sqrt(n_i + g_i^2) - sqrt n_i)/alpha w_i,  n_i = n_i + g_i^2    in each visit
//
// So the time of a visit is proportional to the number of the row's features that aren't 0. z and n are float64; the
// weights are rounded to float32. The sample weight of a row multiplies its gradient.
//
// TrainFTRL stops after opt.Epochs epochs, or after an epoch that changes nothing. Labels are -1 and +1. Every order
// but Cyclic needs src to be a *block.Data or a block.Seekable. The result doesn't depend on opt.Workers. Errors:
// options out of range, no rows, classes other than two, weights that overflow, errors of src, and ctx's error.
func TrainFTRL(ctx context.Context, src block.Source, opt Settings) (*learner.Result, error) {
	return online.Train(ctx, FTRL, src, &opt)
}

// TrainAdaGrad trains by AdaGrad with a diagonal matrix (Duchi, Hazan and Singer, "Adaptive Subgradient Methods for
// Online Learning and Stochastic Optimization", Journal of Machine Learning Research 12, 2011, figure 1). Each visit,
// with g the gradient of the row's loss, sets
//
//	n_i = n_i + g_i^2,  w_i = w_i - eta g_i / (1e-10 + sqrt n_i)
//
// FTRL-Proximal without penalties makes the same steps (McMahan et al., section 3), and this package runs it for
// AdaGrad. Orders, labels, stopping and errors are the same as for TrainFTRL. A row with a hinge loss of 0 changes
// nothing.
//
// With opt.Shards above 1, the rows are cut into opt.Shards shards. In each epoch the shards learn apart, from the same
// weights and the same n. The next epoch begins with the mean of their weights (Zinkevich, Weimer, Smola and Li,
// "Parallelized Stochastic Gradient Descent", NIPS 2010). It also begins with the mean of their n, as Local AdaAlter
// does (Xie, Koyejo, Gupta and Lin, "Local AdaAlter: Communication-Efficient Stochastic Gradient Descent with Adaptive
// Learning Rates", 2019). So n grows by the average growth of one shard, and the rates fall as for one shard. If each
// shard kept its own n, the steps of the shards would differ in size. Within an epoch the n of the shards do differ;
// but n grows, so the growth in one epoch becomes small against n. More than one shard needs src to be a *block.Data or
// a block.Seekable.
func TrainAdaGrad(ctx context.Context, src block.Source, opt AdaGradSettings) (*learner.Result, error) {
	return online.Train(ctx, adaGrad, src, &opt)
}
