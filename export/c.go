package export

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"halfspace/model"
)

// WriteC writes the model as a C99 source file without dependencies. The names in the file begin with name;
// characters of name other than ASCII letters, digits and underscores become underscores. For two classes, the file
// has
//
//	double NAME_score(const double *x);
//	int NAME_predict(const double *x);
//
// For more classes, it has NAME_predict and
//
//	void NAME_scores(const double *x, double *scores);
//
// NAME_predict returns an index of NAME_classes, or -1 if a score isn't finite. If features of the model are other numbers
// than the columns of the data have, the file has the structure of a row, with a member for each column, and
//
//	void NAME_features(const struct NAME_row *row, double *x);
//
// There is none for crosses. WriteC returns an error unless the
// model has a vector of weights for each score. Models with kernels have none.
func WriteC(w io.Writer, m *model.Model, name string) error {
	l, err := newLinear(m)
	if err != nil {
		return err
	}
	columns, none := fields(m, cMember, slices.Clone(cWords))
	s, name := newSource(w, m), identifier(name)
	many := len(l.weights) > 1
	s.line("// %s", about(m))
	s.line("//")
	if many {
		s.line("//     void %s_scores(const double *x, double *scores);  sets a score for each class", name)
	} else {
		s.line("//     double %s_score(const double *x);  above %s: class %q", name, number(m.ScoreThreshold()), m.Positive.Text)
	}
	s.line("//     int %s_predict(const double *x);  index in %s_classes; -1 if a score isn't finite", name, name)
	if columns != nil {
		s.line("//     void %s_features(const struct %s_row *row, double *x);  sets x to the features of a row", name, name)
	}
	s.line("//")
	s.input(l)
	s.rowless(none)
	s.line("// Don't compile it with -ffast-math, which has no NaN.")
	s.line("// Written by halfspace.\n")
	if columns != nil {
		s.line("#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n")
	}
	// In C++, a constant is visible to other files only with extern.
	s.line("extern const char *const %s_classes[%d];", name, len(m.Classes))
	s.line("const char *const %s_classes[%d] = {%s};\n", name, len(m.Classes), classes(m, quoteC))
	s.line("static const double %s_weights[%d][%d] = {", name, len(l.weights), m.Width())
	s.weights("    ", l)
	s.line("};\n")
	s.line("static const double %s_bias[%d] = {%s};\n", name, len(l.bias), list(l.bias))
	value := "x[i]"
	if l.missing != nil {
		value = name + "_value(x, i)"
		s.line("static const double %s_missing[%d] = {", name, len(l.missing))
		s.numbers("    ", l.missing)
		s.line("};\n")
		s.line("static double %s_value(const double *x, long i)\n{", name)
		s.line("    return x[i] - x[i] == 0 ? x[i] : %s_missing[i];\n}\n", name)
	}
	if columns != nil {
		if err := s.cRow(name, columns); err != nil {
			return err
		}
	}
	s.cFunctions(name, value, many)
	return s.Flush()
}

// cFunctions writes the functions that compute scores and predictions.
func (s *source) cFunctions(name, value string, many bool) {
	sum := func(to, k string) string {
		return fmt.Sprintf("    for (long i = 0; i < %d; i++)\n        %s += %s_weights[%s][i] * %s;", s.m.Width(), to, name, k, value)
	}
	if !many {
		other, positive := sides(s.m)
		s.line("double %s_score(const double *x)\n{\n    double score = %s_bias[0];", name, name)
		s.line("%s\n    return score;\n}\n", sum("score", "0"))
		s.line("int %s_predict(const double *x)\n{\n    double score = %s_score(x);", name, name)
		s.line("    if (score - score != 0)\n        return -1;\n    return score > %s ? %d : %d;\n}", number(s.m.ScoreThreshold()), positive, other)
		return
	}
	n := len(s.m.Classes)
	s.line("void %s_scores(const double *x, double *scores)\n{", name)
	s.line("    for (int k = 0; k < %d; k++) {\n        scores[k] = %s_bias[k];", n, name)
	s.line("%s\n    }\n}\n", strings.ReplaceAll("    "+sum("scores[k]", "k"), "\n", "\n    "))
	s.line("int %s_predict(const double *x)\n{\n    double scores[%d];\n    int best = 0;\n    %s_scores(x, scores);", name, n, name)
	s.line("    for (int k = 0; k < %d; k++) {\n        if (scores[k] - scores[k] != 0)\n            return -1;", n)
	s.line("        if (scores[k] > scores[best])\n            best = k;\n    }\n    return best;\n}")
}

// quoteC returns a C string literal for the bytes of text.
func quoteC(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\' || c == '?': // ?? may begin a trigraph
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
