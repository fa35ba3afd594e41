package train

import (
	"context"
	"slices"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/checkpoint"
	"halfspace/internal/message"
)

// lakeFact is the name of the versions of lake tables in a checkpoint.
const lakeFact = "the version of the lake table"

// openHeld opens the rows of paths, and returns the paths: see holdLakes.
func (t *trainer) openHeld(ctx context.Context, paths, validation []string) (held, heldOut []string, err error) {
	if paths, validation, err = t.holdLakes(ctx, t.App, t.checkpoints, paths, validation); err == nil {
		err = t.open(ctx, paths, validation)
	}
	return paths, validation, err
}

// holdLakes returns the paths of a training, with the versions of lake tables of the checkpoint that it resumes from. If the user
// named other versions, it returns an error.
func (o *trainOptions) holdLakes(ctx context.Context, a *console.App, saved *checkpoint.Run, paths, validation []string) (
	held, heldOut []string, err error) {
	all := slices.Concat(paths, validation)
	now := dataset.LakeVersions(all)
	if before := saved.SavedFact(lakeFact); before != "" && before != now && !o.namesVersions(all) {
		if all, err = dataset.AtLakeVersions(ctx, all, before); err != nil {
			return nil, nil, message.Errorf("--resume: the training reads version %s of the table: %w", before, err)
		}
		a.Note("--resume reads the same version of the table as before, %s; the newest is %s", before, now)
		now = dataset.LakeVersions(all)
	}
	if now != "" {
		err = saved.CheckFact(lakeFact, now)
	}
	return all[:len(paths)], all[len(paths):], err
}

// namesVersions returns true if the user named the version of a lake table.
func (o *trainOptions) namesVersions(paths []string) bool {
	return o.Data.Version != "" || slices.ContainsFunc(paths, func(p string) bool {
		return slices.Contains(append(slices.Clone(o.args), o.validation), p)
	})
}
