// Package waited tells for how long the process has waited for cores: whether the machine is busy with other work.
package waited
