package main

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// Each analyzer reports what the comments of its package in testdata expect, and nothing else.
func TestAnalyzers(t *testing.T) {
	for _, a := range analyzers {
		t.Run(a.Name, func(t *testing.T) { analysistest.Run(t, analysistest.TestData(), a, a.Name) })
	}
}

func TestValid(t *testing.T) {
	if err := analysis.Validate(analyzers); err != nil {
		t.Fatal(err)
	}
}
