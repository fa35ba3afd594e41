// Package buckets lets a program use addresses of buckets as paths: s3://, gs://, https://, http://.
//
// Objects of s3:// and gs:// are read and written, files of https:// and http:// read.
//
//	buckets.Use(ctx)
//	rows, err := dataset.Load(ctx, "s3://sales/2026/*.parquet", dataset.Options{Label: "churned"})
//
// Credentials and regions are found as the command halfspace finds them: in the environment, in profiles, and from the
// machine.
package buckets

import (
	"context"

	"halfspace/internal/objects"
)

// Use registers s3://, gs://, https:// and http:// with package store. Requests that read end with ctx. Use itself makes
// no request. Call it as the program starts.
func Use(ctx context.Context) { objects.Use(ctx, 0) }
