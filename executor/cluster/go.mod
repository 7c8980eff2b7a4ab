module github.com/magpie-go/magpie/executor/cluster

go 1.26.0

require (
	github.com/magpie-go/magpie v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/magpie-go/magpie => ../..

require github.com/magpie-go/magpie v0.0.0
