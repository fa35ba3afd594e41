package exchange

import (
	"encoding/binary"
	"math"

	"halfspace/model"
	"halfspace/schema"
)

// addThreshold adds the nodes that make the label of the scores of two classes: that of order[1] where the score of its column is above the
// threshold of the model, else that of order[0]. labels are the classes as numbers; nil: classes are texts. The nodes' float32 numbers are
// above the greatest float32 that isn't above the threshold exactly where they are above the threshold.
func (g *graph) addThreshold(m *model.Model, labels []int64, order []schema.Class) {
	at := *m.Threshold
	if m.LogOdds() { // the column has half of the score
		at /= 2
	}
	g.node("", "Gather", []string{"scores", "column"}, []string{"positive"}, integer("axis", 1))
	g.node("", "Greater", []string{"positive", "threshold"}, []string{"above"})
	g.node("", "Where", []string{"above", "class1", "class0"}, []string{"label"})
	g.proto.message(graphInitializer, scalar(g.own("column"), elementInt64, binary.LittleEndian.AppendUint64(nil, 1)))
	g.proto.message(graphInitializer, scalar(g.own("threshold"), elementFloat, binary.LittleEndian.AppendUint32(nil, math.Float32bits(roundDown(at)))))
	for i, name := range []string{"class0", "class1"} {
		var t message
		if labels != nil {
			t = scalar(g.own(name), elementInt64, binary.LittleEndian.AppendUint64(nil, uint64(labels[i])))
		} else {
			t = scalar(g.own(name), elementString, nil)
			t.text(tensorTexts, order[i].Text)
		}
		g.proto.message(graphInitializer, t)
	}
}

// roundDown returns the greatest finite float32 that isn't above v, or the least one.
func roundDown(v float64) float32 {
	f := float32(max(-math.MaxFloat32, min(math.MaxFloat32, v)))
	if float64(f) > v && f > -math.MaxFloat32 {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

// scalar returns the TensorProto of one number without dimensions, whose bytes are raw; nil: it has none.
func scalar(name string, element uint64, raw []byte) message {
	var t message
	t.number(tensorType, element)
	t.text(tensorName, name)
	if raw != nil {
		t.message(tensorRaw, raw)
	}
	return t
}
