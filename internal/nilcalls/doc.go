// Package nilcalls has a test of what nil and zero values give in every place of the public API where there can be one.
package nilcalls
