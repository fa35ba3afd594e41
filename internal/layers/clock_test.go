package layers

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wallClock are uses of times that a change of the system's clock shows in. Differences of two readings of time.Now are not among them.
var wallClock = regexp.MustCompile(`time\.Now\(\)\.(UTC|Unix|Format|Truncate|Round|Local|In|Date|Year|Add\(0)|\.Unix(Nano|Milli|Micro)?\(\)|\.Nano\(\)|\.Round\(0\)`)

// dated are the files that say for people when something was, or compare times of files.
var dated = map[string]string{
	"cache/format.go":         "the time of a file of data",
	"cache/state_linux.go":    "the time of a file of data",
	"cache/state_darwin.go":   "the time of a file of data",
	"checkpoint/run.go":       "when a checkpoint was saved",
	"internal/lock/lock.go":   "since when a run has a file",
	"internal/measure/run.go": "the day of a measurement",
}

// TestClock: nothing but what dated lists reads the system's clock, so no result or rate depends on it when it jumps.
func TestClock(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		if strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "tmp/") {
			return nil
		}
		text, err := os.ReadFile(path)
		if at := wallClock.Find(text); at != nil {
			if found[name] = true; dated[name] == "" {
				t.Errorf("%s reads the system's clock: %s", name, at)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range dated {
		if !found[name] {
			t.Errorf("%s isn't found to read the clock", name)
		}
	}
}
