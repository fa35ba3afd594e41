package console

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/internal/message"
)

// otherVerbs maps other programs' names of verbs to the text to type.
var otherVerbs = map[string]string{
	"fit": "train", "learn": "train", "build": "train", "test": "eval", "score": "eval", "validate": "eval",
	"metrics": "eval", "classify": "predict", "apply": "predict", "infer": "predict", "show": "inspect",
	"info": "inspect", "describe": "inspect", "head": "inspect", "generate": "gen", "generate-data": "gen",
	"separable": "check", "evaluate": "eval", "evaluation": "eval", "training": "train", "prediction": "predict",
	"forecast": "predict", "cross-validate": "train with --cv 5", "crossvalidate": "train with --cv 5",
	"cv": "train with --cv 5", "schema": "inspect FILE, which lists the columns and their types",
	"columns": "inspect FILE, which lists the columns and their types", "benchmark": "bench", "models": "compare",
	"predict_proba": "predict --proba", "predict-proba": "predict --proba", "proba": "predict --proba",
	"tune": "train with --grid OPTION=VALUES", "gridsearch": "train with --grid OPTION=VALUES", "cpu": "version",
	"import": "train with --algo logistic or --algo svm: models of other programs can't be read",
}

// otherOptions maps other programs' names of options to the text to type. If the text begins with the name of an
// option, it applies only to verbs that have the option.
var otherOptions = map[string]string{
	"C": "l2 with 1/C", "c": "l2 with 1/C", "alpha": "l2 with alpha times the number of rows", "lambda": "l2",
	"reg": "l2", "reg_param": "l2", "penalty": "l2 or l1", "lasso": "l1", "lr": "eta", "learning-rate": "eta",
	"eta0": "eta", "max-iter": "epochs", "iterations": "epochs", "n-iter": "epochs", "passes": "epochs",
	"target": "label", "y": "label", "class-column": "label", "output": "out", "o": "out", "save": "out",
	"random-state": "seed", "threads": "workers", "jobs": "workers", "n-jobs": "workers", "normalize": "standardize",
	"scale": "standardize", "test-size": "validation", "validation-split": "validation", "folds": "cv",
	"na-values": "null-values", "missing": "null-values", "sep": "delimiter", "one-hot": "categorical onehot",
	"onehot": "categorical onehot", "fit-intercept": "no-bias, or leave it out", "columns": "features",
	"drop": "exclude", "learner": "algo", "model": "out", "m": "model", "l": "label", "a": "algo", "e": "epochs",
	"s": "seed", "f": "features", "w": "workers", "q": "quiet", "silent": "quiet", "v": "cv",
}

// dataOptions are options of other programs that name the data. In halfspace the data has no option.
var dataOptions = []string{"data", "file", "files", "input", "dataset", "train-data", "train-file", "training-data",
	"test-data", "csv", "parquet", "i", "d"}

// AdviseVerb returns the end of a sentence about an unknown verb: the text to type instead. It returns "" if it knows
// none.
func AdviseVerb(name string) string {
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

// otherLearners maps other programs' names of learners, in lower case without dashes, to the text to type.
var otherLearners = map[string]string{
	"logit": "logistic", "logisticregression": "logistic, whose --l2 is 1/C", "glmnet": "logistic with --path 100",
	"logreg": "logistic", "logisticregressioncv": "logistic with --grid l2=0.01,0.1,1,10, or --path 100",
	"lr": "logistic", "softmax": "logistic", "multinomial": "logistic", "maxent": "logistic",
	"lassocv": "logistic with --path 100", "l2rlr": "logistic, whose --l2 is 1/C",
	"sgdclassifier": "logistic with --solver sgd, or averaged", "sgd": "logistic with --solver sgd, or averaged",
	"linearsvc": "svm, whose --l2 is 1/C", "linearsvm": "svm", "hinge": "svm with --loss hinge",
	"liblinear": "svm or logistic, whose --l2 is 1/C", "l1rlr": "logistic with --l1, which is 1/C",
	"l1rl2losssvc": "svm with --l1, which is 1/C", "lasso": "logistic with --l1",
	"elasticnet": "logistic with --l1 and --l2", "l2rl2losssvc": "svm, whose --l2 is 1/C",
	"l2rl2losssvcdual": "svm, whose --l2 is 1/C", "l2rl1losssvcdual": "svm with --loss hinge, whose --l2 is 1/C",
	"svc": "svm, whose --l2 is 1/C, or with a kernel dual", "libsvm": "svm, whose --l2 is 1/C, or with a kernel dual",
	"lineardiscriminantanalysis": "lda", "fisher": "lda", "discriminant": "lda", "ridgeclassifier": "lda, or svm",
	"passiveaggressiveclassifier": "passive-aggressive", "passiveaggressive": "passive-aggressive",
	"ftrlproximal": "ftrl", "averagedperceptron": "averaged", "votedperceptron": "voted",
	"kernelperceptron": "kernel-perceptron", "pocketperceptron": "pocket",
}

// OtherOption returns the end of a sentence about an option that other programs have and a learner lacks: the text to
// type instead. It returns "" if it knows none.
func OtherOption(name string) string {
	if advice := otherOptions[name]; advice != "" {
		return ": use --" + advice
	}
	return ""
}

// Share converts a percentage to a share, such as 20 or 20% to 0.2. It returns "" for any other text.
func Share(text string) string {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := humanize.ParseNumber(strings.TrimSpace(digits))
	if err != nil || !(v > 0 && v < 100) || !percent && v <= 1 {
		return ""
	}
	return strconv.FormatFloat(v/100, 'g', -1, 64)
}

// AdviseLearner returns the end of a sentence about an unknown learner: the text to type, if name is another program's
// name of a learner. Otherwise it returns "".
func AdviseLearner(name string) string {
	plain := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	if l := otherLearners[plain]; l != "" {
		return message.Translate(": use --algo " + l)
	}
	return ""
}
