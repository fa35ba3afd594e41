package worker

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"halfspace/dataset"
)

// TestFingerprints: a copy has the fingerprint of its file. A file of the same size with another beginning or end has another fingerprint.
func TestFingerprints(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, 1000, 64 << 10, 64<<10 + 1, 1 << 20} {
		text := make([]byte, size)
		for i := range text {
			text[i] = byte(i * i)
		}
		fingerprint := func(name string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := fingerprintsOf(&dataset.SharedPlan{Paths: []string{path, "s3://bucket/object"}})
			if err != nil || m[1] != "" {
				t.Fatal(m, err)
			}
			return m[0]
		}
		one := fingerprint("a")
		if two := fingerprint("b"); one != two {
			t.Errorf("%d bytes: a copy has the mark %s, the file %s", size, two, one)
		}
		o := &Training{Files: Files{Plan: dataset.SharedPlan{Paths: []string{filepath.Join(dir, "a"), "s3://bucket/object"}}}, Fingerprints: []string{one, ""}}
		if err := checkFingerprints(o); err != nil {
			t.Error(err)
		}
		for _, at := range []int{0, size - 1} {
			if size == 0 {
				break
			}
			text[at]++
			if fingerprint("a") == one || checkFingerprints(o) == nil {
				t.Errorf("%d bytes: byte %d changed, and nobody sees it", size, at)
			}
			text[at]--
		}
		text = append(text, 0)
		if fingerprint("a") == one {
			t.Errorf("%d bytes: one more, and nobody sees it", size)
		}
	}
	if _, err := NewTraining(Files{Plan: dataset.SharedPlan{Paths: []string{filepath.Join(dir, "absent")}}}, 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that isn't there: %v", err)
	}
}
