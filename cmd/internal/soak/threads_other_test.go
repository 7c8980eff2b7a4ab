//go:build !linux

package main

import "testing"

// checkAffinity does nothing: no disturbance changes the affinity here.
func checkAffinity(*testing.T) {}
