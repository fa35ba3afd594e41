package export

import (
	"encoding/binary"
	"math"

	"halfspace/model"
	"halfspace/schema"
)

// addThreshold adds the nodes that compute the label from the scores of two classes: the class order[1] if the score
// in its column is above the threshold of the model, otherwise the class order[0]. labels are the classes as numbers;
// nil: the classes are texts. The threshold in the file is the greatest float32 that isn't above the threshold of the
// model: a float32 score is above one exactly if it is above the other.
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

// roundDown returns the greatest finite float32 that isn't above v. If there is none, it returns the smallest finite
// float32.
func roundDown(v float64) float32 {
	f := float32(max(-math.MaxFloat32, min(math.MaxFloat32, v)))
	if float64(f) > v && f > -math.MaxFloat32 {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

// scalar returns the TensorProto of one value without dimensions. raw has the bytes of its number; nil: it has no
// number.
func scalar(name string, element uint64, raw []byte) message {
	var t message
	t.number(tensorType, element)
	t.text(tensorName, name)
	if raw != nil {
		t.message(tensorRaw, raw)
	}
	return t
}
