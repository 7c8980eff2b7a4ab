package main

import (
	"encoding/json"
	"slices"
)

// callsOfHandler is how many calls a handler starts for an answer.
const callsOfHandler = 10

// searches has searches as units. Each call makes as many of them.
func searches(calls int) func(n int) func() loopWork {
	return func(n int) func() loopWork {
		table := random(1<<16, func(x uint64) uint64 { return x })
		asked := slices.Clone(table[:1<<12])
		slices.Sort(table)
		return valued(calls, func(call int) (sum uint64) {
			for i := range share(n, call, calls) {
				at, _ := slices.BinarySearch(table, asked[(i*calls+call)%len(asked)])
				sum = sum*31 + uint64(at)
			}
			return sum
		})
	}
}

// share returns how many of n units a call has.
func share(n, call, calls int) int { return n*(call+1)/calls - n*call/calls }

// A callAnswer is what a call encodes and decodes.
type callAnswer struct {
	ID    uint64            `json:"id"`
	Name  string            `json:"name"`
	Tags  []string          `json:"tags"`
	Attrs map[string]uint64 `json:"attrs"`
}

// encodings has answers as units. Each call encodes and decodes a tenth of them.
func encodings(n int) func() loopWork {
	ids := random(1<<10, func(x uint64) uint64 { return x >> 11 })
	return valued(callsOfHandler, func(call int) (sum uint64) {
		for i := range share(n, call, callsOfHandler) {
			id := ids[(i*callsOfHandler+call)%len(ids)]
			text, err := json.Marshal(callAnswer{id, "an item", []string{"new", "heavy"}, map[string]uint64{"weight": id % 100}})
			var back callAnswer
			if err == nil {
				err = json.Unmarshal(text, &back)
			}
			if err != nil {
				panic(err) // what was encoded can be decoded
			}
			sum = sum*31 + back.ID + back.Attrs["weight"] + uint64(len(text)+len(back.Tags))
		}
		return sum
	})
}
