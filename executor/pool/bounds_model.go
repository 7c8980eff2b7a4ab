//go:build modelcheck

package pool

import "github.com/magpie-go/magpie/internal/model"

const looksInARow = 2

func pause() { model.GiveWay() }
