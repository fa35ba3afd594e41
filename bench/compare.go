package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// A Comparison compares reports of the same work on several computers.
type Comparison struct {
	Names   []string // names of the reports
	Reports []*Report
	Rows    []Row // items that at least two reports have
	Alone   []int // for each report, the number of items that only it has
	Models  int   // number of trainings that all reports have
}

// A Row is one item in each report, on the fastest level for which the report has it.
type Row struct {
	Group, Name string
	Items       []*Item // nil if a report lacks the item
}

// Compare compares reports; they may share only some items. It returns an error if a training learned different models
// in two reports, or if no two reports have an item in common.
func Compare(names []string, reports []*Report) (*Comparison, error) {
	c := &Comparison{Names: names, Reports: reports, Alone: make([]int, len(reports))}
	seen := map[string]bool{}
	work := false
	for k, r := range reports {
		for _, i := range r.Items {
			if seen[i.Name] || i.Group == Limits && i.Cores > 1 {
				continue
			}
			seen[i.Name] = true
			row := Row{Group: i.Group, Name: i.Name}
			for _, other := range reports {
				row.Items = append(row.Items, other.Fastest(i.Name))
			}
			have := 0
			for _, other := range row.Items {
				if other != nil {
					have++
				}
			}
			if have < 2 {
				c.Alone[k]++
				continue
			}
			if err := sameModels(names, row); err != nil {
				return nil, err
			}
			if i.Group == Trains && have == len(reports) {
				c.Models++
			}
			work = work || i.Group != Limits
			c.Rows = append(c.Rows, row)
		}
	}
	if !work {
		return nil, fmt.Errorf("%s: no two of the files measured the same work: run bench --json with the same --only on each computer", strings.Join(names, ", "))
	}
	return c, nil
}

// sameModels returns an error unless all reports that have a training learned the same model.
func sameModels(names []string, row Row) error {
	first := -1
	for k, i := range row.Items {
		switch {
		case i == nil || i.SHA256 == "":
		case first < 0:
			first = k
		case i.SHA256 != row.Items[first].SHA256:
			return fmt.Errorf("%s and %s: %s learned different models (SHA-256 %.12s and %.12s), so the work was not the same: run bench --json of one version on both computers",
				names[first], names[k], Learner(row.Name), row.Items[first].SHA256, i.SHA256)
		}
	}
	return nil
}

// Learner returns the name of a training's learner.
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

// ShareText returns the share of the limit and the limit's name, such as "92 % of L1", or "" if the limit isn't known.
func (i *Item) ShareText() string {
	if i.Limit == "" {
		return ""
	}
	return fmt.Sprintf("%.0f %% of %s", 100*i.Share, i.Limit)
}

// Rate returns the work of an item per second: flops, or bytes if there are no flops, or the clock's cycles.
func (i *Item) Rate() float64 {
	switch {
	case i.Flops > 0:
		return i.Flops / i.Median
	case i.Bytes > 0:
		return i.Bytes / i.Median
	}
	return 1 / i.Median
}

// RowsText returns the rows per second of a load or a training, such as "7.46M rows/s". It counts the rows of the file
// or the data set once, whatever the number of passes. It returns "" for an item without rows in its name.
func (i *Item) RowsText() string {
	_, rest, _ := strings.Cut(i.Name, "/rows=")
	digits, _, _ := strings.Cut(rest, "/")
	rows, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return ""
	}
	switch rate := rows / i.Median; {
	case rate >= 1e6:
		return fmt.Sprintf("%.3gM rows/s", rate/1e6)
	case rate >= 1e3:
		return fmt.Sprintf("%.3gk rows/s", rate/1e3)
	default:
		return fmt.Sprintf("%.3g rows/s", rate)
	}
}
