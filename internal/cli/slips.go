package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// otherVerbs are what other programs call the verbs.
var otherVerbs = map[string]string{
	"fit": "train", "learn": "train", "build": "train", "test": "eval", "score": "eval", "validate": "eval", "metrics": "eval",
	"classify": "predict", "apply": "predict", "infer": "predict", "show": "inspect", "info": "inspect", "describe": "inspect", "head": "inspect",
	"generate": "gen", "separable": "check", "version": "--version",
}

// otherOptions are what other programs call the options, and what to type here. An advice that begins with the name of an option
// holds for verbs that have it.
var otherOptions = map[string]string{
	"C": "l2 with 1/C", "c": "l2 with 1/C", "alpha": "l2 with alpha times the number of rows", "lambda": "l2", "reg": "l2", "reg_param": "l2",
	"penalty": "l2, the only penalty", "lr": "eta", "learning-rate": "eta", "eta0": "eta", "max-iter": "epochs", "iterations": "epochs", "n-iter": "epochs", "passes": "epochs",
	"target": "label", "y": "label", "class-column": "label", "output": "out", "o": "out", "save": "out", "random-state": "seed", "threads": "workers", "jobs": "workers",
	"n-jobs": "workers", "normalize": "standardize", "scale": "standardize", "test-size": "validation", "validation-split": "validation", "folds": "cv",
	"na-values": "null-values", "missing": "null-values", "sep": "delimiter", "one-hot": "categorical onehot", "onehot": "categorical onehot", "fit-intercept": "no-bias, or leave it out",
	"columns": "features", "drop": "exclude", "learner": "algo", "model": "out", "m": "model", "l": "label", "a": "algo", "e": "epochs", "s": "seed", "f": "features", "w": "workers",
	"q": "progress never", "v": "cv",
}

// adviseVerb is the rest of a sentence about an unknown verb, if something is known to type in its place.
func adviseVerb(name string) string {
	if verb := otherVerbs[strings.ToLower(name)]; verb != "" {
		return ": use " + verb
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		if kind := jsonKind(name); kind != "" {
			return fmt.Sprintf(", which is %s: use predict --model %s DATA, or inspect %s", kind, name, name)
		}
		return fmt.Sprintf(", which is a file: use train %s --label COLUMN to learn from it, or inspect %s", name, name)
	}
	return ""
}

// otherLearners are what other programs call learners, in small letters without dashes, and what to type here.
var otherLearners = map[string]string{
	"logisticregression": "logistic, whose --l2 is 1/C", "logisticregressioncv": "logistic with --grid l2=0.01,0.1,1,10", "logit": "logistic", "logreg": "logistic",
	"lr": "logistic", "softmax": "logistic", "multinomial": "logistic", "maxent": "logistic", "l2rlr": "logistic, whose --l2 is 1/C",
	"sgdclassifier": "logistic with --solver sgd, or averaged", "sgd": "logistic with --solver sgd, or averaged",
	"linearsvc": "svm, whose --l2 is 1/C", "linearsvm": "svm", "hinge": "svm with --loss hinge", "liblinear": "svm or logistic, whose --l2 is 1/C",
	"l2rl2losssvc": "svm, whose --l2 is 1/C", "l2rl2losssvcdual": "svm, whose --l2 is 1/C", "l2rl1losssvcdual": "svm with --loss hinge, whose --l2 is 1/C",
	"svc": "svm, whose --l2 is 1/C, or with a kernel dual", "libsvm": "svm, whose --l2 is 1/C, or with a kernel dual",
	"lineardiscriminantanalysis": "lda", "fisher": "lda", "discriminant": "lda", "ridgeclassifier": "lda, or svm",
	"passiveaggressiveclassifier": "averaged with --margin 1", "passiveaggressive": "averaged with --margin 1", "averagedperceptron": "averaged", "votedperceptron": "voted",
	"kernelperceptron": "kernel-perceptron", "pocketperceptron": "pocket",
}

// shareText writes a percentage as the share that --validation takes; "" for text that is none.
func shareText(text string) string {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || !(v > 0 && v < 100) || !percent && v <= 1 {
		return ""
	}
	return strconv.FormatFloat(v/100, 'g', -1, 64)
}

// adviseLearner is the rest of a sentence about a learner of that name, if another program calls one so.
func adviseLearner(name string) string {
	plain := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	if l := otherLearners[plain]; l != "" {
		return ": use --algo " + l
	}
	return ""
}
