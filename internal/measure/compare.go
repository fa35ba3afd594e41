package measure

import (
	"fmt"
	"strings"
)

// A Comparison is reports of the same work on several computers.
type Comparison struct {
	Names   []string // of the reports
	Reports []*Report
	Rows    []Row
}

// A Row is an item of each report, on the best level that the report has.
type Row struct {
	Group, Name string
	Items       []*Item // nil where a report lacks the item
}

// Compare compares reports. It is an error if they did different work: where a learner's models differ, or a report has
// none.
func Compare(names []string, reports []*Report) (*Comparison, error) {
	for k, r := range reports {
		if err := sameModels(names[0], names[k], reports[0], r); err != nil {
			return nil, err
		}
	}
	c := &Comparison{Names: names, Reports: reports}
	seen := map[string]bool{}
	for _, r := range reports {
		for _, i := range r.Items {
			if i.Level != r.Best() || seen[i.Name] || i.Group == Limits && i.Cores > 1 {
				continue
			}
			seen[i.Name] = true
			row := Row{Group: i.Group, Name: i.Name}
			for _, other := range reports {
				row.Items = append(row.Items, other.Find(i.Name, other.Best()))
			}
			c.Rows = append(c.Rows, row)
		}
	}
	return c, nil
}

// sameModels returns an error unless the learners of two reports learned the same models.
func sameModels(name, otherName string, r, other *Report) error {
	models, others := r.models(), other.models()
	for _, m := range []struct {
		name   string
		models map[string]string
	}{{name, models}, {otherName, others}} {
		if len(m.models) == 0 {
			return fmt.Errorf("%s: no models, which tell whether the work was the same: run bench --json without --only", m.name)
		}
	}
	for _, i := range append(r.Items, other.Items...) {
		learner := Learner(i.Name)
		if a, b := models[i.Name], others[i.Name]; a != b && i.Group == Trains {
			if a == "" || b == "" {
				return fmt.Errorf("%s and %s: only one has the training %s: run bench --json of one version on both computers", name, otherName, Label(i.Name))
			}
			return fmt.Errorf("%s and %s: %s learned different models (SHA-256 %.12s and %.12s), so the work was not the same: run bench --json of one version on both computers",
				name, otherName, learner, a, b)
		}
	}
	return nil
}

// models returns the hash of each training's model.
func (r *Report) models() map[string]string {
	all := map[string]string{}
	for _, i := range r.Items {
		if i.SHA256 != "" {
			all[i.Name] = i.SHA256
		}
	}
	return all
}

// Learner returns the learner of a training.
func Learner(name string) string {
	_, rest, _ := strings.Cut(name, "learner=")
	learner, _, _ := strings.Cut(rest, "/")
	return learner
}

// Label returns the name of an item for people, such as "Dot float32 n=2048".
func Label(name string) string {
	name = strings.TrimPrefix(name, "Limit/of=")
	return strings.NewReplacer("/type=", " ", "/learner=", " ", "/format=", " ", "/compression=", " ", "/", " ").Replace(name)
}

// Text returns the value of an item with its unit, such as "98.8 GFLOP/s".
func (i *Item) Text() string {
	unit := map[string]string{"B/s": "GB/s", "flop/s": "GFLOP/s", "cycle/s": "GHz"}[i.Unit]
	return fmt.Sprintf("%.3g %s", i.Value/1e9, unit)
}

// ShareText returns the share of the limit and the limit's name, such as "92 % of L1", or "" where it isn't known.
func (i *Item) ShareText() string {
	if i.Limit == "" {
		return ""
	}
	return fmt.Sprintf("%.0f %% of %s", 100*i.Share, i.Limit)
}
