package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/dataset"
	"halfspace/internal/cli/console"
	"halfspace/internal/testrows"
	"halfspace/schema"
)

// TestRemoteShares: a cluster chooses the same rows as this process, and features are learned from the same ones. So the models are
// the same too.
func TestRemoteShares(t *testing.T) {
	data := filepath.Join(t.TempDir(), "d.parquet")
	succeed(t, "gen", "--rows", "13000", "--features", "5", "--noise", "0.1", "--out", data)
	made := 0
	cluster := func(f console.Files) (block.Cluster, error) {
		rows := block.NewData(new(schema.Spec), nil)
		if len(f.Paths) > 0 {
			in, err := dataset.Open(context.Background(), f.Paths, f.Options)
			if err != nil {
				return nil, err
			}
			if rows, err = in.Load(context.Background()); err != nil {
				return nil, err
			}
			made++
		}
		c, _ := testrows.NewRemote(rows, 3).Remote()
		return c, nil
	}
	for _, options := range []string{
		"--algo averaged --shards 2 --epochs 2 --validation 0.2 --standardize",
		"--algo logistic --validation 0.3",
		"--algo logistic --cv 3 --standardize --l2 3000 --score log_loss",
		"--algo lda --cv 2",
		"--algo averaged --epochs 2 --order shuffle --validation 0.2",
	} {
		var models [2][]byte
		var printed [2]string
		for i, on := range []func(console.Files) (block.Cluster, error){nil, cluster} {
			out := filepath.Join(t.TempDir(), "m.json")
			var stdout, stderr bytes.Buffer
			args := append([]string{"train", data, "--label", "label", "--out", out}, strings.Fields(options)...)
			if status := runOn(t.Context(), on, args, &stdout, &stderr); status != exitDone {
				t.Fatalf("%s: status %d, %s", options, status, &stderr)
			}
			var err error
			if models[i], err = os.ReadFile(out); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(stdout.String()) {
				if strings.Contains(line, "cross") || strings.Contains(line, "validation") || strings.Contains(line, "folds") {
					printed[i] += line
				}
			}
		}
		if !bytes.Equal(models[0], models[1]) || printed[0] != printed[1] || printed[0] == "" {
			t.Errorf("%s: the model of a cluster is\n%s\nand that of one process\n%s\nreports\n%s%s", options, models[1], models[0], printed[1], printed[0])
		}
	}
	if made == 0 {
		t.Error("no cluster was asked")
	}
}
