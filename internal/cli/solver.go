package cli

import (
	"slices"
	"strconv"
	"strings"

	"halfspace/train/lda"
	"halfspace/train/logistic"
)

// autoName lets the learner choose.
const autoName = "auto"

func solverNames[S ~string](solvers []S) []string {
	var names []string
	for _, s := range solvers {
		names = append(names, string(s))
	}
	return names
}

// allSolvers lists what --solver may be, the default first.
func allSolvers() []string {
	return append(append([]string{autoName}, solverNames(logistic.Solvers[1:])...), solverNames(lda.Solvers)...)
}

// checkSolver returns an error unless the learner has the solver, and reads --shrinkage.
func (o *trainOptions) checkSolver() error {
	if s := o.solver.value; s != autoName && !slices.Contains(o.learner.solvers, s) {
		if len(o.learner.solvers) == 0 {
			return usagef("--solver %s with --algo %s, which has no solvers: leave it out", s, o.algo.value)
		}
		return usagef("--solver %s with --algo %s: use %s", s, o.algo.value, strings.Join(append([]string{autoName}, o.learner.solvers...), ", "))
	}
	if o.shrinkage == autoName {
		o.shrink = lda.LedoitWolf
		return nil
	}
	var err error
	if o.shrink, err = strconv.ParseFloat(o.shrinkage, 64); err != nil || !(o.shrink >= 0 && o.shrink <= 1) {
		return usagef("--shrinkage is %q: use auto or a share from 0 to 1", o.shrinkage)
	}
	o.shrinkage = strconv.FormatFloat(o.shrink, 'g', -1, 64)
	return nil
}
