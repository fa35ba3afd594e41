package bench

import (
	"fmt"
	"io"
	"strings"
)

// WriteGo writes the report in the format of Go's benchmarks (https://go.dev/design/14313-benchmark-format), with one
// line for each round, so that benchstat can compare files.
func (r *Report) WriteGo(w io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\ncpu: %s\ngo: %s\nhalfspace: %s\ndate: %s\n", m.OS, m.Arch, line(m.Processor), m.Go, line(r.Version), r.Date)
	b.WriteString("Unit B/s better=higher\nUnit flop/s better=higher\nUnit cycle/s better=higher\nUnit share better=higher\n\n")
	for _, i := range r.Items {
		name := "Benchmark" + i.Name + "/isa=" + i.Level
		if i.Cores > 1 {
			name += fmt.Sprintf("-%d", i.Cores)
		}
		for _, seconds := range i.Seconds {
			fmt.Fprintf(&b, "%s 1 %.6g ns/op %.6g %s", name, seconds*1e9, i.Value*i.Median/seconds, i.Unit)
			if i.Limit != "" {
				fmt.Fprintf(&b, " %.4g share", i.Share*i.Median/seconds)
			}
			b.WriteString("\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line joins the words of a text to one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
