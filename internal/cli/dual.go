package cli

import (
	"fmt"

	"halfspace/internal/say"
	"halfspace/model"
)

// kernelText tells of an expansion.
func kernelText(e *model.Expansion) []string {
	text := "linear"
	switch k := e.Kernel; k.Kind {
	case "poly":
		text = fmt.Sprintf("(%s x.z + %s)^%d", say.Real(k.Gamma), say.Real(k.Coef0), k.Degree)
	case "rbf":
		text = fmt.Sprintf("exp(-%s |x-z|^2)", say.Real(k.Gamma))
	}
	return []string{"kernel", text, "support", say.Plural(int64(len(e.Rows)), "row")}
}

// misclassifiedTable adds the rows that were misclassified most often.
func (s *sheet) misclassifiedTable(rows []model.Misclassified) {
	if len(rows) == 0 {
		return
	}
	table := [][]string{{"row", "updates"}}
	for _, r := range rows {
		table = append(table, []string{say.Count(r.Row), say.Count(r.Updates)})
	}
	s.line("\nThe rows most often misclassified, from 0:\n")
	s.table(table)
}
