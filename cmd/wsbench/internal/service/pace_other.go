//go:build !linux

package service

import "time"

func sleep(d time.Duration) { time.Sleep(d) }

func punctual() {}

// favour does nothing here.
func favour() string { return "" }
