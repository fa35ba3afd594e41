package export

import (
	"fmt"
	"io"
	"math"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/model"
	"halfspace/schema"
)

// WriteONNXColumns is WriteONNX with an input for each column of the data instead of X. The input has the name of the
// column. Its type is
//
//   - string [N, 1] for categories of text,
//   - float32 [N, L] for lists of L numbers,
//   - float32 [N, 1] for other columns, where false is 0 and true is 1.
//
// The file computes the features. For a category that isn't in the training data, all features of the column are 0;
// also for NaN in a column whose categories are numbers. Other missing numbers are treated as in WriteONNX.
// WriteONNXColumns returns an error for hashed columns, crosses, svmlight columns, categories that float32 can't
// hold, and column names that an input can't have.
func WriteONNXColumns(w io.Writer, m *model.Model) error { return writeONNX(w, m, true) }

// addColumns adds an input for each column, and the nodes that compute X from these inputs.
func (g *graph) addColumns(m *model.Model) error {
	columns := m.Spec().Columns()
	g.inputs = make(map[string]bool, len(columns))
	for i := range columns {
		name := columns[i].Name
		switch {
		case name == "" || strings.Contains(name, "\x00"):
			return fmt.Errorf("column %q: an input can't have this name: rename the column, and train again", name)
		case name == "label" || name == outputName(m):
			return fmt.Errorf("column %q: an output of the file has this name: rename the column, and train again", name)
		}
		g.inputs[name] = true
	}
	features := make([]string, len(columns))
	for i := range columns {
		var err error
		if features[i], err = g.addColumn(i, &columns[i]); err != nil {
			return fmt.Errorf("column %q: %w", columns[i].Name, err)
		}
	}
	g.proto.message(graphNode, node("", "Concat", features, []string{g.own("X")}, integer("axis", 1)))
	return nil
}

// addColumn adds the input of column i. It returns the tensor of the column's features, float32 [N, c.Width()].
func (g *graph) addColumn(i int, c *schema.Column) (string, error) {
	matches, features := g.own(fmt.Sprintf("matches%d", i)), g.own(fmt.Sprintf("features%d", i))
	switch {
	case c.Kind == schema.NumberColumn || c.Kind == schema.ListColumn:
		g.proto.message(graphInput, value(c.Name, elementFloat, c.Width()))
		return c.Name, nil
	case c.Kind == schema.NumberedColumn:
		return "", fmt.Errorf("svmlight has numbers in place of columns: write the ONNX file with one input")
	case c.Kind != schema.OneHotColumn:
		return "", fmt.Errorf("it is hashed, and ONNX can't hash: train with the categories (onehot), or write the ONNX file with one input")
	case c.Values == "":
		g.proto.message(graphInput, value(c.Name, elementString, 1))
		g.proto.message(graphNode, node(onnxDomain, "OneHotEncoder", []string{c.Name}, []string{matches}, texts("cats_strings", c.Categories))) // [N, 1, K]
		g.proto.message(graphNode, node("", "Flatten", []string{matches}, []string{features}))
		return features, nil
	}
	numbers, err := categoryNumbers(c)
	if err != nil {
		return "", err
	}
	g.proto.message(graphInput, value(c.Name, elementFloat, 1))
	categories := fmt.Sprintf("categories%d", i)
	g.constant(categories, numbers)
	g.proto.message(graphNode, node("", "Equal", []string{c.Name, g.own(categories)}, []string{matches}))
	g.proto.message(graphNode, node("", "Cast", []string{matches}, []string{features}, integer("to", elementFloat)))
	return features, nil
}

// categoryNumbers returns the categories of a column of numbers or booleans. It returns an error if two categories
// are equal in float32, or if float32 can't hold a whole number, because another category could become equal to it.
func categoryNumbers(c *schema.Column) ([]float64, error) {
	numbers, before := make([]float64, len(c.Categories)), make(map[float32]string, len(c.Categories))
	for k, text := range c.Categories {
		v, err := humanize.ParseNumber(text)
		if c.Values == schema.Bool.String() {
			v, err = map[string]float64{"false": 0, "true": 1}[text], nil
		}
		if err != nil {
			return nil, fmt.Errorf("the category %q is no number", text)
		}
		narrow := float32(v)
		if other, same := before[narrow]; same {
			return nil, fmt.Errorf("float32, which the input has, can't tell the categories %s and %s: make them text in the data", other, text)
		}
		if v == math.Trunc(v) && float64(narrow) != v {
			return nil, fmt.Errorf("float32, which the input has, can't hold the category %s: make the categories text in the data", text)
		}
		numbers[k], before[narrow] = v, text
	}
	return numbers, nil
}
