// Package embedded runs a NATS server with JetStream inside the process.
//
// It is for tests, for a program that is its own queue, and for a first try on one machine. All that the server knows
// is in its store directory, and a server that is started on the same directory goes on with it. A server that other
// machines reach needs TLS and accounts: run nats-server for that.
package embedded
