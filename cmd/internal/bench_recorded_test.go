package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfspace/bench"
	"halfspace/internal/require"
	"halfspace/plot"
)

var update = flag.Bool("update", false, "write the tables and pictures of the recorded runs into the documents")

const pagePath = "../../docs/measurements/computers.md"

// TestRecorded: the page of computers has the table of each recorded run, and its picture is the one that bench draws.
func TestBenchPages(t *testing.T) {
	records, err := filepath.Glob("../../bench/results/bench-*.json")
	if err != nil || len(records) == 0 {
		t.Fatalf("no recorded runs: %v", err)
	}
	doc := contents(t, pagePath)
	for _, path := range records {
		r, err := bench.Read(path)
		require.NoError(t, err)
		name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".json"), "bench-")
		block := regexp.MustCompile(`(?s)(<!-- ` + regexp.QuoteMeta(name) + ` -->\n` + "```text\n).*?(```)")
		m := block.FindStringSubmatchIndex(doc)
		if m == nil {
			t.Errorf("%s has no table of %s", pagePath, name)
			continue
		}
		doc = doc[:m[3]] + string(benchText(r)) + doc[m[4]:]
		compareFile(t, "../../docs/images/roofline-"+name+".svg", roofline(r))
	}
	compareFile(t, pagePath, doc)
}

// TestChart: the chart of the README shows the recorded times, for light and for dark pages. If a task has several times,
// its bars show the longest time of halfspace and the shortest time of the peer.
func TestBenchChart(t *testing.T) {
	var r struct {
		Title, Processor, Peer, Note, Command string
		Times                                 []struct {
			Task      string
			Halfspace []float64 `json:"halfspace_ms"`
			Peer      []float64 `json:"peer_ms"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(contents(t, "../../bench/results/zen3.json")), &r))
	text := func(ms float64) string {
		if ms >= 1000 {
			return fmt.Sprintf("%.2f s", ms/1000)
		}
		return fmt.Sprintf("%.0f ms", ms)
	}
	longest := 0.0
	for _, p := range r.Times {
		longest = max(longest, slices.Max(p.Halfspace), slices.Min(p.Peer))
	}
	b := &plot.BarChart{Title: r.Title, Subtitle: "less is better; halfspace above, " + r.Peer + " below",
		Notes: []string{r.Processor + ". " + r.Peer + ".", r.Note + " (" + r.Command + ")"}}
	for _, p := range r.Times {
		ours, theirs := slices.Max(p.Halfspace), slices.Min(p.Peer)
		b.Groups = append(b.Groups, plot.BarGroup{Name: p.Task, Bars: []plot.Bar{
			{Length: ours / longest, Label: text(ours), Strong: true},
			{Length: theirs / longest, Label: fmt.Sprintf("%s  (%d times as long)", text(theirs), int(theirs/ours)), Colour: plot.Faint},
		}})
	}
	for _, theme := range []plot.Theme{plot.Light, plot.Dark} {
		compareFile(t, fmt.Sprintf("../../docs/images/speed-%s.svg", theme), b.SVG(theme))
	}
}

// compareFile compares a file with what it should be, or writes it.
func compareFile(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	if contents(t, path) != want {
		t.Errorf("%s is not what the recorded runs give: go test ./cmd/internal -run TestBench -update", path)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
