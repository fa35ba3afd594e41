package dataset

import (
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/plan"
	"halfspace/internal/distributed"
	"halfspace/internal/require"
)

// TestPlanValue: equal tables and options have equal plans, other options have others, and a plan that was sent to another
// process is the same plan.
func TestPlanValue(t *testing.T) {
	path := t.TempDir() + "/a.csv"
	text := "id,city,when,size,y\n"
	for i := range 60 {
		text += string(rune('a'+i%7)) + "," + []string{"Oslo", "Rome", ""}[i%3] + ",2024-0" + string(rune('1'+i%9)) + "-03," +
			string(rune('1'+i%8)) + ".5," + []string{"no", "yes"}[i%2] + "\n"
	}
	put(t, path, []byte(text))
	of := func(opt Options) plan.Plan {
		return require.Value(planOf(t.Context(), []string{path}, opt, memory.DefaultAllocator))(t).bound.Plan
	}
	base := Options{Label: "y", Prepare: true, Standardize: true}
	first := of(base)
	if len(first.Inputs) == 0 || first.Inputs[0].Center == nil && first.Inputs[0].Categories == nil {
		t.Fatalf("the plan has learned nothing: %+v", first.Inputs)
	}
	if again := of(base); !reflect.DeepEqual(first, again) {
		t.Errorf("the plan is %+v, then %+v", first, again)
	}
	for name, change := range map[string]func(*Options){
		"exclude": func(o *Options) { o.Exclude = []string{"city"} }, "where": func(o *Options) { o.Where = "size > 2" },
		"limit": func(o *Options) { o.Limit = 40 }, "types": func(o *Options) { o.Types = []string{"size=category"} },
		"nulls": func(o *Options) { o.Nulls = "zero" }, "positive": func(o *Options) { o.Positive = "no" },
		"bias": func(o *Options) { o.NoBias = true }, "storage": func(o *Options) { o.Storage = Sparse },
	} {
		opt := base
		if change(&opt); reflect.DeepEqual(first, of(opt)) {
			t.Errorf("%s: the plan is the same", name)
		}
	}
	var sent plan.Plan
	require.NoError(t, distributed.Decode(require.Value(distributed.Encode(first))(t), &sent))
	if !reflect.DeepEqual(first, sent) {
		t.Errorf("the plan is %+v, and %+v in another process", first, sent)
	}
	for _, c := range first.WithoutLearned().Inputs {
		if c.Center != nil || c.Categories != nil || c.Means != nil {
			t.Errorf("column %q keeps what it learned: %+v", c.Name, c)
		}
	}
}

// TestSameFiles: a plan with other options about files than Examine had is an error.
func TestSameFiles(t *testing.T) {
	path := t.TempDir() + "/a.csv"
	put(t, path, []byte("x,y\n1,0\n2,1\n"))
	base := Options{Label: "y", Workers: 1}
	table := require.Value(Examine(t.Context(), []string{path}, base))(t)
	require.Value(table.Plan(t.Context(), base))(t)
	for name, change := range map[string]func(*Options){
		"text": func(o *Options) { o.Text.Header = "no" }, "null values": func(o *Options) { o.Text.NullValues = []string{"1"} },
		"rejects": func(o *Options) { o.Rejects = NewRejects("") }, "workers": func(o *Options) { o.Workers = 2 },
		"memory": func(o *Options) { o.Memory = 1 << 30 }, "labels": func(o *Options) { o.Labels = "y.npy" },
	} {
		opt := base
		change(&opt)
		if _, err := table.Plan(t.Context(), opt); err == nil {
			t.Errorf("%s: Plan takes what Examine didn't have", name)
		}
		if _, err := table.Profile(t.Context(), opt); err == nil {
			t.Errorf("%s: Profile takes what Examine didn't have", name)
		}
	}
}
