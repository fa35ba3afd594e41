package transform

import (
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/internal/require"
	"halfspace/schema"
)

// TestDerivedDictionary: texts of a dictionary have the numbers and the counts of the same texts one by one. Words for nulls are
// not counted.
func TestDerivedDictionary(t *testing.T) {
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	codes := array.NewDictionaryBuilder(memory.DefaultAllocator,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	for _, text := range []string{"1", "nix", "low", "$1,234", "low", "", "NA", "2.5", "$1,234"} {
		texts.Append(text)
		require.NoError(t, codes.AppendString(text))
	}
	texts.AppendNull()
	codes.AppendNull()
	words, plain, dictionary := []string{"nix", "NA"}, texts.NewArray(), codes.NewArray()
	for _, c := range []schema.Column{{Name: "x", Derive: numberInText}, {Name: "x", Derive: schema.Plain}} {
		want, counts, err := derived(&c, plain, words)
		require.NoError(t, err)
		got, again, err := derived(&c, dictionary, words)
		require.NoError(t, err)
		if !array.Equal(got, want) || !reflect.DeepEqual(again, counts) {
			t.Errorf("%s: %v and %+v in a dictionary, %v and %+v as texts", c.Derive, got, again, want, counts)
		}
		if counts.strange.Rows != 2 || counts.strange.Text != `"low"` || counts.strange.Line != 2 {
			t.Errorf("%s: the odd texts are %+v", c.Derive, counts.strange)
		}
	}
}
