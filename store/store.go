// Package store lets a program keep the files of package dataset in a store of its own.
//
// A program registers a Store for the scheme of its addresses, as it starts. Then dataset.Load and the other functions of
// package dataset take addresses of that scheme beside paths, also in globs, folders and lake tables:
//
//	store.Register("vault", vault)
//	rows, err := dataset.Load(ctx, "vault://sales/*.parquet", dataset.Options{Label: "churned"})
//
// Package store/buckets registers s3://, gs://, https:// and http:// as the command halfspace reads them.
package store

import "halfspace/internal/files"

// Store holds objects that are named by addresses, such as vault://folder/object. Several goroutines call its methods at
// the same time. A method returns an error that wraps fs.ErrNotExist if the object doesn't exist, and an *Error if
// the store fails or denies access.
//
//   - Open(address string, seen fs.FileInfo) (File, error) opens the current version of an object, or the version that
//     seen, a result of Stat, describes. The File reads only that version: if the version is gone, Open or reading the
//     File returns an error.
//   - Stat(address string) (fs.FileInfo, error) returns the size and the time of an object. Sys of the result is a Version.
//   - List(prefix string) ([]string, error) returns the addresses of the objects that begin with a prefix, sorted.
//   - Put(ctx context.Context, address string, f *os.File) error writes an object with the content of a file, whole or not
//     at all.
type Store = files.Store

// File is an open object: an io.ReadCloser and an io.ReaderAt with a method Stat. Several goroutines call ReadAt at the
// same time.
type File = files.ReadableFile

// Version distinguishes objects of the same name, size and time.
type Version = files.Version

// Error describes a problem with an object, and gives advice to the user. Its fields are Text, which doesn't name the
// object, and Err, the cause, or nil.
type Error = files.StoreError

// Register makes s the store for the addresses of a scheme, such as "vault"; nil undoes that. Call it before any
// goroutine opens files: the stores have no lock.
func Register(scheme string, s Store) { files.Register(scheme, s) }
