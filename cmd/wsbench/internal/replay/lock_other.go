//go:build !unix || solaris || illumos || aix

package replay

import "os"

// lockFile is not supported.
func lockFile(*os.File) error { return nil }
