package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"halfspace/bench"
	"halfspace/internal/require"
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
